/** Plans and writes the objects of a resource; the StatefulSet comes last, and is removed without its pods. */
import type { V1StatefulSet } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import type { Drift } from '../../resources/drift/drift.ts'
import { childNames, isViewPart, updatePartition } from '../../resources/names/names.ts'
import {
  type ChildObject,
  type ResourceObjects,
  statefulSetOf,
} from '../../resources/objects/child-object.ts'
import { discoveredAnnotations } from '../../resources/pod/discovered.ts'
import { templateChanges } from '../../resources/pod/template-changes.ts'
import { recordAnnotations } from '../../resources/pod/template-record.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import type { ObservedState } from '../evaluate/observed-state.ts'
import { needsLargerTemplates } from '../evaluate/storage.ts'
import type { KindLogic } from '../fetch/kind-logic.ts'
import { isStillThere } from '../fetch/still-there.ts'
import { type ClusterView, podsOf } from '../observe/cluster-view.ts'
import { isObserved, isRollingOut } from '../observe/set-counts.ts'
import { problemOf } from '../statements/problem.ts'
import { recordEvent } from '../statements/record-event.ts'
import { listed } from '../statements/sentences.ts'
import {
  applyDifference,
  type Difference,
  differenceOf,
  differencesOf,
  findUnwatched,
  isOfDeleted,
  markOf,
} from './children.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import { childKey, type KnownObjects, type ResourceMemory } from './resource-memory.ts'

/** The objects of a resource, and what is special about writing them now. */
export interface ObjectPlan extends ResourceObjects {
  /** Whether the StatefulSet has to be recreated for larger volumes. */
  readonly isGrowing: boolean
  /** Whether it is terminating, or about to be: it must not be written then. */
  readonly isSetBeingRemoved: boolean
}

/** What is wanted, with the record of the pod template on the ConfigMap while it has no other place. */
export function planObjects<R extends Workload, F>(
  logic: KindLogic<R, F>,
  { options }: Pick<ReconcileParts<R>, 'options'>,
  resource: R,
  { state, facts }: { readonly state: ObservedState; readonly facts: F },
): ObjectPlan {
  const { clusterDomain, defaults } = options
  const { recorded, recordedDiscovered, discovered: announce, pods } = state
  const recordedSignersFile = recordedDiscovered.hasSignersFile
  const publicHealth = new Map([...pods].map(([ordinal, pod]) => [ordinal, pod.publicHealth]))
  const context = {
    clusterDomain,
    defaults,
    announce,
    recorded,
    recordedSignersFile,
    publicHealth,
    peerIDs: state.peerIDs,
  }
  const built = logic.objects(resource, facts, context)
  const templates = state.set?.spec?.volumeClaimTemplates ?? []
  const isGrowing =
    needsLargerTemplates(resource, templates, state.claims) && isLevel(built.objects, state)
  const isSetBeingRemoved = isGrowing || state.isSetTerminating
  return {
    objects:
      isSetBeingRemoved || state.isParked ? parked(resource, built.objects, state) : built.objects,
    updateAvailable: built.updateAvailable,
    isGrowing,
    isSetBeingRemoved,
  }
}

/**
 * Whether all pods have the template that is wanted. A recreated StatefulSet knows no template from before, so it
 * would neither keep the pods below updatePartition nor report a roll-out that goes on.
 */
function isLevel(objects: readonly ChildObject[], { recorded, counts }: ObservedState): boolean {
  if (recorded === null || counts === null) return false
  const wanted = statefulSetOf(objects)?.spec?.template
  const isSame = wanted !== undefined && templateChanges(recorded.template, wanted).length === 0
  const isDone = !counts.isRolling && counts.updatedReplicas >= counts.replicas
  return isObserved(counts) && isSame && isDone
}

function parked(
  resource: Workload,
  objects: readonly ChildObject[],
  state: ObservedState,
): ChildObject[] {
  return objects.map((object) => (isConfig(resource, object) ? withRecord(object, state) : object))
}

/** Whether it is the ConfigMap that keeps the record. */
function isConfig(resource: Workload, { kind, metadata }: ChildObject): boolean {
  return kind === 'ConfigMap' && metadata?.name === childNames(resource).config
}

