/**
 * `Ready`, `Reconciling` and `Stalled`, as tools that wait for resources read them (kstatus): Ready is
 * there always, the other two only while they are True.
 */
import type { V1StatefulSet } from '@kubernetes/client-node'
import type { ReasonOf } from '../api/conditions.ts'
import type { Resource } from '../api.ts'
import {
  childNames,
  podName,
  updatePartition,
  wantedOrdinals,
  wantedReplicas,
} from '../resources/names.ts'
import type { KeptPod, PodTrouble } from './pod.ts'
import type { Statement } from './problem.ts'
import type { StorageStatement } from './storage.ts'

/** What is kept of a StatefulSet's own counts. */
export interface SetCounts {
  readonly generation: number
  readonly observedGeneration: number
  /** What its own spec says, which is another number than the resource's while changes wait. */
  readonly wantedReplicas: number
  readonly replicas: number
  readonly readyReplicas: number
  readonly updatedReplicas: number
  readonly isRolling: boolean
}

export function countsOf({ metadata, spec, status }: V1StatefulSet): SetCounts {
  return {
    generation: metadata?.generation ?? 0,
    observedGeneration: status?.observedGeneration ?? 0,
    wantedReplicas: spec?.replicas ?? 1,
    replicas: status?.replicas ?? 0,
    readyReplicas: status?.readyReplicas ?? 0,
    updatedReplicas: status?.updatedReplicas ?? 0,
    isRolling: status?.updateRevision !== status?.currentRevision,
  }
}

/** Whether its controller has seen what was last written. */
export function isObserved({ observedGeneration, generation }: SetCounts): boolean {
  return observedGeneration >= generation
}

/** Whether all pods are ready that the StatefulSet wants, and the resource wants another number of them. */
export function isOtherwiseReady(
  resource: Resource,
  { wantedReplicas: held, replicas, readyReplicas }: SetCounts,
): boolean {
  return held !== wantedReplicas(resource) && replicas === held && readyReplicas === held
}

/** What readiness follows from, once everything that is wanted was written. */
export interface ReadinessFacts {
  readonly set: SetCounts | null
  readonly pods: readonly KeptPod[]
  readonly storage: StorageStatement
  /** Whether the StatefulSet is being made anew with larger claim templates. */
  readonly isExpanding: boolean
}

export interface Readiness {
  readonly ready: Statement<ReasonOf<'Ready'>>
  readonly reconciling: Statement<ReasonOf<'Reconciling'>> | null
}

/** Where a resource stands that nothing stops. */
export function readinessOf(resource: Resource, facts: ReadinessFacts): Readiness {
  const { set, storage, isExpanding } = facts
  if (set === null && resource.spec.paused) {
    const message =
      'There is no StatefulSet, and none is made while spec.paused is true; see Paused.'
    return { ready: { reason: 'Paused', message }, reconciling: null }
  }
  if (set === null || !isObserved(set)) {
    const message = isExpanding
      ? 'The StatefulSet is being made anew, without its pods, for larger volumes.'
      : 'The StatefulSet has just been written.'
    return {
      ready: { reason: 'Pending', message },
      reconciling: { reason: isExpanding ? 'ExpandingStorage' : 'Progressing', message },
    }
  }
  const ready = readyStatement(resource, { ...facts, set })
  if (ready.reason === 'AllReady' || ready.reason === 'ScaledToZero') {
    return { ready, reconciling: null }
  }
  return { ready, reconciling: reconcilingStatement(ready, storage) }
}

interface KnownSet extends ReadinessFacts {
  readonly set: SetCounts
}

/** What StorageReady says where pods have the volumes that they should. */
const enough: readonly StorageStatement['reason'][] = ['Bound', 'NearlyFull']

function readyStatement(
  resource: Resource,
  { set, pods, storage }: KnownSet,
): Statement<ReasonOf<'Ready'>> {
  const wanted = wantedReplicas(resource)
  const counted = `${set.readyReplicas} of ${wanted} pods are ready`
  const shortage = set.replicas < wanted ? ` ${shortageText(resource)}` : ''
  const troubled = pods.find(
    ({ trouble, isReady }) => trouble !== null && !isReady && !isForStorage(trouble, storage),
  )
  if (wanted === 0 && set.replicas === 0) {
    return { reason: 'ScaledToZero', message: 'No pods are wanted; keys and data are kept.' }
  }
  if (troubled?.trouble) {
    const message = `${counted}. ${troubled.name}: ${troubled.trouble.message}`
    return {
      reason: troubled.trouble.kind === 'failing' ? 'PodsFailing' : 'Unschedulable',
      message,
    }
  }
  if (wanted > 0 && !enough.includes(storage.reason)) {
    return { reason: 'WaitingForStorage', message: `${storage.message}${shortage}` }
  }
  if (set.replicas > wanted) {
    return { reason: 'RollingOut', message: `${set.replicas - wanted} pods are being removed.` }
  }
  if (isRollingOut(resource, set)) {
    const toUpdate = replicasToUpdate(resource)
    const message = `${set.updatedReplicas} of ${toUpdate} pods have the new template.${shortage}`
    return { reason: 'RollingOut', message }
  }
  if (set.readyReplicas < wanted) {
    const unready = unreadyNames(resource, pods)
    return { reason: 'Initializing', message: `${counted}; not yet: ${unready}.${shortage}` }
  }
  return { reason: 'AllReady', message: `${counted}${heldText(resource, set)}.` }
}

/** Whether StorageReady says more. A claim may as well be unbound because its pod has no machine. */
function isForStorage({ kind }: PodTrouble, { reason }: StorageStatement): boolean {
  return kind === 'unbound' && reason === 'Pending'
}

/** Whether pods are being replaced by ones with a new template. */
export function isRollingOut(resource: Resource, set: SetCounts): boolean {
  return (
    outdatedReplicas(resource, set) > Math.min(updatePartition(resource), wantedReplicas(resource))
  )
}

/**
 * How many pods have another template than the newest. A StatefulSet that was made anew says that it is not
 * rolling out, whatever the pods have that it finds; one that is may have pods still to make.
 */
function outdatedReplicas(
  resource: Resource,
  { isRolling, replicas, updatedReplicas }: SetCounts,
): number {
  const wanted = wantedReplicas(resource)
  return (isRolling ? wanted : Math.min(replicas, wanted)) - updatedReplicas
}

function replicasToUpdate(resource: Resource): number {
  return Math.max(0, wantedReplicas(resource) - updatePartition(resource))
}

/** How many pods have the template from before, where the spec wants it so. */
function heldText(resource: Resource, set: SetCounts): string {
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
function shortageText(resource: Resource): string {
  const { namespace } = resource.metadata
  return `Not all pods were made: where that stays so, kubectl describe statefulset ${childNames(resource).base} --namespace ${namespace} says why.`
}

function unreadyNames(resource: Resource, pods: readonly KeptPod[]): string {
  const ready = new Set(pods.filter(({ isReady }) => isReady).map(({ name }) => name))
  const wanted = wantedOrdinals(resource).map((ordinal) => podName(resource, ordinal))
  return wanted.filter((name) => !ready.has(name)).join(', ') || 'none is told'
}
