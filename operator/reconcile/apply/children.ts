/**
 * Brings the objects of a resource to what is wanted: writes only what differs, takes away what is no
 * longer wanted, and records what others had changed.
 */
import type { V1Service, V1StatefulSet } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Resource, Workload } from '../../api.ts'
import { type Drift, driftOf, withoutAdditions } from '../../resources/drift/drift.ts'
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
import { forgetAnswer, rememberAnswer, unanswered } from './answers.ts'
import { childKey, type KnownObjects } from './resource-memory.ts'

interface ChildParts extends EventParts {
  readonly api: KubernetesApi
}

/** What is to be done about one object. */
export interface Difference {
  readonly kind: ChildKind
  readonly name: string
  readonly action: 'create' | 'change' | 'correct' | 'delete'
  /** Where it differs; empty where the whole object does. */
  readonly drift: readonly Drift[]
  /** What to apply; null where it is to go. */
  readonly object: ChildObject | null
  /** As it is now; null where there is none. */
  readonly live: ChildObject | null
  /** Of the object that is to go. */
  readonly uid?: string
}

/** Objects that are there and not watched, by kind and name. */
type Unwatched = ReadonlyMap<string, KubernetesObject>

/** What is there. */
interface LiveObjects {
  readonly view: ClusterView
  readonly unwatched?: Unwatched
}

/**
 * What differs from what is wanted. What is `known` distinguishes an object that was deleted from one that never
 * was, and what admission changes from drift. Throws OPERATOR_NAME_TAKEN where an object belongs to others, and
 * OPERATOR_TERMINATING where it belongs to a deleted resource.
 */
export function differencesOf(
  live: LiveObjects,
  resource: Workload,
  wanted: readonly ChildObject[],
  known: KnownObjects,
): Difference[] {
  const found = wanted.flatMap((object): Difference[] => {
    const difference = differenceOf(live, resource, object, known)
    return difference === null ? [] : [difference]
  })
  return [...found, ...leftovers(live.view, resource, wanted)]
}

/** The same for one object; null where it is as wanted. */
export function differenceOf(
  { view, unwatched }: LiveObjects,
  resource: Resource,
  wanted: ChildObject,
  { applied, answers }: KnownObjects,
): Difference | null {
  const { kind, name } = identify(wanted)
  const key = childKey(kind, name)
  const found = liveChild<KubernetesObject>(view, resource, kind, name) ?? unwatched?.get(key)
  const live = (found ?? null) as ChildObject | null
  const object = withMark(wanted, live)
  if (live === null) {
    const action = applied.has(key) ? 'correct' : 'create'
    return { kind, name, action, drift: [], object, live }
  }
  checkOwnership(resource, kind, live)
  const open = unanswered(answers, asKubernetesObject(object), driftOf(object, live))
  const drift = hasUnmanagedItems(live) ? [...open, unfinished] : open
  if (drift.length === 0) return null
  const isSameTarget = markOf(live) === markOf(object)
  return { kind, name, action: isSameTarget ? 'correct' : 'change', drift, object, live }
}

/** Whether it brings back an object that was deleted. */
export function isOfDeleted({ action, live }: Difference): boolean {
  return action === 'correct' && live === null
}

/** Of an object from which an operator that was interrupted did not take all that it meant to. */
const unfinished: Drift = {
  path: `metadata.annotations.${records.unmanagedItems}`,
  live: undefined,
  addition: null,
}

/**
 * Writes one difference, and remembers how it was answered. Returns what was corrected, which may be less than
 * differed: what admission changes stays as it is.
 */
export async function applyDifference(
  parts: ChildParts,
  resource: Resource,
  { answers }: Pick<KnownObjects, 'answers'>,
  difference: Difference,
  signal: AbortSignal,
): Promise<Drift[]> {
  const { api } = parts
  const { kind, name, object, uid } = difference
  const address = { type: builtinTypes[kind], namespace: resource.metadata.namespace, name }
  if (object === null) {
    await ignoreConflict(api.delete(address, { uid, signal }))
    forgetAnswer(answers, childKey(kind, name))
    return []
  }
  const answer = await applyWithoutItems(parts, resource, { ...difference, object }, signal)
  const additions = withoutAdditions(driftOf(object, answer.left))
  const after =
    additions.length === 0
      ? answer.left
      : await api.patch<KubernetesObject>(address, additions, { type: 'json', signal })
  // What came between the two is an edit by somebody else, not what admission makes of each write.
  const drift = inBoth(driftOf(object, answer.applied), driftOf(object, after))
  rememberAnswer(parts, resource, { answers, wanted: asKubernetesObject(object), drift })
  return difference.drift.filter(({ path }) => !drift.some((left) => left.path === path))
}

