/**
 * Brings the objects of a resource to what is wanted: writes only what differs, takes away what is no
 * longer wanted, and records what others had changed.
 */
import type { V1Service, V1StatefulSet } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Resource } from '../../api.ts'
import { driftOf } from '../../resources/drift/drift.ts'
import {
  hasUnmanagedItems,
  recordedUnmanagedItems,
  removalsOf,
  type UnmanagedItem,
  unmanagedAnnotations,
  unmanagedItemsOf,
} from '../../resources/drift/unmanaged-items.ts'
import { canonicalJson, shortHash } from '../../resources/names/canonical-json.ts'
import { childNames, p2pServiceName } from '../../resources/names/names.ts'
import type { ChildObject } from '../../resources/objects/child-object.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { nameTakenError, terminatingError } from '../fetch/secrets.ts'
import {
  type ChildKind,
  type ClusterView,
  liveChild,
  maxReplicas,
} from '../observe/cluster-view.ts'
import { ownership } from '../statements/ownership.ts'
import { type EventParts, recordEvent } from '../statements/record-event.ts'

interface ChildParts extends EventParts {
  readonly api: KubernetesApi
  readonly view: ClusterView
}

/** What is to be done about one object. */
export interface Difference {
  readonly kind: ChildKind
  readonly name: string
  readonly action: 'create' | 'change' | 'correct' | 'delete'
  /** Paths of fields that differ; empty where the whole object does. */
  readonly fields: readonly string[]
  /** What to apply; null where it is to go. */
  readonly object: ChildObject | null
  /** Of the object that is to go. */
  readonly uid?: string
}

/**
 * What differs from what is wanted, by what is watched. `applied` says of an object
 * whether it was as wanted before, so that a missing one is known to have been deleted.
 */
export function differencesOf(
  view: ClusterView,
  resource: Resource,
  wanted: readonly ChildObject[],
  applied: (kind: ChildKind, name: string) => boolean,
): Difference[] {
  const found = wanted.flatMap((object): Difference[] => {
    const difference = differenceOf(view, resource, object, applied)
    return difference === null ? [] : [difference]
  })
  return [...found, ...leftovers(view, resource, wanted)]
}

/** The same for one object; null where it is as wanted. */
export function differenceOf(
  view: ClusterView,
  resource: Resource,
  wanted: ChildObject,
  applied: (kind: ChildKind, name: string) => boolean,
): Difference | null {
  const { kind, name } = identify(wanted)
  const live = liveChild<ChildObject>(view, resource, kind, name)
  const object = withMark(wanted, live)
  if (live === null) {
    const action = applied(kind, name) ? 'correct' : 'create'
    return { kind, name, action, fields: [], object }
  }
  checkOwnership(resource, kind, live)
  const left = hasUnmanagedItems(live) ? [`metadata.annotations.${records.unmanagedItems}`] : []
  const fields = [...driftOf(object, live), ...left]
  if (fields.length === 0) return null
  const isSameTarget = markOf(live) === markOf(object)
  return { kind, name, action: isSameTarget ? 'correct' : 'change', fields, object }
}

/**
 * Writes one difference. Items that others made of ours by editing their keys are removed: after ours
 * are back, since no list may be empty, or before, where both cannot be side by side (two ports of a
 * Service with one name). The only port of a Service is put back as it is.
 */
export async function applyDifference(
  parts: ChildParts,
  resource: Resource,
  difference: Difference,
  signal: AbortSignal,
): Promise<void> {
  const { api, view } = parts
  const { kind, name, object, uid } = difference
  const { namespace } = resource.metadata
  const address = { type: builtinTypes[kind], namespace, name }
  if (object === null) {
    await ignoreConflict(api.delete(address, { uid, signal }))
    return
  }
  const before = liveChild<KubernetesObject>(view, resource, kind, name)
  const unmanagedItems = before === null ? [] : itemsToRemove(difference, before)
  const apply = (wanted: ChildObject): Promise<KubernetesObject> =>
    api.apply(address.type, asKubernetesObject(wanted), {
      signal,
      onConflict: (conflict) => recordConflict(parts, resource, difference, conflict),
    })
  const remove = async (from: KubernetesObject): Promise<void> => {
    const operations = removalsOf(from, unmanagedItems)
    if (operations.length > 0) await api.patch(address, operations, { type: 'json', signal })
  }
  try {
    const after = await apply(annotated(object, unmanagedAnnotations(unmanagedItems)))
    await remove(after)
  } catch (error) {
    const isInTheWay = unmanagedItems.length > 0 && hasCode(error, 'OPERATOR_API_INVALID')
    if (!isInTheWay || before === null) throw error
    await remove(before).catch(async (refusal: unknown) => {
      if (kind !== 'Service' || !hasCode(refusal, 'OPERATOR_API_INVALID')) throw refusal
      const ports = (object as V1Service).spec?.ports
      await api.patch(address, { spec: { ports } }, { type: 'merge', signal })
    })
    await apply(object)
  }
}

