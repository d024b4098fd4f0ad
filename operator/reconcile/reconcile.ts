/**
 * Brings one resource to what its spec says, in an order that is safe to interrupt anywhere: look,
 * judge identity and chain, make Secrets, keep claims, apply objects, then tell in status what is.
 */
import { requests } from '../api/annotations.ts'
import type { Resource } from '../api.ts'
import { childNames } from '../resources/names.ts'
import { hasCode } from '../runtime/api-error.ts'
import type { Reconcile, ReconcileResult, ReconcileRun } from '../runtime/controller.ts'
import { keyOf, parseKey } from '../runtime/resource-type.ts'
import { unreadFailure } from '../runtime/unread.ts'
import { parkSet, planObjects, removeSet, settleAll } from './act.ts'
import { claimChanges, settleClaims } from './claims-upkeep.ts'
import { occurrencesOf, toldBefore } from './condition-list.ts'
import {
  areKeysBound,
  followKeyringPolicy,
  followPolicies,
  type OwnerChanges,
  ownerChanges,
} from './deletion-policy.ts'
import { isPassing, problemOf } from './failures.ts'
import { planIdentity, type ReplicaIdentity, sharedKeyProblem } from './identity.ts'
import { createKeyHolders, type KeyHolders } from './key-holders.ts'
import type { Keyring } from './keyring.ts'
import { type FingerprintCache, generateKeys } from './keyring.ts'
import type { KindLogic } from './kind-logic.ts'
import { tellLasting } from './lasting-trouble.ts'
import { expectClaimsStay } from './leaving.ts'
import { createLook, type Look } from './look.ts'
import { missingSecretStatement, newlyMissingNote } from './named-secrets.ts'
import { type PausedPlan, waitingChanges } from './pause.ts'
import { identitiesOf, observedName, type Picture, takePicture } from './picture.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import { recordEvent } from './record-event.ts'
import { restartToResize } from './resize-restart.ts'
import { childKey, createMemories, type Looked, type ResourceMemory } from './resource-memory.ts'
import { type Findings, type ToldStatus, wantedStatus } from './resource-status.ts'
import { chainProblem } from './storage.ts'
import { findUnseenClaims } from './unseen-claims.ts'

/** What all resources of a kind are worked on with. */
interface Tools<R extends Resource, F> {
  readonly logic: KindLogic<R, F>
  readonly parts: ReconcileParts<R>
  readonly look: Look<R, F>
  readonly fingerprints: FingerprintCache
  readonly holders: KeyHolders
}

/** One resource while it is worked on. */
interface Work<R extends Resource, F> extends Tools<R, F> {
  readonly resource: R
  readonly memory: ResourceMemory<F>
  readonly run: ReconcileRun
  /** Filled in on the way; whatever happens, it is what status tells. */
  readonly findings: Findings<F>
}

/** How soon something is looked at again that nothing watched will tell of. */
const passingMs = 1_000

/** The reconcile of one kind. */
export function createReconcile<R extends Resource, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
): Reconcile {
  const memories = createMemories<F>()
  const fingerprints: FingerprintCache = new Map()
  const look = createLook(logic, parts, fingerprints)
  const holders = createKeyHolders(() => [...parts.mirror.list()].map(({ value }) => value))
  const tools: Tools<R, F> = { logic, parts, look, fingerprints, holders }
  return async (key, run) => {
    const { namespace, name } = parseKey(key)
    const resource = parts.mirror.get(namespace, name)?.value
    if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) {
      const observed = observedName({ kind: logic.kind, metadata: { namespace, name } })
      parts.observer.watch(observed, [])
      memories.drop(key)
      holders.release(key)
      parts.pace.endWaiting(observed)
      return {}
    }
    const memory = memories.of(resource)
    const work = { ...tools, resource, memory, run, findings: nothingFound(memory) }
    await attempt(work)
    const result = await tell(work)
    const { error } = work.findings
    if (error !== null && !isPassing(error)) throw error
    return result
  }
}

/** What a reconcile begins with: what is remembered of the one before, and nothing wrong. */
export function nothingFound<F>({
  looked,
  refusedGrowth,
}: Pick<ResourceMemory<F>, 'looked' | 'refusedGrowth'>): Findings<F> {
  return {
    looked,
    identity: null,
    unseen: [],
    problem: null,
    error: null,
    waiting: null,
    hold: null,
    isHeld: false,
    plan: null,
    refusedGrowth,
  }
}

/** Goes as far as it gets; what stops it is a finding too. */
async function attempt<R extends Resource, F>(work: Work<R, F>): Promise<void> {
  const { findings, run } = work
  try {
    const failure = unreadable(work)
    if (failure !== null) throw failure
    await proceed(work)
  } catch (error) {
    if (run.signal.aborted || hasCode(error, 'OPERATOR_FENCED')) throw error
    const problem = problemOf(error)
    findings.problem = problem ?? findings.problem
    findings.error = problem === null ? error : null
    logStop(work, error)
  }
}