function inBoth(first: readonly Drift[], second: readonly Drift[]): Drift[] {
  const textOf = ({ path, live }: Drift): string => canonicalJson([path, live])
  const texts = new Set(first.map(textOf))
  return second.filter((one) => texts.has(textOf(one)))
}

interface ApplyAnswer {
  /** What the API server made of what was applied. */
  readonly applied: KubernetesObject
  /** The same after items of others were removed, when somebody else may have written meanwhile. */
  readonly left: KubernetesObject
}

/**
 * Applies an object. Items that others made of ours by editing their keys are removed: after ours
 * are back, since no list may be empty, or before, where both cannot be side by side (two ports of a
 * Service with one name). The only port of a Service is put back as it is.
 */
async function applyWithoutItems(
  parts: ChildParts,
  resource: Resource,
  difference: Difference & { readonly object: ChildObject },
  signal: AbortSignal,
): Promise<ApplyAnswer> {
  const { api } = parts
  const { kind, name, object } = difference
  const before = difference.live as KubernetesObject | null
  const { namespace } = resource.metadata
  const address = { type: builtinTypes[kind], namespace, name }
  const unmanagedItems = before === null ? [] : itemsToRemove(difference, before)
  const apply = (wanted: ChildObject): Promise<KubernetesObject> =>
    api.apply(address.type, asKubernetesObject(wanted), {
      signal,
      onConflict: (conflict) => recordConflict(parts, resource, difference, conflict),
    })
  const remove = async (from: KubernetesObject): Promise<KubernetesObject> => {
    const operations = removalsOf(from, unmanagedItems)
    return operations.length === 0
      ? from
      : await api.patch(address, operations, { type: 'json', signal })
  }
  try {
    const applied = await apply(annotated(object, unmanagedAnnotations(unmanagedItems)))
    return { applied, left: await remove(applied) }
  } catch (error) {
    const isInTheWay = unmanagedItems.length > 0 && hasCode(error, 'OPERATOR_API_INVALID')
    if (!isInTheWay || before === null) throw error
    await remove(before).catch(async (refusal: unknown) => {
      if (kind !== 'Service' || !hasCode(refusal, 'OPERATOR_API_INVALID')) throw refusal
      const ports = (object as V1Service).spec?.ports
      return await api.patch(address, { spec: { ports } }, { type: 'merge', signal })
    })
    const applied = await apply(object)
    return { applied, left: applied }
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

/** Looks for objects that are not among the watched ones, which may belong to others, or have other labels. */
export async function findUnwatched(
  { api, view }: Pick<ChildParts, 'api'> & LiveObjects,
  resource: Resource,
  wanted: readonly ChildObject[],
  signal: AbortSignal,
): Promise<Unwatched> {
  const { namespace } = resource.metadata
  const find = async (object: ChildObject): Promise<[string, KubernetesObject][]> => {
    const { kind, name } = identify(object)
    if (view.children[kind].get(namespace, name) !== undefined) return []
    const address = { type: builtinTypes[kind], namespace, name }
    const live = await api.find<KubernetesObject>(address, { signal })
    return live === null ? [] : [[childKey(kind, name), live]]
  }
  return new Map((await Promise.all(wanted.map(find))).flat())
}

/** Claim templates cannot be changed, so a StatefulSet that is there keeps those it has. */
function withLiveTemplates(object: ChildObject, live: ChildObject | null): ChildObject {
  const { volumeClaimTemplates } = (live as V1StatefulSet | null)?.spec ?? {}
  const { spec } = object as V1StatefulSet
  if (volumeClaimTemplates === undefined || spec === undefined) return object
  return { ...object, spec: { ...spec, volumeClaimTemplates } }
}

/** Objects that earlier specs wanted: they have names of ours, and belong to this very resource. */
function leftovers(
  view: ClusterView,
  resource: Workload,
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
    const live = liveChild<ChildObject>(view, resource, kind, name)
    return [{ kind, name, action: 'delete', drift: [], object: null, live, uid: cached.uid }]
  })
}

/** What a spec can do without. */
function possibleNames(resource: Workload): [ChildKind, string][] {
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
  return withLiveTemplates(annotated(object, { [records.applied]: mark }), live)
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