function withRecord<T extends ChildObject>(
  object: T,
  { recorded, recordedDiscovered }: ObservedState,
): T {
  if (recorded === null) return object
  const annotations = {
    ...object.metadata?.annotations,
    ...recordAnnotations(recorded),
    ...discoveredAnnotations(recordedDiscovered),
  }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

interface ApplyInputs<F> {
  readonly plan: ObjectPlan
  readonly memory: ResourceMemory<F>
  readonly state: Pick<ObservedState, 'set' | 'counts' | 'recorded' | 'pods'>
  /** Whether pods have to wait. */
  readonly hold: boolean
}

/**
 * Writes what differs, in order. Returns whether the StatefulSet should be another, and was left as it
 * is because pods have to wait. How something optional was refused is thrown once all else is written.
 */
export async function applyObjects<R extends Workload, F>(
  parts: ReconcileParts<R>,
  resource: R,
  { plan, memory, state, hold }: ApplyInputs<F>,
  run: ReconcileRun,
): Promise<boolean> {
  const isSetLeft = hold || plan.isSetBeingRemoved
  const wanted = plan.objects.filter(({ kind }) => kind !== 'StatefulSet' || !isSetLeft)
  const known = memory.objects
  const unwatched = await findUnwatched(parts, resource, wanted, run.signal)
  const live = { view: parts.view, unwatched }
  const differences = differencesOf(live, resource, wanted, known)
  // Written again, the objects of a deleted resource would make claims that stay.
  if (differences.some(isOfDeleted) && !(await isStillThere(parts, resource, run.signal))) {
    return false
  }
  const refused = new Map<string, unknown>()
  for (const difference of differences) {
    try {
      await writeObject(parts, resource, difference, { known, state }, run)
    } catch (error) {
      if (!isOptional(resource, difference) || problemOf(error) === null) throw error
      refused.set(childKey(difference.kind, difference.name), error)
    }
  }
  for (const key of wanted.map(keyOfObject)) if (!refused.has(key)) known.applied.add(key)
  forgetUnwanted(known.applied, plan.objects)
  for (const error of refused.values()) throw error
  const set = statefulSetOf(plan.objects)
  return hold && set !== undefined && differenceOf(parts, resource, set, known) !== null
}

/** Pods run without it, so that what somebody else has to mend of it keeps nothing else from being written. */
function isOptional(resource: Workload, { kind, name }: Difference): boolean {
  return kind === 'ConfigMap' && isViewPart(resource, name)
}

async function writeObject<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  difference: Difference,
  { known, state }: { readonly known: KnownObjects } & Pick<ApplyInputs<unknown>, 'state'>,
  run: ReconcileRun,
): Promise<void> {
  const { kind, name, action, drift } = difference
  const corrected = await applyDifference(parts, resource, known, difference, run.signal)
  const fields = drift.map(({ path }) => path)
  run.log.info({ kind, object: name, action, fields }, 'object written')
  if (action === 'correct') recordDrift(parts, resource, difference, corrected)
  if (kind === 'StatefulSet') recordReplacement(parts, resource, difference, state)
  if (kind === 'ConfigMap') {
    await triggerConfigSync(parts, resource, markOf(difference.object) ?? '', run)
  }
}

/** What a spec wants no longer is removed by the operator itself, and new when it is wanted again. */
function forgetUnwanted(applied: Set<string>, objects: readonly ChildObject[]): void {
  const wanted = new Set(objects.map(keyOfObject))
  for (const key of applied) if (!wanted.has(key)) applied.delete(key)
}

function keyOfObject({ kind, metadata }: ChildObject): string {
  return childKey(kind as Difference['kind'], metadata?.name ?? '')
}

function recordDrift<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { kind, name, drift }: Difference,
  corrected: readonly Drift[],
): void {
  if (drift.length > 0 && corrected.length === 0) return
  const pathsOf = (found: readonly Drift[]): string => found.map(({ path }) => path).join(', ')
  const others = corrected.filter(({ addition }) => addition === null)
  const added = corrected.filter(({ addition }) => addition !== null)
  const what = [
    ...(drift.length === 0 ? ['had been deleted'] : []),
    ...(others.length === 0 ? [] : [`had other ${pathsOf(others)}`]),
    ...(added.length === 0 ? [] : [`had been given ${pathsOf(added)}`]),
  ]
  const note = `${kind} ${name} ${what.join(', and ')}.`
  recordEvent(parts, resource, { reason: 'DriftCorrected', action: 'Apply', note })
}

