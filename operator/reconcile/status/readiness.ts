/**
 * `Ready`, `Reconciling` and `Stalled`, as tools that wait for resources read them (kstatus): Ready is
 * there always, the other two only while they are True.
 */
import { paths, type UnreadyReason } from '../../../src/service/contract.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Workload } from '../../api.ts'
import {
  childNames,
  podName,
  updatePartition,
  wantedOrdinals,
  wantedReplicas,
} from '../../resources/names/names.ts'
import type { StorageStatement } from '../evaluate/storage.ts'
import type { HealthView } from '../observe/health-view.ts'
import type { KeptPod, PodFailure } from '../observe/pod.ts'
import {
  isObserved,
  isRollingOut,
  outdatedReplicas,
  type SetCounts,
} from '../observe/set-counts.ts'
import { isOwnedBy } from '../statements/ownership.ts'
import type { Statement } from '../statements/problem.ts'
import { withoutStop } from '../statements/sentences.ts'
import { restingStatement } from './suspended.ts'

/** Whether all pods are ready that the StatefulSet wants, and the resource wants another number of them. */
export function isOtherwiseReady(
  resource: Workload,
  { wantedReplicas: held, replicas, readyReplicas }: SetCounts,
): boolean {
  return held !== wantedReplicas(resource) && replicas === held && readyReplicas === held
}

/** What readiness follows from, once everything that is wanted was written. */
export interface ReadinessFacts {
  readonly set: SetCounts | null
  readonly pods: readonly KeptPod[]
  /** By ordinal: what replicas report. */
  readonly views: ReadonlyMap<number, HealthView | null | undefined>
  readonly storage: StorageStatement
  /** What the StatefulSet failed to create, in the words of its Event; null for nothing. */
  readonly failedCreate: string | null
  /** Whether the StatefulSet is being recreated with larger claim templates. */
  readonly isExpanding: boolean
}

export interface Readiness {
  readonly ready: Statement<ReasonOf<'Ready'>>
  readonly reconciling: Statement<ReasonOf<'Reconciling'>> | null
}

/** Where a resource stands that nothing stops. */
export function readinessOf(resource: Workload, facts: ReadinessFacts): Readiness {
  const { set, storage, isExpanding } = facts
  if (set === null && resource.spec.paused) {
    const none = 'There is no StatefulSet, and none is made while spec.paused is true; see Paused.'
    const hasStray = facts.pods.some(({ owners }) => !isOwnedBy(resource, owners))
    const message = hasStray ? `${none} Its pods run on, and stay if it is deleted.` : none
    return { ready: { reason: 'Paused', message }, reconciling: null }
  }
  if (set === null || !isObserved(set)) {
    const message = isExpanding
      ? 'The StatefulSet is being recreated, without its pods, for larger volumes.'
      : 'The StatefulSet has just been written.'
    return {
      ready: { reason: 'Pending', message },
      reconciling: { reason: isExpanding ? 'ExpandingStorage' : 'Progressing', message },
    }
  }
  const ready = readyStatement(resource, { ...facts, set })
  if (isWell(ready)) return { ready, reconciling: null }
  return { ready, reconciling: reconcilingStatement(ready, storage) }
}

interface KnownSet extends ReadinessFacts {
  readonly set: SetCounts
}

/** What StorageReady says where pods have the volumes that they should. */
const enough: readonly StorageStatement['reason'][] = ['Bound', 'NearlyFull']

