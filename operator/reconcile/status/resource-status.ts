/** The status of a resource, from what a reconcile found and did. */
import { ServiceError } from '../../../src/errors.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { NodeStatus } from '../../api/status.ts'
import type { Workload } from '../../api.ts'
import { canonicalJson } from '../../resources/names/canonical-json.ts'
import { selectorText } from '../../resources/names/metadata.ts'
import { childNames, programOf, wantedReplicas } from '../../resources/names/names.ts'
import { statefulSetOf } from '../../resources/objects/child-object.ts'
import type { WantedStatus } from '../../runtime/status-writer.ts'
import type { ObjectPlan } from '../apply/apply-objects.ts'
import { overlapRemedy } from '../apply/manage.ts'
import type { ReconcileParts } from '../apply/reconcile-parts.ts'
import { addressStatement } from '../evaluate/external-address.ts'
import { ignoredStartStatement } from '../evaluate/ignored-start.ts'
import { keyTwiceStatement } from '../evaluate/key-twice.ts'
import type { ObservedState } from '../evaluate/observed-state.ts'
import { keptSizes, type StorageStatement, storageStatement } from '../evaluate/storage.ts'
import type { KindLogic } from '../fetch/kind-logic.ts'
import { withMissingSecret } from '../fetch/named-secrets.ts'
import { type HealthView, hasStarted } from '../observe/health-view.ts'
import type { SetCounts } from '../observe/set-counts.ts'
import type { TerminationMessage } from '../observe/termination-message.ts'
import { conditionsOf } from '../statements/conditions.ts'
import type { Statement, Statements } from '../statements/problem.ts'
import type { EventText } from '../statements/record-event.ts'
import { listed, remedied } from '../statements/sentences.ts'
import { acceptedSigners } from './accepted-signers.ts'
import type { Findings } from './findings.ts'
import { keyringStatement } from './keyring-statement.ts'
import {
  changedPeerID,
  changedSigningKeys,
  hasBegunOrEnded,
  nodeStatuses,
  totals,
} from './node-status.ts'
import { advisedPods } from './pod-advice.ts'
import { progressOf } from './progress.ts'
import { isOtherwiseReady, isWell, type Readiness, readinessOf } from './readiness.ts'
import { stoppedStatus } from './stopped-status.ts'
import { suspendedStatement } from './suspended.ts'

/** A status, and the Events besides its conditions that are recorded once it is written. */
export interface ReportedStatus extends WantedStatus {
  readonly notes: readonly EventText[]
}

interface StatusInput<F> {
  readonly findings: Findings<F>
  readonly state: ObservedState
}

