/**
 * Items that somebody made of ours. Server-side apply knows the items of many lists by a key; who edits
 * the key makes another item of ours, and ours comes back beside it: an environment variable of another
 * name, a second container. Items that others merely added are not meant; they are left alone.
 */

import { keyOf } from './drift.ts'
import type { PatchOperation } from './keyring-secret.ts'

/** Steps to an item: names of fields, and keys with their values in lists. */
type Step = string | Item
interface Item {
  readonly key: string
  readonly value: unknown
}
interface Stranger {
  /** Where its list is, from the outside inwards. */
  readonly list: readonly Step[]
  readonly item: Item
}

/** Items in lists of the live object that lack one of ours. */
export function strangersOf(
  wanted: unknown,
  live: unknown,
  path: readonly Step[] = [],
): Stranger[] {
  if (Array.isArray(wanted)) return Array.isArray(live) ? inList(wanted, live, path) : []
  if (!isObject(wanted) || !isObject(live)) return []
  return Object.entries(wanted).flatMap(([name, value]) =>
    strangersOf(value, fieldOf(live, name), [...path, name]),
  )
}

function inList(
  wanted: readonly unknown[],
  live: readonly unknown[],
  path: readonly Step[],
): Stranger[] {
  const key = keyOf(String(path.at(-1) ?? ''), wanted)
  if (key === undefined) return []
  const has = (items: readonly unknown[], value: unknown): boolean =>
    items.some((item) => fieldOf(item, key) === value)
  const isOneMissing = wanted.some((item) => !has(live, fieldOf(item, key)))
  const foreign = live.map((item) => fieldOf(item, key)).filter((value) => !has(wanted, value))
  const below = wanted.flatMap((item) => {
    const value = fieldOf(item, key)
    const other = live.find((found) => fieldOf(found, key) === value)
    return strangersOf(item, other, [...path, { key, value }])
  })
  const ofThis = foreign.map((value): Stranger => ({ list: path, item: { key, value } }))
  return [...(isOneMissing ? ofThis : []), ...below]
}

/**
 * Operations that take these items out of an object, each only where it still is in its place. The
 * version of the object is not asked for: its status changes all the time.
 */
export function removalsOf(live: object, strangers: readonly Stranger[]): PatchOperation[] {
  const found = strangers.flatMap(({ list, item }) => {
    const path = pointerTo(live, [...list, item])
    return path === null ? [] : [{ path, item }]
  })
  return [
    ...found.map(
      ({ path, item }): PatchOperation => ({
        op: 'test',
        path: `${path}/${item.key}`,
        value: item.value,
      }),
    ),
    ...found.toReversed().map(({ path }): PatchOperation => ({ op: 'remove', path })),
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

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? Object.entries(value).find(([found]) => found === name)?.[1] : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
