/**
 * Replaces the pod of a larger volume whose file system grows only when the pod is started, where the spec
 * asks for it (`storage.restartToResize`). Pods that are not ready come first, since nothing is lost with
 * them: replicas of a Host hold the same blocks, so their volumes are full together, and none of them would
 * be ready before it was replaced. The others follow one at a time. None is replaced that was made since the
 * claim began to wait: what a start did not help, another one would not.
 */
import type { Resource } from '../api.ts'
import { wantedOrdinals } from '../resources/names.ts'
import { hasCode } from '../runtime/api-error.ts'
import type { ReconcileRun } from '../runtime/controller.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import { needsStart, type PlacedClaim } from './claim.ts'
import { listed } from './listed.ts'
import type { Picture } from './picture.ts'
import type { KeptPod } from './pod.ts'
import { isObserved, isRollingOut } from './readiness.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import { recordEvent } from './record-event.ts'

/** A pod to be made anew, and the claims that wait for it. */
export interface Restart {
  readonly pod: KeptPod
  readonly claims: readonly string[]
}

export type RestartFacts = Pick<
  Picture,
  'takenMs' | 'set' | 'isSetGoing' | 'isParked' | 'counts' | 'claims' | 'pods'
>

/** The one pod that may be replaced now; null for none. Asks nobody and writes nothing. */
export function podToRestart(resource: Resource, facts: RestartFacts): Restart | null {
  if (!resource.spec.storage.restartToResize || !isSetKept(facts)) return null
  const wanted = restarts(resource, facts)
  return (
    wanted.find(({ pod }) => !pod.isReady) ??
    wanted.find(({ ordinal }) => mayLeave(resource, facts, ordinal)) ??
    null
  )
}

/** Whether somebody makes a deleted pod anew. */
function isSetKept({ set, counts, isSetGoing, isParked }: RestartFacts): boolean {
  if (set === null || counts === null || isSetGoing || isParked) return false
  return isObserved(counts)
}

/** All pods that are to be replaced, the last one first. */
function restarts(
  resource: Resource,
  { takenMs, claims, pods }: RestartFacts,
): (Restart & { readonly ordinal: number })[] {
  return wantedOrdinals(resource)
    .reverse()
    .flatMap((ordinal) => {
      const pod = pods.get(ordinal)
      const own = claims.filter((placed) => placed.ordinal === ordinal)
      const waiting = own.filter((placed) => isWaiting(placed, pod, takenMs))
      if (pod === undefined || pod.isGoing || waiting.length === 0) return []
      // A claim that was deleted is there for as long as its pod is.
      if (own.some(({ claim }) => claim.isGoing)) return []
      return [{ ordinal, pod, claims: waiting.map(({ claim }) => claim.name) }]
    })
}

/** Whether the claim waits for a start that there has not been since. */
function isWaiting({ claim }: PlacedClaim, pod: KeptPod | undefined, nowMs: number): boolean {
  const { startWantedMs } = claim
  if (startWantedMs === null || !needsStart(claim, nowMs)) return false
  return typeof pod?.createdMs === 'number' && pod.createdMs < startWantedMs
}

/** Whether a ready pod may be missing for a while: all others are ready, and none is replaced anyway. */
function mayLeave(resource: Resource, { counts, pods }: RestartFacts, ordinal: number): boolean {
  if (counts === null || isRollingOut(resource, counts)) return false
  return areOthersReady(resource, pods, ordinal)
}

function areOthersReady(resource: Resource, pods: RestartFacts['pods'], besides: number): boolean {
  return wantedOrdinals(resource)
    .filter((ordinal) => ordinal !== besides)
    .every((ordinal) => pods.get(ordinal)?.isReady === true && !pods.get(ordinal)?.isGoing)
}

/** Deletes that very pod, for its StatefulSet to make it anew. */
export async function restartToResize<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  facts: RestartFacts,
  { signal, log }: ReconcileRun,
): Promise<void> {
  const restart = podToRestart(resource, facts)
  if (restart === null) return
  const { name, uid } = restart.pod
  const { namespace } = resource.metadata
  const address = { type: builtinTypes.Pod, namespace, name }
  const isDeleted = await parts.api.delete(address, { uid, signal }).catch((error: unknown) => {
    // Another pod has its name by now.
    if (hasCode(error, 'OPERATOR_API_CONFLICT')) return false
    throw error
  })
  if (!isDeleted) return
  log.info({ pod: name, claims: restart.claims }, 'pod deleted, for a file system to grow')
  const { claims } = restart
  const note = `Pod ${name} is made anew, since the file system of ${claims.join(' and ')} grows when it starts.`
  recordEvent(parts, resource, { reason: 'PodRestarted', action: 'Delete', note })
}

/** What becomes of claims whose pods have to be started. */
export function startText(
  resource: Resource,
  waiting: readonly PlacedClaim[],
  { takenMs, pods }: Pick<RestartFacts, 'takenMs' | 'pods'>,
): string {
  if (!resource.spec.storage.restartToResize) {
    return 'Set spec.storage.restartToResize to have the operator replace such pods, or the annotation viewmesh.io/roll-at to any new value to replace all pods now.'
  }
  const inVain = waiting.filter((placed) => !isWaiting(placed, pods.get(placed.ordinal), takenMs))
  const told =
    'The operator replaces such pods: first those that are not ready, then one at a time, while all others are ready.'
  if (inVain.length === 0) return told
  const names = listed(inVain.map(({ claim }) => claim.name))
  return `${told} Of ${names} the pod was made since: where that stays so, see the events of the claim.`
}