export function wantedStatus<R extends Workload, F>(
  logic: KindLogic<R, F>,
  { options }: Pick<ReconcileParts<R>, 'options'>,
  resource: R,
  { findings, state }: StatusInput<F>,
): ReportedStatus {
  if (findings.isUnread) return { ...stoppedStatus(resource, findings, unread), notes: [] }
  const { allClaims, views, discovered, external } = state
  const { clusterDomain } = options
  const keyring = findings.identity === null ? null : (findings.inputs?.keyring ?? null)
  const chainIDs = logic.chainIDs(resource)
  const seen = { claims: allClaims, keyring, views, chainIDs, discovered, clusterDomain }
  const nodes = nodeStatuses(resource, seen)
  const storage = storageStatement(resource, state, findings.refusedGrowth)
  const ignoredStart = ignoredStartStatement(resource, state)
  const suspended = suspendedStatement(resource, state.pods, findings.problem !== null)
  const statements: Statements = {
    ...readiness(resource, { findings, state }, storage),
    ...identityStatement(
      resource,
      findings,
      keyTwiceStatement(state) ?? changedPeerID(nodes, views),
    ),
    StorageReady: storage,
    AddressPublished: addressStatement(resource, discovered, external),
    ...(ignoredStart === null ? {} : { StartIgnored: ignoredStart }),
    ...observedStatements(logic, resource, { findings, state }),
    ...(findings.overlap === null ? {} : { Contested: overlapStatement(findings.overlap) }),
    ...(findings.plan === null ? {} : { UpdateAvailable: updateStatement(findings.plan) }),
    ...(suspended === null ? {} : { Suspended: suspended }),
    ...(findings.waiting === null ? {} : { Paused: pausedStatement(findings, findings.waiting) }),
  }
  const figures = { nodes, ...totals(nodes) }
  const isNews =
    hasNewIdentity(resource.status?.nodes ?? [], nodes) ||
    hasBegunOrEnded(resource.status ?? {}, figures)
  return {
    conditions: conditionsOf(statements),
    moving: observedTypes,
    facts: {
      ...factsOf(resource, findings, state),
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

function unread(message: string): Statement<'Unread'> {
  const what = 'What is there cannot be read, so nothing is known of the pods since'
  return { reason: 'Unread', message: `${what}: ${message}` }
}

function factsOf<F>(
  resource: Workload,
  findings: Findings<F>,
  { counts, allClaims, views }: ObservedState,
): Readonly<Record<string, unknown>> {
  const { plan } = findings
  const image = plan === null ? resource.status?.image : imageOf(resource, plan)
  return {
    ...progressOf(resource, findings),
    storage: keptSizes(resource, allClaims),
    ...(image === undefined ? {} : { image }),
    pods: `${counts?.readyReplicas ?? 0}/${wantedReplicas(resource)}`,
    ...(resource.kind === 'Host'
      ? {
          replicas: counts?.replicas ?? 0,
          selector: selectorText(resource),
          ...acceptedSigners(resource, views),
        }
      : {}),
  }
}

function imageOf(resource: Workload, { objects }: ObjectPlan): string | undefined {
  const containers = statefulSetOf(objects)?.spec?.template.spec?.containers ?? []
  return containers.find(({ name }) => name === programOf(resource))?.image
}

function readiness<F>(
  resource: Workload,
  { findings, state }: StatusInput<F>,
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
    set: state.counts,
    pods: advisedPods(resource, state.pods, identity),
    views: state.views,
    storage,
    isExpanding: plan?.isSetBeingRemoved === true || state.isParked,
    failedCreate: findings.failedCreate,
  }
  const { ready, reconciling } = readinessOf(resource, facts)
  const isWaiting = state.set === null || findings.isHeld || ready.reason === 'Initializing'
  if (hold !== null && isWaiting) {
    return { Ready: hold, ...progressing(resource, hold.message) }
  }
  if (findings.waiting !== null && findings.waiting.length > 0) {
    const paused = pausedReady(resource, ready, state.counts)
    if (paused !== null) return { Ready: paused }
  }
  if (error !== null) return retrying(resource, ready, { error, isExpanding: facts.isExpanding })
  const reported = isWell(ready) ? withMissingSecret(ready, hold) : ready
  return { Ready: reported, ...(reconciling === null ? {} : { Reconciling: reconciling }) }
}

/** Nothing that is waited for progresses while the resource is paused. */
function progressing({ spec }: Workload, message: string): Statements {
  return spec.paused ? {} : { Reconciling: { reason: 'Progressing', message } }
}

/** Where changes wait and the pods are as well as without them; null where they are not. */
function pausedReady(
  resource: Workload,
  ready: Readiness['ready'],
  counts: SetCounts | null,
): Statement<'Paused'> | null {
  const wait = 'Changes of the spec wait while it is paused; see Paused.'
  if (isWell(ready)) return { reason: 'Paused', message: `${ready.message} ${wait}` }
  if (counts === null || !isOtherwiseReady(resource, counts)) return null
  const message = `Pods that are ready: ${counts.readyReplicas}, wanted: ${wantedReplicas(resource)}. ${wait}`
  return { reason: 'Paused', message }
}

interface FailedWrite {
  readonly error: unknown
  readonly isExpanding: boolean
}

/** Pods may be ready and have nothing of a spec that could not be written: then nobody is to go on. */
function retrying(
  resource: Workload,
  ready: Readiness['ready'],
  { error, isExpanding }: FailedWrite,
): Statements {
  const message =
    error instanceof ServiceError
      ? remedied(error)
      : 'A bug of the operator: see its log, and report it.'
  const reconciling = { reason: 'ProgressingWithRetry', message }
  const isUnwritten = ready.reason === 'Pending' || (isWell(ready) && !wasReady(resource))
  if (!isUnwritten) return { Ready: ready, Reconciling: reconciling }
  const unwritten = `${standing(ready, isExpanding)} could be written yet: ${message}`
  return { Ready: { reason: 'Pending', message: unwritten }, Reconciling: reconciling }
}

/** Where the pods stand, as the beginning of a sentence; of a StatefulSet that is not there nothing is known. */
function standing(ready: Readiness['ready'], isExpanding: boolean): string {
  if (isWell(ready)) return 'The pods are ready, but not all of this spec'
  return isExpanding ? `${ready.message} Not all of this spec` : 'Not all of this spec'
}

/** Whether everything was written before, and ready, for the spec as it is now. */
function wasReady({ metadata, status }: Workload): boolean {
  const before = status?.conditions?.find(({ type }) => type === 'Ready')
  return before?.status === 'True' && before.observedGeneration === metadata.generation
}

function identityStatement<F>(
  resource: Workload,
  { identity, problem, inputs }: Findings<F>,
  failure: Statement<ReasonOf<'IdentityReady'>> | null,
): Statements {
  if (identity?.problem) {
    const { reason } = identity.problem
    return { IdentityReady: { reason, message: identity.problem.message } }
  }
  if (identity?.lack) return { IdentityReady: identity.lack }
  if (failure !== null) return { IdentityReady: failure }
  if (inputs === null || (problem !== null && identity === null)) {
    return kept(resource, 'IdentityReady')
  }
  const { keyring } = childNames(resource)
  const { fingerprints } = inputs.keyring
  const lacking = identity?.generate.filter((ordinal) => !fingerprints.has(ordinal)) ?? []
  if (lacking.length > 0) {
    const keys = lacking.map((ordinal) => `"${ordinal}"`).join(', ')
    const message = `Secret ${keyring} has no key ${keys} yet; Ready says why.`
    return { IdentityReady: { reason: 'KeyringPending', message } }
  }
  return { IdentityReady: keyringStatement(resource, inputs.keyring) }
}

/** Conditions about what replicas report at `/health`, with messages that may hold figures. */
export const observedTypes = [
  'UpstreamReachable',
  'PeersConnected',
  'SignersAgree',
  'SchemaInSync',
  'Served',
] as const

/** Statements about what replicas say; those from before, until all of them have been asked. */
function observedStatements<R extends Workload, F>(
  logic: KindLogic<R, F>,
  resource: R,
  { findings, state }: StatusInput<F>,
): Statements {
  if (findings.inputs === null) {
    return kept(resource, ...observedTypes)
  }
  const views = new Map<number, HealthView | null>()
  for (const [ordinal, view] of state.views) views.set(ordinal, hasStarted(view) ? view : null)
  const terminationMessages = new Map(
    [...state.pods].flatMap(
      ([ordinal, { terminationMessage: termination }]): [number, TerminationMessage][] =>
        termination === null ? [] : [[ordinal, termination]],
    ),
  )
  const said = logic.statements(resource, findings.inputs.facts, { views, terminationMessages })
  const isWaiting = [...state.views.values()].includes(undefined)
  if (!isWaiting) return said
  const before = kept(resource, ...(Object.keys(said) as (keyof Statements)[]))
  return { ...said, ...before }
}

/** Conditions as the status has them. */
function kept(resource: Workload, ...types: readonly (keyof Statements)[]): Statements {
  const found = (resource.status?.conditions ?? []).filter(({ type }) =>
    types.some((wanted) => wanted === type),
  )
  return Object.fromEntries(found.map(({ type, reason, message }) => [type, { reason, message }]))
}

function updateStatement({ updateAvailable }: ObjectPlan): Statement<ReasonOf<'UpdateAvailable'>> {
  if (updateAvailable === null) {
    return { reason: 'UpToDate', message: 'The pods have the template of this operator.' }
  }
  const fields = updateAvailable.length === 0 ? '' : `: ${listed(updateAvailable)}`
  const message = `This operator would build the pods differently${fields}. Change the spec, or set the annotation viewmesh.io/roll-at to any new value, to replace them now.`
  return { reason: 'NewTemplate', message }
}

/** Another operator is at work as well. */
export function overlapStatement([self, other]: readonly [string, string | null]): Statement<
  ReasonOf<'Contested'>
> {
  const who =
    other === null
      ? 'Something else writes this status as well, as an operator of an earlier version does that watches the namespace too'
      : `Operator ${other} manages it as well`
  const message = `${who}; ${self} goes on. ${overlapRemedy}`
  return { reason: 'OperatorsOverlap', message }
}

const maxReported = 8

/** Which changes wait while paused. */
export function pausedStatement<F>(
  { problem, identity }: Pick<Findings<F>, 'problem' | 'identity'>,
  waiting: readonly string[],
): Statement<ReasonOf<'Paused'>> {
  if (waiting.length === 0) {
    const isStopped = problem !== null || Boolean(identity?.lack)
    const message = isStopped
      ? 'Nothing would be written now if it were resumed; Ready says why.'
      : 'The cluster is as the spec wants it.'
    return { reason: 'NothingWaiting', message }
  }
  const reported = waiting.slice(0, maxReported).join('; ')
  const more = waiting.length > maxReported ? `; and ${waiting.length - maxReported} more` : ''
  const count = waiting.length === 1 ? '1 change waits' : `${waiting.length} changes wait`
  return { reason: 'ChangesWaiting', message: `${count}: ${reported}${more}.` }
}

/** Whether more than figures changed. */
function hasNewIdentity(before: readonly NodeStatus[], after: readonly NodeStatus[]): boolean {
  const identities = (nodes: readonly NodeStatus[]): string =>
    canonicalJson(
      nodes.map(({ ordinal, peerID, identity, genesis, chainID, addresses, ...keys }) => [
        ordinal,
        peerID,
        identity,
        genesis,
        chainID,
        addresses,
        keys.keyringFingerprint,
        keys.keysClaimUID,
      ]),
    )
  return identities(before) !== identities(after)
}
