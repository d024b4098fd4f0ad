/** Plans and writes the objects of a resource; the StatefulSet comes last, and goes without its pods. */
import type { V1StatefulSet } from '@kubernetes/client-node'
import type { Resource } from '../api.ts'
import { type ChildObject, type ResourceObjects, statefulSetOf } from '../resources/child-object.ts'
import { learntAnnotations } from '../resources/learnt.ts'
import { childNames, updatePartition } from '../resources/names.ts'
import { templateChanges } from '../resources/template-changes.ts'
import { recordAnnotations } from '../resources/template-record.ts'
import type { ReconcileRun } from '../runtime/controller.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import {
  type Difference,
  differenceOf,
  differencesOf,
  expectFree,
  markOf,
  settle,
} from './children.ts'
import type { KindLogic } from './kind-logic.ts'
import { listed } from './listed.ts'
import type { Picture } from './picture.ts'
import { nudgePods } from './pod-nudge.ts'
import { isObserved, isRollingOut } from './readiness.ts'
import type { ReconcileParts } from './reconcile-parts.ts'
import { recordEvent } from './record-event.ts'
import { childKey, type ResourceMemory } from './resource-memory.ts'
import { needsLargerTemplates } from './storage.ts'

/** The objects of a resource, and what is special about writing them now. */
export interface ObjectPlan extends ResourceObjects {
  /** Whether the StatefulSet has to be made anew for larger volumes. */
  readonly isGrowing: boolean
  /** Whether it is on its way out, or about to be: it must not be written then. */
  readonly isSetLeaving: boolean
}

/** What is wanted, with the record of the pod template on the ConfigMap while it has no other place. */
export function planObjects<R extends Resource, F>(
  logic: KindLogic<R, F>,
  { options }: Pick<ReconcileParts<R>, 'options'>,
  resource: R,
  { picture, facts }: { readonly picture: Picture; readonly facts: F },
): ObjectPlan {
  const { clusterDomain, defaults } = options
  const { recorded, recordedLearnt, learnt: announce, pods } = picture
  const recordedSignersFile = recordedLearnt.hasSignersFile
  const publicHealth = new Map([...pods].map(([ordinal, pod]) => [ordinal, pod.publicHealth]))
  const context = {
    clusterDomain,
    defaults,
    announce,
    recorded,
    recordedSignersFile,
    publicHealth,
  }
  const built = logic.objects(resource, facts, context)
  const templates = picture.set?.spec?.volumeClaimTemplates ?? []
  const isGrowing =
    needsLargerTemplates(resource, templates, picture.claims) && isLevel(built.objects, picture)
  const isSetLeaving = isGrowing || picture.isSetGoing
  return {
    objects: isSetLeaving || picture.isParked ? parked(built.objects, picture) : built.objects,
    updateAvailable: built.updateAvailable,
    isGrowing,
    isSetLeaving,
  }
}

/**
 * Whether all pods have the template that is wanted. One that is made anew knows no template from before, so it
 * would neither keep the pods below updatePartition nor tell of a roll-out that goes on.
 */
function isLevel(objects: readonly ChildObject[], { recorded, counts }: Picture): boolean {
  if (recorded === null || counts === null) return false
  const wanted = statefulSetOf(objects)?.spec?.template
  const isSame = wanted !== undefined && templateChanges(recorded.template, wanted).length === 0
  const isDone = !counts.isRolling && counts.updatedReplicas >= counts.replicas
  return isObserved(counts) && isSame && isDone
}

function parked(objects: readonly ChildObject[], picture: Picture): ChildObject[] {
  return objects.map((object) =>
    object.kind === 'ConfigMap' ? withRecord(object, picture) : object,
  )
}

