/**
 * Merges a user's pod template over ours as `kubectl patch` merges strategically: objects field by
 * field, lists whose items have keys item by item, every other list as a whole; null takes a field away.
 */
import { hasSameKeys, keysOf } from '../names/list-keys.ts'
import { isPlainObject } from '../names/unchecked-json.ts'

/** The base with the patch over it; neither is changed. New items of a list come last. */
export function mergeStrategically<T extends object>(base: T, patch: object): T {
  const result: Record<string, unknown> = Object.fromEntries(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else if (value !== undefined) result[name] = mergeField(name, result[name], value)
  }
  return result as T
}

function mergeField(name: string, before: unknown, value: unknown): unknown {
  if (Array.isArray(value)) {
    const keys = keysOf(name, value)
    return keys === undefined ? value : mergeItems(keys, Array.isArray(before) ? before : [], value)
  }
  if (!isPlainObject(value)) return value
  return mergeStrategically(isPlainObject(before) ? before : {}, value)
}

/** Each item takes in one of the patch at most: two of the patch with one key are for the API server to validate. */
function mergeItems(
  keys: readonly string[],
  before: readonly unknown[],
  patch: readonly unknown[],
): unknown[] {
  const left = [...patch]
  const items = before.map((item) => {
    const index = left.findIndex((entry) => hasSameKeys(keys, item, entry))
    return index < 0 ? item : mergeItem(item, left.splice(index, 1)[0])
  })
  return [...items, ...left.map((entry) => mergeItem({}, entry))]
}

function mergeItem(item: unknown, entry: unknown): unknown {
  return isPlainObject(entry) ? mergeStrategically(isPlainObject(item) ? item : {}, entry) : entry
}