function readyStatement(
  resource: Workload,
  { set, pods, views, storage, failedCreate }: KnownSet,
): Statement<ReasonOf<'Ready'>> {
  const wanted = wantedReplicas(resource)
  const counted = `${set.readyReplicas} of ${wanted} pods are ready`
  const shortage = set.replicas < wanted ? ` ${shortageText(resource)}` : ''
  const failing = pods.find(
    ({ failure, isReady }) => failure !== null && !isReady && !isForStorage(failure, storage),
  )
  if (wanted === 0 && set.replicas === 0) return restingStatement(resource)
  if (failing?.failure) {
    const message = `${counted}. ${failing.name}: ${failing.failure.message}`
    return {
      reason: failing.failure.kind === 'failing' ? 'PodsFailing' : 'Unschedulable',
      message,
    }
  }
  if (failedCreate !== null && set.replicas < wanted) {
    const message = `${counted}. The StatefulSet reports: ${withoutStop(failedCreate)}. It is tried again twice a minute.`
    return { reason: 'FailedCreate', message }
  }
  if (wanted > 0 && !enough.includes(storage.reason)) {
    return { reason: 'WaitingForStorage', message: `${storage.message}${shortage}` }
  }
  if (set.replicas > wanted) {
    return { reason: 'RollingOut', message: `${set.replicas - wanted} pods are being removed.` }
  }
  if (isRollingOut(resource, set)) {
    const toUpdate = wanted - updatePartition(resource)
    const message = `${set.updatedReplicas} of ${toUpdate} pods have the new template.${shortage}`
    return { reason: 'RollingOut', message }
  }
  if (set.readyReplicas < wanted) {
    const unready = unreadyText(resource, pods, views)
    return { reason: 'Initializing', message: `${counted}; not yet: ${unready}${shortage}` }
  }
  return { reason: 'AllReady', message: `${counted}${heldText(resource, set)}.` }
}

/** Whether all is as the spec wants it. */
export function isWell({ reason }: Statement<ReasonOf<'Ready'>>): boolean {
  return reason === 'AllReady' || reason === 'ScaledToZero' || reason === 'Suspended'
}

/** Whether StorageReady says more. A claim may as well be unbound because its pod has no machine. */
function isForStorage({ kind }: PodFailure, { reason }: StorageStatement): boolean {
  return kind === 'unbound' && reason === 'Pending'
}

/** How many pods have the template from before, where the spec wants it so. */
function heldText(resource: Workload, set: SetCounts): string {
  const held = outdatedReplicas(resource, set)
  if (held <= 0) return ''
  return `, ${held} of them with the template from before, as spec.updatePartition ${updatePartition(resource)} wants it`
}

function reconcilingStatement(
  ready: Statement<ReasonOf<'Ready'>>,
  storage: StorageStatement,
): Statement<ReasonOf<'Reconciling'>> {
  const { message } = ready
  if (ready.reason === 'RollingOut') return { reason: 'WaitingForRollout', message }
  const isGrowing = ['Expanding', 'FileSystemResizePending'].includes(storage.reason)
  return { reason: isGrowing ? 'ExpandingStorage' : 'Progressing', message }
}

/** Why the StatefulSet cannot make a pod or its claims, such as a quota, only its own events say. */
function shortageText(resource: Workload): string {
  const { namespace } = resource.metadata
  return `Not all pods were made: where that stays so, kubectl describe statefulset ${childNames(resource).base} --namespace ${namespace} says why.`
}

const lacks: Readonly<Record<Exclude<UnreadyReason, 'initializing'>, string>> = {
  'too-few-blocks': 'too few blocks',
  lagging: 'too far behind its signers',
  'behind-sibling': 'too far behind another replica',
}
const dataHint =
  'Blocks come from peers: PeersConnected and SignersAgree say what is wrong where none do.'

interface UnreadyPod {
  readonly text: string
  readonly lacksData: boolean
}

/** The pods that are not ready, and where to look where they lack blocks. */
function unreadyText(
  resource: Workload,
  pods: readonly KeptPod[],
  views: ReadinessFacts['views'],
): string {
  const unready = unreadyPods(resource, pods, views)
  const named = unready.map(({ text }) => text).join(', ') || 'none is known'
  return unready.some(({ lacksData }) => lacksData) ? `${named}. ${dataHint}` : `${named}.`
}

/** The same with what they lack themselves. */
function unreadyPods(
  resource: Workload,
  pods: readonly KeptPod[],
  views: ReadinessFacts['views'],
): UnreadyPod[] {
  const ready = new Set(pods.filter(({ isReady }) => isReady).map(({ name }) => name))
  return wantedOrdinals(resource).flatMap((ordinal): UnreadyPod[] => {
    const name = podName(resource, ordinal)
    const view = views.get(ordinal)
    const reason = view?.unready ?? null
    if (ready.has(name)) return []
    if (view === null) return [{ text: `${name} (no answer at ${paths.health})`, lacksData: false }]
    return reason === null || reason === 'initializing'
      ? [{ text: name, lacksData: false }]
      : [{ text: `${name} (${lacks[reason]})`, lacksData: true }]
  })
}
