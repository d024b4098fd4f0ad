/** The status of a resource, from what a reconcile found and did. */

import { ServiceError } from '../../src/errors.ts'
import { requests } from '../api/annotations.ts'
import type { ReasonOf } from '../api/conditions.ts'
import type { NodeStatus } from '../api/status.ts'
import type { Resource } from '../api.ts'
import { canonicalJson } from '../resources/canonical-json.ts'
import { statefulSetOf } from '../resources/child-object.ts'
import { selectorText } from '../resources/metadata.ts'
import { childNames, programOf, wantedReplicas } from '../resources/names.ts'
import type { WantedStatus } from '../runtime/status-writer.ts'
import type { ObjectPlan } from './act.ts'
import type { PlacedClaim } from './claim.ts'
import { conditionsOf } from './condition-list.ts'
import { type HealthView, hasSettled } from './health/health-view.ts'
import { keyTwiceStatement } from './health/key-twice.ts'
import type { LastWords } from './health/last-words.ts'
import type { IdentityPlan } from './identity.ts'
import type { KindLogic, Statements } from './kind-logic.ts'
import { withMissingSecret } from './named-secrets.ts'
import {
  changedPeerID,
  changedSigningKeys,
  hasBegunOrEnded,
  nodeStatuses,
  totals,
} from './node-status.ts'
import { addressStatement } from './outside-address.ts'
import type { Picture } from './picture.ts'
import { advisedPods } from './pod-advice.ts'
import type { Problem, Statement } from './problem.ts'
import { isOtherwiseReady, type Readiness, readinessOf, type SetCounts } from './readiness.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import type { EventText } from './record-event.ts'
import type { Looked } from './resource-memory.ts'
import { withoutStop } from './sentences.ts'
import { keptSizes, type StorageStatement, storageStatement } from './storage.ts'

/** What a reconcile found out; what it did not get to is null. */
export interface Findings<F> {
  looked: Looked<F> | null
  identity: IdentityPlan | null
  /** Claims that were found by name. */
  unseen: readonly PlacedClaim[]
  problem: Problem | null
  /** A step that failed and is tried again. */
  error: unknown
  /** While paused: changes that wait. */
  waiting: readonly string[] | null
  hold: Statement<ReasonOf<'Ready'>> | null
  /** Whether the StatefulSet should be another, and `hold` is why it is not. */
  isHeld: boolean
  plan: ObjectPlan | null
  refusedGrowth: StorageStatement | null
}

/** A status, and what Events tell besides its conditions once it is written. */
export interface ToldStatus extends WantedStatus {
  readonly notes: readonly EventText[]
}

interface StatusInput<F> {
  readonly findings: Findings<F>
  readonly picture: Picture
}

export function wantedStatus<R extends Resource, F>(
  logic: KindLogic<R, F>,
  { options }: Pick<ReconcileParts<R>, 'options'>,
  resource: R,
  { findings, picture }: StatusInput<F>,
): ToldStatus {
  const { allClaims, views, learnt, outside } = picture
  const { clusterDomain } = options
  const keyring = findings.identity === null ? null : (findings.looked?.keyring ?? null)
  const seen = { claims: allClaims, keyring, views, learnt, clusterDomain }
  const nodes = nodeStatuses(resource, seen)
  const storage = storageStatement(resource, picture, findings.refusedGrowth)
  const statements: Statements = {
    ...readiness(resource, { findings, picture }, storage),
    ...identityStatement(
      resource,
      findings,
      keyTwiceStatement(picture) ?? changedPeerID(nodes, views),
    ),
    StorageReady: storage,
    AddressPublished: addressStatement(resource, learnt, outside),
    ...observedStatements(logic, resource, { findings, picture }),
    ...(findings.plan === null ? {} : { UpdateAvailable: updateStatement(findings.plan) }),
    ...(findings.waiting === null ? {} : { Paused: pausedStatement(findings, findings.waiting) }),
  }
  const figures = { nodes, ...totals(nodes.slice(0, wantedReplicas(resource))) }
  const isNews =
    hasNewIdentity(resource.status?.nodes ?? [], nodes) ||
    hasBegunOrEnded(resource.status ?? {}, figures)
  return {
    conditions: conditionsOf(statements),
    moving: observedTypes,
    facts: {
      ...factsOf(resource, findings, picture),
      ...logic.remembered?.(resource),
      ...(isNews ? figures : {}),
    },
    figures: isNews ? {} : figures,
    notes: changedSigningKeys(resource.status?.nodes ?? [], nodes).map((note) => ({
      reason: 'SigningKeyChanged',
      action: 'Observe',
      note,
    })),
  }
}