/** What only a person can mend is logged once, not at each look; what is thrown on, by who catches it. */
function logStop<R extends Resource, F>(
  { resource, findings, run }: Work<R, F>,
  error: unknown,
): void {
  const { problem } = findings
  if (isPassing(error)) run.log.debug({ err: error }, 'tried again soon')
  if (problem === null || findings.error !== null) return
  if (problem.message === toldBefore(resource, 'Stalled', problem.reason)) return
  run.log.warn({ err: error }, 'stopped until a person acts')
}

/** What may not be listed looks empty; what is in other namespaces than these does not matter here. */
function unreadable<R extends Resource, F>({ resource, logic, parts }: Work<R, F>): Error | null {
  const { namespace } = resource.metadata
  return unreadFailure([
    ...parts.view.reflectorsOf(namespace),
    ...(logic.alsoRead?.(resource) ?? []),
  ])
}

async function proceed<R extends Resource, F>(work: Work<R, F>): Promise<void> {
  const { resource, findings } = work
  const judged = await judge(work)
  if (resource.spec.paused) {
    const { picture, looked } = judged
    const changes = claimChanges(resource, picture.allClaims, looked.keyring, () => true)
    const plan = { ...judged, changes }
    findings.waiting = await waitingChanges(work.parts, resource, plan, work.run.signal)
  } else if (findings.problem === null && judged.identity.lack === null) {
    await carryOut(work, judged)
  } else {
    if (findings.problem?.reason === 'KeysClaimMissing') {
      await parkSet(work.parts, resource, judged, work.run)
      forgetSet(work)
    }
    await haveOwners(work, judged.owners)
  }
}

/** What is stopped still goes or stays with the resource as the spec says; advice then is other advice. */
async function haveOwners<R extends Resource, F>(
  work: Work<R, F>,
  owners: OwnerChanges,
): Promise<void> {
  if (!owners.keyring && owners.claims.length === 0) return
  work.memory.looked = null
  await followPolicies(work.parts.api, work.resource, owners, work.run.signal)
  await judge(work)
}

/** That the StatefulSet is not there is then our own doing. */
function forgetSet<R extends Resource, F>({ resource, memory }: Work<R, F>): void {
  memory.settled.delete(childKey('StatefulSet', childNames(resource).base))
}

/** What there is, and what follows from it. */
interface Judged<F> extends Omit<PausedPlan, 'changes'> {
  readonly picture: Picture
  readonly looked: Looked<F>
}

async function judge<R extends Resource, F>(work: Work<R, F>): Promise<Judged<F>> {
  const { resource, memory, findings, logic, parts, run } = work
  const seen = takePicture(parts, resource)
  const looked = await work.look(resource, memory, seen, run.signal)
  const { keyring, facts } = looked
  const { namespace, name } = resource.metadata
  const { picture, identities } = await withUnseenClaims(work, seen, keyring)
  expectClaimsStay(resource, picture)
  const kept = { keyring, claims: picture.allClaims }
  const isBound = areKeysBound(resource, kept)
  const own = planIdentity(resource, identities, keyring.exists, isBound)
  const shared = work.holders.hold(keyOf(namespace, name), keysOf(identities))
  const problem = own.problem ?? sharedKeyProblem(resource, identities, shared, isBound)
  const identity = { ...own, problem }
  const plan = planObjects(logic, parts, resource, { picture, facts })
  const hold = missingSecretStatement(resource, looked.missing) ?? logic.hold(resource, facts)
  Object.assign(findings, { looked, identity, plan, hold })
  findings.problem = identity.problem ?? chainProblem(resource, picture.claims)
  const owners = ownerChanges(resource, kept)
  return { picture, looked, identity, problem: findings.problem, plan, owners, hold }
}

interface Identified {
  readonly picture: Picture
  readonly identities: readonly ReplicaIdentity[]
}

/** The picture and the identities in it, looked at once more where a claim was out of sight. */
async function withUnseenClaims<R extends Resource, F>(
  work: Work<R, F>,
  seen: Picture,
  keyring: Keyring,
): Promise<Identified> {
  const { resource, findings, parts, run } = work
  const replicas = identitiesOf(resource, seen, keyring)
  findings.unseen = await findUnseenClaims(parts.api, resource, { seen, replicas }, run.signal)
  if (findings.unseen.length === 0) return { picture: seen, identities: replicas }
  const picture = pictureOf(work)
  return { picture, identities: identitiesOf(resource, picture, keyring) }
}

function pictureOf<R extends Resource, F>({ resource, parts, findings }: Work<R, F>): Picture {
  return takePicture(parts, resource, findings.unseen)
}

/** Fingerprints of the keys that replicas have, or had when they were last seen. */
function keysOf(replicas: readonly ReplicaIdentity[]): string[] {
  return replicas
    .flatMap(({ key, known }) => [key, known?.fingerprint ?? null])
    .filter((one) => one !== null)
}

