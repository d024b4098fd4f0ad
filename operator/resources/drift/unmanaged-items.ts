/**
 * Unmanaged items: those that others made of ours. Server-side apply knows the items of many lists by a key; an edit
 * of the key turns our item into another one, and ours comes back beside it: an environment variable of another
 * name, a second container. Items that others merely added are not meant; they are left alone.
 *
 * Once ours is back the two cannot be distinguished, so the object itself records which items are to be removed until
 * they are: the successor of an operator that was interrupted there goes on.
 */
import { records } from '../../api/annotations.ts'
import { keysOf } from '../names/list-keys.ts'
import { fieldOf, fieldsOf, parseFields } from '../names/unchecked-json.ts'
import type { PatchOperation } from '../secrets/keyring-secret.ts'

/** Steps to an item: names of fields, and keys with their values in lists. */
type Step = string | Item
interface Item {
  readonly key: string
  readonly value: unknown
}
export interface UnmanagedItem {
  /** Where its list is, from the outside inwards. */
  readonly list: readonly Step[]
  readonly item: Item
}

interface Annotated {
  readonly metadata?: {
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** Items in lists of the live object that lack one of ours. */
export function unmanagedItemsOf(
  wanted: unknown,
  live: unknown,
  path: readonly Step[] = [],
): UnmanagedItem[] {
  if (Array.isArray(wanted)) return Array.isArray(live) ? inList(wanted, live, path) : []
  if (!isObject(wanted)) return []
  return Object.entries(wanted).flatMap(([name, value]) =>
    unmanagedItemsOf(value, fieldOf(live, name), [...path, name]),
  )
}

function inList(
  wanted: readonly unknown[],
  live: readonly unknown[],
  path: readonly Step[],
): UnmanagedItem[] {
  const [key] = keysOf(String(path.at(-1) ?? ''), wanted) ?? []
  if (key === undefined) return []
  const has = (items: readonly unknown[], value: unknown): boolean =>
    items.some((item) => fieldOf(item, key) === value)
  const isOneMissing = wanted.some((item) => !has(live, fieldOf(item, key)))
  const foreign = live.map((item) => fieldOf(item, key)).filter((value) => !has(wanted, value))
  const below = wanted.flatMap((item) => {
    const value = fieldOf(item, key)
    const other = live.find((found) => fieldOf(found, key) === value)
    return unmanagedItemsOf(item, other, [...path, { key, value }])
  })
  const ofThis = foreign.map((value): UnmanagedItem => ({ list: path, item: { key, value } }))
  return [...(isOneMissing ? ofThis : []), ...below]
}

/** The annotation by which an object records which items are to be removed; none where there are none. */
export function unmanagedAnnotations(
  unmanagedItems: readonly UnmanagedItem[],
): Record<string, string> {
  return unmanagedItems.length === 0
    ? {}
    : { [records.unmanagedItems]: JSON.stringify(unmanagedItems) }
}

/** Whether an interrupted operator left items that are to be removed. */
export function hasUnmanagedItems({ metadata }: Annotated): boolean {
  return metadata?.annotations?.[records.unmanagedItems] !== undefined
}

/** Which those are; none where the annotation is missing or was edited into something else. */
export function recordedUnmanagedItems({ metadata }: Annotated): UnmanagedItem[] {
  const recorded = parseFields(metadata?.annotations?.[records.unmanagedItems] ?? '')
  return Object.values(recorded).flatMap((value): UnmanagedItem[] => {
    const { list, item } = fieldsOf(value)
    return Array.isArray(list) && list.every(isStep) && isItem(item) ? [{ list, item }] : []
  })
}

function isStep(value: unknown): value is Step {
  return typeof value === 'string' || isItem(value)
}

function isItem(value: unknown): value is Item {
  return typeof fieldsOf(value)['key'] === 'string'
}

/**
 * Operations that take these items, and the record of them, out of an object, each item only where it still is
 * in its place. The version of the object is not asked for: its status changes all the time.
 */
export function removalsOf(
  live: Annotated,
  unmanagedItems: readonly UnmanagedItem[],
): PatchOperation[] {
  const found = new Map<string, Item>()
  for (const { list, item } of unmanagedItems) {
    const path = pointerTo(live, [...list, item])
    if (path !== null) found.set(path, item)
  }
  const record = pointerTo(live, ['metadata', 'annotations', records.unmanagedItems])
  // From the end, so that places stay what they are.
  const paths = [...found.keys()].toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return [
    ...[...found].map(
      ([path, { key, value }]): PatchOperation => ({ op: 'test', path: `${path}/${key}`, value }),
    ),
    ...[...paths, ...(record === null ? [] : [record])].map(
      (path): PatchOperation => ({ op: 'remove', path }),
    ),
  ]
}

/** The JSON pointer (RFC 6901) to an item; null where it is not there. */
function pointerTo(live: unknown, steps: readonly Step[]): string | null {
  let found = live
  let pointer = ''
  for (const step of steps) {
    const place = placeOf(found, step)
    if (place === null) return null
    found = fieldOf(found, place)
    pointer += `/${place.replaceAll('~', '~0').replaceAll('/', '~1')}`
  }
  return pointer
}

function placeOf(live: unknown, step: Step): string | null {
  if (typeof step === 'string') return fieldOf(live, step) === undefined ? null : step
  if (!Array.isArray(live)) return null
  const index = live.findIndex((item) => fieldOf(item, step.key) === step.value)
  return index < 0 ? null : String(index)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