/** Why pods are replaced, where there are any. */
function recordReplacement<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { object }: Difference,
  { set, counts, recorded, pods }: ApplyInputs<unknown>['state'],
): void {
  const after = (object as V1StatefulSet | null)?.spec?.template
  const held = updatePartition(resource)
  if (recorded === null || after === undefined) return
  if (![...pods.keys()].some((ordinal) => ordinal >= held)) return
  const changes = templateChanges(recorded.template, after)
  const heldBefore = set?.spec?.updateStrategy?.rollingUpdate?.partition ?? 0
  const isLetGo = held < heldBefore && counts !== null && isRollingOut(resource, counts)
  if (changes.length === 0 && !isLetGo) return
  const which = held === 0 ? 'Pods' : `Pods from ordinal ${held} on`
  const why =
    changes.length > 0
      ? `are replaced, since their template changed: ${listed(changes)}`
      : `that have the template from before are replaced, since spec.updatePartition is ${held} now, and was ${heldBefore}`
  const note = `${which} ${why}.`
  recordEvent(parts, resource, { reason: 'PodsReplaced', action: 'Apply', note })
}

/** Deletes the StatefulSet and leaves its pods running. Another one of its name is left alone. */
export async function removeSet<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { state: { set, isSetTerminating }, known }: Pick<ParkInputs, 'state' | 'known'>,
  { signal, log }: ReconcileRun,
): Promise<void> {
  const name = childNames(resource).base
  // That it is missing is then no drift.
  known.applied.delete(childKey('StatefulSet', name))
  if (set === null || isSetTerminating) return
  const address = { type: builtinTypes.StatefulSet, namespace: resource.metadata.namespace, name }
  await parts.api.delete(address, { uid: set.metadata?.uid, propagation: 'Orphan', signal })
  log.info({ object: name }, 'StatefulSet removed without its pods')
  const note = `StatefulSet ${name} was removed without its pods, which go on running.`
  recordEvent(parts, resource, { reason: 'StatefulSetRemoved', action: 'Delete', note })
}

/**
 * Deletes the StatefulSet because of a lost claim, which it would otherwise replace by an empty one
 * together with the next pod. Its pod template is kept on the ConfigMap.
 */
export async function parkSet<R extends Workload>(
  parts: ReconcileParts<R>,
  resource: R,
  { state, plan, known }: ParkInputs,
  run: ReconcileRun,
): Promise<void> {
  const isThere = state.set !== null && !state.isSetTerminating
  for (const object of isThere ? plan.objects.filter((one) => isConfig(resource, one)) : []) {
    const difference = differenceOf(parts, resource, withRecord(object, state), known)
    if (difference !== null) await applyDifference(parts, resource, known, difference, run.signal)
  }
  await removeSet(parts, resource, { state, known }, run)
}

interface ParkInputs {
  readonly state: ObservedState
  readonly plan: ObjectPlan
  readonly known: KnownObjects
}

/** Has each pod sync its ConfigMap now, by an annotation. Where that fails pods see the change later. */
async function triggerConfigSync(
  { api, view }: { readonly api: KubernetesApi; readonly view: ClusterView },
  resource: Workload,
  mark: string,
  { signal, log }: ReconcileRun,
): Promise<void> {
  const { namespace } = resource.metadata
  const annotations = { [records.configMap]: mark }
  for (const { name, isTerminating, ip } of podsOf(view, resource).values()) {
    if (isTerminating || ip === null) continue
    const address = { type: builtinTypes.Pod, namespace, name }
    try {
      await api.patch(address, { metadata: { annotations } }, { type: 'merge', signal })
    } catch (error) {
      if (hasCode(error, 'OPERATOR_FENCED')) throw error
      log.debug({ err: error, pod: name }, 'pod does not know of its changed ConfigMap yet')
    }
  }
}
