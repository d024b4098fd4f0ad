/**
 * Brings one resource to what its spec says, in an order that is safe to interrupt anywhere: look,
 * judge identity and chain, make Secrets, keep claims, apply objects, then tell in status what is.
 */
import { ServiceError } from '../../src/errors.ts'
import { requests } from '../api/annotations.ts'
import type { Resource } from '../api.ts'
import { hasCode } from '../runtime/api-error.ts'
import type { Reconcile, ReconcileResult, ReconcileRun } from '../runtime/controller.ts'
import { parseKey } from '../runtime/resource-type.ts'
import { type ObjectPlan, parkSet, planObjects, removeSet, settleAll } from './act.ts'
import { claimChanges, settleClaims } from './claims-upkeep.ts'
import { occurrencesOf } from './condition-list.ts'
import { isPassing, problemOf } from './failures.ts'
import { planIdentity } from './identity.ts'
import { followPolicy, generateKeys, isToBeOwned } from './keyring.ts'
import type { KindLogic } from './kind-logic.ts'
import { createLook, type Look } from './look.ts'
import { waitingChanges } from './pause.ts'
import { identitiesOf, observedName, takePicture } from './picture.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import { createMemories, type ResourceMemory } from './resource-memory.ts'
import { type Findings, wantedStatus } from './resource-status.ts'
import { chainProblem } from './storage.ts'

/** One resource while it is worked on. */
interface Work<R extends Resource, F> {
  readonly resource: R
  readonly memory: ResourceMemory<F>
  readonly run: ReconcileRun
  readonly look: Look<R, F>
}

/** How soon something is looked at again that nothing watched will tell of. */
const holdMs = 5_000
const passingMs = 1_000

/** The reconcile of one kind. */
export function createReconcile<R extends Resource, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
): Reconcile {
  const memories = createMemories<F>()
  const look = createLook(logic, parts)
  return async (key, run) => {
    const { namespace, name } = parseKey(key)
    const resource = parts.mirror.get(namespace, name)?.value
    if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) {
      parts.observer.watch(observedName({ kind: logic.kind, metadata: { namespace, name } }), [])
      memories.drop(key)
      return {}
    }
    const memory = memories.of(resource)
    const work: Work<R, F> = { resource, memory, run, look }
    const findings = await attempt(logic, parts, work)
    const result = await tell(logic, parts, work, findings)
    if (findings.error !== null && !isPassing(findings.error)) throw findings.error
    return result
  }
}

async function attempt<R extends Resource, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
  work: Work<R, F>,
): Promise<Findings<F>> {
  const { resource, memory, run } = work
  const findings: Findings<F> = {
    looked: memory.looked,
    identity: null,
    problem: null,
    error: null,
    waiting: null,
    hold: null,
    plan: null,
    refusedGrowth: memory.refusedGrowth,
  }
  try {
    const failure = unreadable(parts)
    if (failure !== null) throw failure
    await proceed(logic, parts, work, findings)
  } catch (error) {
    if (run.signal.aborted || hasCode(error, 'OPERATOR_FENCED')) throw error
    findings.problem = problemOf(error)
    findings.error = findings.problem === null ? error : null
    run.log.warn({ err: error, name: resource.metadata.name }, 'a step failed')
  }
  return findings
}

/** A kind that may not be listed, or was not listed yet, looks empty: nothing may follow from it. */
function unreadable<R extends Resource>({ view }: ReconcileParts<R>): Error | null {
  const silent = view.reflectors.find((reflector) => !reflector.isSynced())
  if (silent === undefined) return null
  const { plural } = silent.type
  return (
    silent.failure() ??
    new ServiceError('OPERATOR_API_UNREACHABLE', `${plural} have not been listed yet`, {
      remedy: 'Nothing: it is tried again.',
    })
  )
}

async function proceed<R extends Resource, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
  work: Work<R, F>,
  findings: Findings<F>,
): Promise<void> {
  const { resource, memory, run, look } = work
  const { api } = parts
  const { signal } = run
  const picture = takePicture(parts.view, parts.observer, resource)
  const looked = await look(resource, memory, picture, signal)
  findings.looked = looked
  const identity = planIdentity(
    resource,
    identitiesOf(resource, picture, looked.keyring),
    looked.keyring.exists,
  )
  findings.identity = identity
  findings.problem = identity.problem ?? chainProblem(resource, picture.claims)
  const plan = planObjects(logic, parts, resource, { picture, facts: looked.facts })
  findings.plan = plan
  if (resource.spec.paused) {
    const changes = claimChanges(resource, picture.allClaims, looked.keyring, true)
    findings.waiting = await waitingChanges(parts, resource, { plan, changes, identity }, signal)
    return
  }
  if (findings.problem !== null) {
    const isClaimLost = findings.problem.reason === 'KeysClaimMissing'
    if (isClaimLost) await parkSet(parts, resource, { picture, plan }, run)
    return
  }
  if (identity.lack !== null) return
  if (identity.generate.length > 0) {
    memory.looked = null
    await generateKeys(api, resource, identity.generate, signal)
    findings.looked = await look(resource, memory, picture, signal)
  }
  const { keyring, facts } = findings.looked
  if (keyring.exists && keyring.isOwned !== isToBeOwned(resource)) {
    memory.looked = null
    await followPolicy(api, resource, signal)
  }
  memory.refusedGrowth = await settleClaims(
    api,
    resource,
    (mayGrow) => claimChanges(resource, picture.allClaims, keyring, mayGrow),
    picture.claims,
    signal,
  )
  findings.refusedGrowth = memory.refusedGrowth
  findings.hold = logic.hold(resource, facts)
  await applyObjects(logic, parts, work, findings)
}

async function applyObjects<R extends Resource, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
  work: Work<R, F>,
  findings: Findings<F>,
): Promise<void> {
  const { resource, memory, run } = work
  const picture = takePicture(parts.view, parts.observer, resource)
  const facts = findings.looked?.facts
  if (facts === undefined) return
  const plan: ObjectPlan = planObjects(logic, parts, resource, { picture, facts })
  findings.plan = plan
  await settleAll(parts, resource, { plan, memory, hold: findings.hold !== null }, run)
  if (plan.isGrowing) await removeSet(parts, resource, picture, run)
}

/** Writes status and tells Events. */
async function tell<R extends Resource, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
  { resource, run }: Work<R, F>,
  findings: Findings<F>,
): Promise<ReconcileResult> {
  const picture = takePicture(parts.view, parts.observer, resource)
  const wanted = wantedStatus(logic, parts, resource, { findings, picture })
  const latest = parts.mirror.get(resource.metadata.namespace, resource.metadata.name)?.value
  if (latest?.metadata.uid !== resource.metadata.uid) return {}
  const live = { ...resource, status: latest.status }
  const outcome = await parts.status.write(parts.type, live, wanted, run.signal)
  if (outcome.written) {
    for (const occurrence of occurrencesOf(resource.status?.conditions ?? [], wanted.conditions)) {
      parts.events.record(parts.type, resource, occurrence)
    }
  }
  const asked = resource.metadata.annotations?.[requests.reconcileAt]
  if (asked !== undefined && asked !== resource.status?.lastHandledReconcileAt) {
    parts.observer.hurry(observedName(resource))
  }
  const pauses = [
    parts.lookIntervalMs(),
    findings.hold === null ? Number.POSITIVE_INFINITY : holdMs,
    isPassing(findings.error) ? passingMs : Number.POSITIVE_INFINITY,
    outcome.requeueAfterMs ?? Number.POSITIVE_INFINITY,
  ]
  return { requeueAfterMs: Math.min(...pauses) }
}