function factsOf<F>(
  resource: Resource,
  { plan, waiting }: Findings<F>,
  { counts, allClaims }: Picture,
): Readonly<Record<string, unknown>> {
  const { generation, annotations } = resource.metadata
  const asked = annotations?.[requests.reconcileAt]
  const handled = waiting === null ? asked : resource.status?.lastHandledReconcileAt
  const image = plan === null ? resource.status?.image : imageOf(resource, plan)
  return {
    observedGeneration: generation,
    storage: keptSizes(resource, allClaims),
    ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
    ...(image === undefined ? {} : { image }),
    pods: `${counts?.readyReplicas ?? 0}/${wantedReplicas(resource)}`,
    ...(resource.kind === 'Host'
      ? { replicas: counts?.replicas ?? 0, selector: selectorText(resource) }
      : {}),
  }
}

function imageOf(resource: Resource, { objects }: ObjectPlan): string | undefined {
  const containers = statefulSetOf(objects)?.spec?.template.spec?.containers ?? []
  return containers.find(({ name }) => name === programOf(resource))?.image
}

function readiness<F>(
  resource: Resource,
  { findings, picture }: StatusInput<F>,
  storage: StorageStatement,
): Statements {
  const { problem, error, identity, hold, plan } = findings
  if (problem !== null) {
    return { Ready: { reason: 'Stalled', message: problem.message }, Stalled: problem }
  }
  if (identity?.lack) {
    const { message } = identity.lack
    return { Ready: { reason: 'IdentityNotReady', message }, ...progressing(resource, message) }
  }
  const facts = {
    set: picture.counts,
    pods: advisedPods(resource, picture.pods, identity),
    storage,
    isExpanding: plan?.isSetLeaving === true || picture.isParked,
  }
  const { ready, reconciling } = readinessOf(resource, facts)
  const isWaiting = picture.set === null || findings.isHeld || ready.reason === 'Initializing'
  if (hold !== null && isWaiting) {
    return { Ready: hold, ...progressing(resource, hold.message) }
  }
  if (findings.waiting !== null && findings.waiting.length > 0) {
    const paused = pausedReady(resource, ready, picture.counts)
    if (paused !== null) return { Ready: paused }
  }
  if (error !== null) return retrying({ ready, reconciling }, error)
  const told = isWell(ready) ? withMissingSecret(ready, hold) : ready
  return { Ready: told, ...(reconciling === null ? {} : { Reconciling: reconciling }) }
}

/** What is waited for is not on its way while the resource is paused. */
function progressing({ spec }: Resource, message: string): Statements {
  return spec.paused ? {} : { Reconciling: { reason: 'Progressing', message } }
}

/** Where changes wait and the pods are as well as without them; null where they are not. */
function pausedReady(
  resource: Resource,
  ready: Readiness['ready'],
  counts: SetCounts | null,
): Statement<'Paused'> | null {
  const wait = 'Changes of the spec wait while it is paused; see Paused.'
  if (isWell(ready)) return { reason: 'Paused', message: `${ready.message} ${wait}` }
  if (counts === null || !isOtherwiseReady(resource, counts)) return null
  const message = `Pods that are ready: ${counts.readyReplicas}, wanted: ${wantedReplicas(resource)}. ${wait}`
  return { reason: 'Paused', message }
}

function isWell({ reason }: Readiness['ready']): boolean {
  return reason === 'AllReady' || reason === 'ScaledToZero'
}

function retrying({ ready }: Readiness, error: unknown): Statements {
  const message =
    error instanceof ServiceError
      ? sentence(error)
      : 'A mistake of the operator: see its log, and report it.'
  return { Ready: ready, Reconciling: { reason: 'ProgressingWithRetry', message } }
}

function sentence({ message, remedy }: ServiceError): string {
  return remedy === undefined ? message : `${withoutStop(message)}. ${remedy}`
}