function withRecord<T extends ChildObject>(object: T, { recorded, recordedLearnt }: Picture): T {
  if (recorded === null) return object
  const annotations = {
    ...object.metadata?.annotations,
    ...recordAnnotations(recorded),
    ...learntAnnotations(recordedLearnt),
  }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

interface Settling<F> {
  readonly plan: ObjectPlan
  readonly memory: ResourceMemory<F>
  readonly picture: Pick<Picture, 'set' | 'counts' | 'recorded' | 'pods'>
  /** Whether pods have to wait. */
  readonly hold: boolean
}

/**
 * Writes what differs, in order. Answers whether the StatefulSet should be another, and was left as it
 * is because pods have to wait.
 */
export async function settleAll<R extends Resource, F>(
  parts: ReconcileParts<R>,
  resource: R,
  { plan, memory, picture, hold }: Settling<F>,
  run: ReconcileRun,
): Promise<boolean> {
  const isSetLeft = hold || plan.isSetLeaving
  const wanted = plan.objects.filter(({ kind }) => kind !== 'StatefulSet' || !isSetLeft)
  const wasSettled = (kind: Difference['kind'], name: string): boolean =>
    memory.settled.has(childKey(kind, name))
  const differences = differencesOf(parts.view, resource, wanted, wasSettled)
  await expectFree(parts, resource, differences, run.signal)
  for (const difference of differences) {
    const { kind, name, action, fields } = difference
    await settle(parts, resource, difference, run.signal)
    run.log.info({ kind, object: name, action, fields }, 'object written')
    if (action === 'correct') tellDrift(parts, resource, difference)
    if (kind === 'StatefulSet') tellReplacement(parts, resource, difference, picture)
    if (kind === 'ConfigMap' && action !== 'create') {
      await nudgePods(parts, resource, markOf(difference.object) ?? '', run)
    }
  }
  for (const object of wanted) memory.settled.add(keyOfObject(object))
  forgetUnwanted(memory.settled, plan.objects)
  const set = statefulSetOf(plan.objects)
  return hold && set !== undefined && differenceOf(parts.view, resource, set, wasSettled) !== null
}

/** What a spec wants no longer is taken away by the operator itself, and new when it is wanted again. */
function forgetUnwanted(settled: Set<string>, objects: readonly ChildObject[]): void {
  const wanted = new Set(objects.map(keyOfObject))
  for (const key of settled) if (!wanted.has(key)) settled.delete(key)
}

function keyOfObject({ kind, metadata }: ChildObject): string {
  return childKey(kind as Difference['kind'], metadata?.name ?? '')
}

function tellDrift<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  { kind, name, fields }: Difference,
): void {
  const what = fields.length === 0 ? 'had been deleted' : `had other ${fields.join(', ')}`
  const note = `${kind} ${name} ${what}.`
  recordEvent(parts, resource, { reason: 'DriftCorrected', action: 'Apply', note })
}

/** Why pods are replaced, where there are any. */
function tellReplacement<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  { object }: Difference,
  { set, counts, recorded, pods }: Settling<unknown>['picture'],
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

/** Takes the StatefulSet away and leaves its pods running. Another one of its name is left alone. */
export async function removeSet<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  { set, isSetGoing }: Picture,
  { signal, log }: ReconcileRun,
): Promise<void> {
  if (set === null || isSetGoing) return
  const name = childNames(resource).base
  const address = { type: builtinTypes.StatefulSet, namespace: resource.metadata.namespace, name }
  await parts.api.delete(address, { uid: set.metadata?.uid, propagation: 'Orphan', signal })
  log.info({ object: name }, 'StatefulSet removed without its pods')
  const note = `StatefulSet ${name} was removed without its pods, which go on running.`
  recordEvent(parts, resource, { reason: 'StatefulSetRemoved', action: 'Delete', note })
}

/**
 * Takes the StatefulSet away because of a lost claim, which it would otherwise replace by an empty one
 * together with the next pod. Its pod template is kept on the ConfigMap.
 */
export async function parkSet<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  { picture, plan }: { readonly picture: Picture; readonly plan: ObjectPlan },
  run: ReconcileRun,
): Promise<void> {
  if (picture.set === null || picture.isSetGoing) return
  for (const object of plan.objects.filter(({ kind }) => kind === 'ConfigMap')) {
    const difference = differenceOf(parts.view, resource, withRecord(object, picture), () => false)
    if (difference !== null) await settle(parts, resource, difference, run.signal)
  }
  await removeSet(parts, resource, picture, run)
}