async function carryOut<R extends Resource, F>(work: Work<R, F>, judged: Judged<F>): Promise<void> {
  const { resource, memory, findings, parts, run } = work
  const { picture } = judged
  const looked = await ensureKeys(work, judged)
  findings.looked = looked
  memory.refusedGrowth = await settleClaims(
    parts.api,
    resource,
    (mayGrow) => claimChanges(resource, picture.allClaims, looked.keyring, mayGrow),
    picture.claims,
    run.signal,
  )
  findings.refusedGrowth = memory.refusedGrowth
  await applyObjects(work, looked.facts)
}

/** Makes missing keys and has the Secret follow its deletion policy. */
async function ensureKeys<R extends Resource, F>(
  { resource, memory, parts, run, fingerprints }: Work<R, F>,
  { identity, looked, owners }: Judged<F>,
): Promise<Looked<F>> {
  const { keyring } = looked
  const { generate: ordinals } = identity
  if (ordinals.length > 0) {
    const { exists } = keyring
    const want = { exists, ordinals }
    memory.looked = null
    const made = await generateKeys(parts.api, resource, want, fingerprints, run.signal)
    memory.looked = { ...looked, keyring: made }
    return memory.looked
  }
  if (owners.keyring) {
    memory.looked = null
    await followKeyringPolicy(parts.api, resource, run.signal)
  }
  return looked
}

/** Claims may just have been written, so what there is is looked at once more. */
async function applyObjects<R extends Resource, F>(work: Work<R, F>, facts: F): Promise<void> {
  const { resource, memory, findings, logic, parts, run } = work
  const picture = pictureOf(work)
  const plan = planObjects(logic, parts, resource, { picture, facts })
  findings.plan = plan
  const hold = findings.hold !== null
  findings.isHeld = await settleAll(parts, resource, { plan, memory, picture, hold }, run)
  // While pods have to wait neither they nor the StatefulSet would be made again.
  if (hold) return
  if (plan.isGrowing) {
    await removeSet(parts, resource, picture, run)
    forgetSet(work)
  } else if (resource.spec.storage.restartToResize) {
    await restartToResize(parts, resource, pictureOf(work), run)
  }
}

/** Writes status, tells Events, and says when to look again. */
async function tell<R extends Resource, F>(work: Work<R, F>): Promise<ReconcileResult> {
  const { resource, findings, logic, parts, run } = work
  const { namespace, name, uid } = resource.metadata
  const latest = parts.mirror.get(namespace, name)
  if (latest?.uid !== uid) return {}
  const observed = observedName(resource)
  if (isWaiting(findings)) parts.pace.beginWaiting(observed)
  else parts.pace.endWaiting(observed)
  const picture = pictureOf(work)
  const wanted = wantedStatus(logic, parts, resource, { findings, picture })
  const { resourceVersion, value } = latest
  const metadata = { ...resource.metadata, resourceVersion }
  const live = { ...resource, metadata, status: value.status }
  const outcome = await parts.status.write(parts.type, live, wanted, run.signal)
  const nextTellingMs = tellEvents(work, wanted, outcome.written)
  hurryIfAsked(work)
  const pauses = [
    parts.pace.intervalMs(observed),
    ...(nextTellingMs === null ? [] : [nextTellingMs]),
    ...(isPassing(findings.error) ? [passingMs] : []),
    ...(outcome.requeueAfterMs === undefined ? [] : [outcome.requeueAfterMs]),
  ]
  return { requeueAfterMs: Math.min(...pauses) }
}

/** Whether it waits for something that a look would find. */
function isWaiting<F>({ identity, hold }: Findings<F>): boolean {
  return [identity?.problem, identity?.lack, hold].some(Boolean)
}

/** Tells what changed, where it was written, and what has lasted; answers when there may be more to tell. */
function tellEvents<R extends Resource, F>(
  { resource, memory, findings, parts }: Work<R, F>,
  { conditions, notes }: ToldStatus,
  isWritten: boolean,
): number | null {
  const before = resource.status?.conditions ?? []
  const changes = isWritten ? occurrencesOf(before, conditions) : []
  const { now, nextMs } = tellLasting(memory.troubles, changes, conditions, parts.nowMs())
  for (const occurrence of now) parts.events.record(parts.type, resource, occurrence)
  const note = isWritten ? newlyMissingNote(before, conditions, findings.hold) : null
  if (note !== null) recordEvent(parts, resource, { reason: 'SecretGone', action: 'Ready', note })
  for (const told of isWritten ? notes : []) recordEvent(parts, resource, told)
  return nextMs
}

/** Who asks for a look wants the replicas asked as well. */
function hurryIfAsked<R extends Resource, F>({ resource, parts }: Work<R, F>): void {
  const asked = resource.metadata.annotations?.[requests.reconcileAt]
  const isNew = asked !== undefined && asked !== resource.status?.lastHandledReconcileAt
  if (isNew) parts.observer.hurry(observedName(resource))
}