function identityStatement<F>(
  resource: Resource,
  { identity, problem, looked }: Findings<F>,
  trouble: Statement<ReasonOf<'IdentityReady'>> | null,
): Statements {
  if (identity?.problem) {
    const { reason } = identity.problem
    return { IdentityReady: { reason, message: identity.problem.message } }
  }
  if (identity?.lack) return { IdentityReady: identity.lack }
  if (trouble !== null) return { IdentityReady: trouble }
  if (looked === null || (problem !== null && identity === null)) {
    return kept(resource, 'IdentityReady')
  }
  const { keyring } = childNames(resource)
  const isOwn = resource.spec.identity.secretRef === undefined
  const made = looked.keyring.exists || wantedReplicas(resource) > 0
  const own = made
    ? `Secret ${keyring} has the keys of all replicas: keep a copy of it.`
    : 'No replica needs a key.'
  const message = isOwn ? own : `Secret ${keyring} has the keys of all replicas.`
  return { IdentityReady: { reason: isOwn ? 'KeyringGenerated' : 'KeyringProvided', message } }
}

/** Conditions about what replicas say at `/health`, in words that may hold figures. */
export const observedTypes = [
  'UpstreamReachable',
  'PeersConnected',
  'SignersAgree',
  'SchemaInSync',
] as const

/** Statements about what replicas say; those from before, until all of them have been asked. */
function observedStatements<R extends Resource, F>(
  logic: KindLogic<R, F>,
  resource: R,
  { findings, picture }: StatusInput<F>,
): Statements {
  if (findings.looked === null) {
    return kept(resource, ...observedTypes)
  }
  const views = new Map<number, HealthView | null>()
  for (const [ordinal, view] of picture.views) views.set(ordinal, hasSettled(view) ? view : null)
  const lastWords = new Map(
    [...picture.pods].flatMap(([ordinal, { lastWords: words }]): [number, LastWords][] =>
      words === null ? [] : [[ordinal, words]],
    ),
  )
  const said = logic.statements(resource, findings.looked.facts, { views, lastWords })
  const isWaiting = [...picture.views.values()].includes(undefined)
  if (!isWaiting) return said
  const before = kept(resource, ...(Object.keys(said) as (keyof Statements)[]))
  return { ...said, ...before }
}

/** Conditions as the status has them. */
function kept(resource: Resource, ...types: readonly (keyof Statements)[]): Statements {
  const found = (resource.status?.conditions ?? []).filter(({ type }) =>
    types.some((wanted) => wanted === type),
  )
  return Object.fromEntries(found.map(({ type, reason, message }) => [type, { reason, message }]))
}

function updateStatement({ updateAvailable }: ObjectPlan): Statement<ReasonOf<'UpdateAvailable'>> {
  return updateAvailable
    ? {
        reason: 'NewTemplate',
        message:
          'This operator would build the pods differently. Change the spec, or set the annotation viewmesh.io/roll-at to any new value, to replace them now.',
      }
    : { reason: 'UpToDate', message: 'The pods have the template of this operator.' }
}

const maxTold = 8

function pausedStatement<F>(
  { problem, identity }: Findings<F>,
  waiting: readonly string[],
): Statement<ReasonOf<'Paused'>> {
  if (waiting.length === 0) {
    const isStopped = problem !== null || Boolean(identity?.lack)
    const message = isStopped
      ? 'Nothing would be written now if it were resumed; Ready says why.'
      : 'The cluster is as the spec wants it.'
    return { reason: 'NothingWaiting', message }
  }
  const told = waiting.slice(0, maxTold).join('; ')
  const more = waiting.length > maxTold ? `; and ${waiting.length - maxTold} more` : ''
  const count = waiting.length === 1 ? '1 change waits' : `${waiting.length} changes wait`
  return { reason: 'ChangesWaiting', message: `${count}: ${told}${more}.` }
}

/** Whether more than figures changed. */
function hasNewIdentity(before: readonly NodeStatus[], after: readonly NodeStatus[]): boolean {
  const identities = (nodes: readonly NodeStatus[]): string =>
    canonicalJson(
      nodes.map(({ ordinal, peerID, identity, addresses, keyringFingerprint, keysClaimUID }) => [
        ordinal,
        peerID ?? null,
        identity ?? null,
        addresses ?? [],
        keyringFingerprint ?? null,
        keysClaimUID ?? null,
      ]),
    )
  return identities(before) !== identities(after)
}
