/**
 * Replaces the pod of a larger volume whose file system grows only when the pod is started, where the spec
 * asks for it (`storage.restartToResize`). Pods that are not ready come first, since nothing is lost with
 * them: replicas of a Host hold the same blocks, so their volumes are full together, and none of them would
 * be ready before it was replaced. The others follow one at a time. A pod that was created
 * since the claim began to wait is not replaced: if one start did not help, another one would not.
 */
import type { Workload } from '../../api.ts'
import { wantedOrdinals } from '../../resources/names/names.ts'
import { needsStart, type PlacedClaim } from '../observe/claim.ts'
import type { KeptPod } from '../observe/pod.ts'
import { isObserved, isRollingOut } from '../observe/set-counts.ts'
import { listed } from '../statements/sentences.ts'
import type { ObservedState } from './observed-state.ts'

/** A pod to recreate, and the claims that wait for it. */
interface Restart {
  readonly pod: KeptPod
  readonly claims: readonly string[]
}

export type RestartFacts = Pick<
  ObservedState,
  'observedMs' | 'set' | 'isSetTerminating' | 'isParked' | 'counts' | 'claims' | 'pods'
>

/** The one pod that may be replaced now; null for none. Reads and writes nothing. */
export function podToRestart(resource: Workload, facts: RestartFacts): Restart | null {
  if (!resource.spec.storage.restartToResize || !isSetKept(facts)) return null
  const wanted = restarts(resource, facts)
  const [ready = null] = mayOneBeMissing(resource, facts) ? wanted : []
  return wanted.find(({ pod }) => !pod.isReady) ?? ready
}

/** Whether there is a StatefulSet that recreates a deleted pod. */
function isSetKept({ set, counts, isSetTerminating, isParked }: RestartFacts): boolean {
  if (set === null || counts === null || isSetTerminating || isParked) return false
  return isObserved(counts)
}

/** All pods that are to be replaced, the last one first. */
function restarts(resource: Workload, { observedMs, claims, pods }: RestartFacts): Restart[] {
  return wantedOrdinals(resource)
    .reverse()
    .flatMap((ordinal) => {
      const pod = pods.get(ordinal)
      const own = claims.filter((placed) => placed.ordinal === ordinal)
      const waiting = own.filter((placed) => isWaiting(placed, pod, observedMs))
      if (pod === undefined || pod.isTerminating || waiting.length === 0) return []
      // A claim that was deleted is there for as long as its pod is.
      if (own.some(({ claim }) => claim.isTerminating)) return []
      return [{ pod, claims: waiting.map(({ claim }) => claim.name) }]
    })
}

/** Whether the claim waits for a start that there has not been since. */
function isWaiting({ claim }: PlacedClaim, pod: KeptPod | undefined, nowMs: number): boolean {
  const { startWantedMs } = claim
  if (startWantedMs === null || !needsStart(claim, nowMs)) return false
  return typeof pod?.createdMs === 'number' && pod.createdMs < startWantedMs
}

/** Whether a ready pod may be missing for a while: all are ready, and none is replaced anyway. */
function mayOneBeMissing(resource: Workload, { counts, pods }: RestartFacts): boolean {
  if (counts === null || isRollingOut(resource, counts)) return false
  return wantedOrdinals(resource)
    .map((ordinal) => pods.get(ordinal))
    .every((pod) => pod?.isReady === true && !pod.isTerminating)
}

/** What becomes of claims whose pods have to be started. */
export function startText(
  resource: Workload,
  waiting: readonly PlacedClaim[],
  { observedMs, pods }: Pick<RestartFacts, 'observedMs' | 'pods'>,
): string {
  if (!resource.spec.storage.restartToResize) {
    return 'Set spec.storage.restartToResize to have the operator replace such pods, or the annotation viewmesh.io/roll-at to any new value to replace all pods now.'
  }
  const inVain = waiting.filter(
    (placed) => !isWaiting(placed, pods.get(placed.ordinal), observedMs),
  )
  const reported =
    'The operator replaces such pods: first those that are not ready, then one at a time, while all others are ready.'
  if (inVain.length === 0) return reported
  const names = listed(inVain.map(({ claim }) => claim.name))
  return `${reported} Of ${names} the pod was made since: where that stays so, see the events of the claim.`
}