/** Items to remove: those that an interrupted write left, and what others made of ours since. */
function itemsToRemove({ action, object }: Difference, before: KubernetesObject): UnmanagedItem[] {
  const left = recordedUnmanagedItems(before)
  return action === 'correct' ? [...left, ...unmanagedItemsOf(object, before)] : left
}

function recordConflict(
  parts: EventParts,
  resource: Resource,
  { kind, name }: Difference,
  conflict: string,
): void {
  const note = `Fields of ${kind} ${name} were taken back from who had written them: ${conflict}`
  recordEvent(parts, resource, { reason: 'FieldConflict', action: 'Apply', note })
}

/**
 * An object that is not among the watched ones may still be there, and belong to others: throws
 * OPERATOR_NAME_TAKEN then, and OPERATOR_LEAVING where it belongs to a deleted resource.
 */
export async function expectFree(
  { api, view }: ChildParts,
  resource: Resource,
  differences: readonly Difference[],
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = resource.metadata
  const unseen = differences.filter(
    ({ kind, name }) => view.children[kind].get(namespace, name) === undefined,
  )
  const find = async ({ kind, name }: Difference): Promise<void> => {
    const live = await api.find({ type: builtinTypes[kind], namespace, name }, { signal })
    if (live !== null) checkOwnership(resource, kind, live)
  }
  await Promise.all(unseen.map(find))
}

/** Claim templates cannot be changed, so a StatefulSet that is there keeps those it has. */
function withLiveTemplates(
  objects: readonly ChildObject[],
  live: V1StatefulSet | null,
): ChildObject[] {
  const templates = live?.spec?.volumeClaimTemplates
  if (templates === undefined) return [...objects]
  return objects.map((object) => {
    if (object.kind !== 'StatefulSet') return object
    const set = object as V1StatefulSet
    return set.spec === undefined
      ? object
      : { ...set, spec: { ...set.spec, volumeClaimTemplates: templates } }
  })
}

/** Objects that earlier specs wanted: they have names of ours, and belong to this very resource. */
function leftovers(
  view: ClusterView,
  resource: Resource,
  wanted: readonly ChildObject[],
): Difference[] {
  const isWanted = new Set(
    wanted.map((object) => `${identify(object).kind} ${identify(object).name}`),
  )
  return possibleNames(resource).flatMap(([kind, name]): Difference[] => {
    if (isWanted.has(`${kind} ${name}`)) return []
    const cached = view.children[kind].get(resource.metadata.namespace, name)
    const kept = cached?.value.value
    if (cached === undefined || kept === undefined || kept.isTerminating) return []
    if (!kept.ownerUIDs.includes(resource.metadata.uid)) return []
    return [{ kind, name, action: 'delete', fields: [], object: null, uid: cached.uid }]
  })
}

/** What a spec can do without. */
function possibleNames(resource: Resource): [ChildKind, string][] {
  const { base, upstream } = childNames(resource)
  const services = Array.from({ length: maxReplicas }, (_, ordinal): [ChildKind, string] => [
    'Service',
    p2pServiceName(resource, ordinal),
  ])
  return [
    ['NetworkPolicy', base],
    ['PodDisruptionBudget', base],
    ['Service', upstream],
    ...services,
  ]
}

function checkOwnership(
  resource: Resource,
  kind: ChildKind,
  live: KubernetesObject | ChildObject,
): void {
  const name = live.metadata?.name ?? ''
  const state = ownership(resource, live as Parameters<typeof ownership>[1])
  if (state === 'terminating') throw terminatingError(kind, name)
  if (state === 'foreign') throw nameTakenError(kind, name)
}

function identify(object: ChildObject): { readonly kind: ChildKind; readonly name: string } {
  return { kind: object.kind as ChildKind, name: object.metadata?.name ?? '' }
}

/** The hash that distinguishes a change of the spec from drift. */
export function markOf(object: KubernetesObject | ChildObject | null): string | undefined {
  return object?.metadata?.annotations?.[records.applied]
}

/**
 * The object with a hash of itself. What is there and not wanted is no difference, since others may
 * add to it; that we ourselves wanted it before shows in another hash. Claim templates are no part of it.
 */
function withMark(object: ChildObject, live: ChildObject | null): ChildObject {
  const { spec, ...rest } = object as V1StatefulSet
  const { volumeClaimTemplates: _, ...hashed } = spec ?? {}
  const data = (object as { readonly data?: unknown }).data
  const mark = shortHash(canonicalJson({ ...rest, data, spec: hashed }))
  const marked = annotated(object, { [records.applied]: mark })
  const [withTemplates = marked] = withLiveTemplates([marked], live as V1StatefulSet | null)
  return withTemplates
}

function annotated(object: ChildObject, more: Readonly<Record<string, string>>): ChildObject {
  const annotations = { ...object.metadata?.annotations, ...more }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** The same of another type: client-node's types say Date where JSON has text. */
function asKubernetesObject(object: ChildObject): KubernetesObject {
  return object as KubernetesObject
}

/** Another object of the name was created meanwhile: the next reconcile sees it. */
async function ignoreConflict(done: Promise<unknown>): Promise<void> {
  try {
    await done
  } catch (error) {
    if (!hasCode(error, 'OPERATOR_API_CONFLICT')) throw error
  }
}
