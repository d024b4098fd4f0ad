/**
 * What of a lens' output becomes a row: a value for each field of the View's type, in its order. All limits here are part
 * of what a lens can see, so they never change without a new version of the runtime.
 */
import { rowLimitError, rowLimits } from './row-limits.ts'
import type { RowScalar, RowType } from './row-type.ts'

/** Anything that JSON can say. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

/** A row's values in the order of the SDL's fields. A `BigInt` is decimal text; what is missing is null. */
interface Row {
  readonly values: readonly JsonValue[]
  /** Values that were not of the SDL's type and became null. */
  readonly mismatches: number
}

/** Characters of a `BigInt` as text. */
export const maxBigIntCharacters: number = 100
/** Arrays and objects around a value of a `JSON` field, its own included. */
export const maxJsonDepth: number = 64

const wholeNumber = /^(?:-?[0-9]+|0x[0-9a-f]+)$/i

/**
 * Turns one document of the last lens into a row. Fields that the SDL does not have are left out.
 * @throws ServiceError `LENS_OUTPUT_LIMIT` beyond `rowLimits.rowItems`.
 */
export function toRow(
  { fields }: Pick<RowType, 'fields'>,
  document: Readonly<Record<string, unknown>>,
): Row {
  let mismatches = 0
  const count = createItemCount()
  const convert = (scalar: RowScalar, value: unknown): JsonValue => {
    if (value === undefined || value === null) return null
    const converted = convertScalar(scalar, value, count)
    if (converted === undefined) mismatches += 1
    return converted ?? null
  }
  const fieldValue = ({ name, scalar, list }: RowType['fields'][number]): JsonValue => {
    const value = Object.hasOwn(document, name) ? document[name] : null
    if (!list || value === null) return convert(scalar, value)
    if (Array.isArray(value)) return value.map((item) => convert(scalar, count(item)))
    mismatches += 1
    return null
  }
  const values = fields.map(fieldValue)
  return { values, mismatches }
}

/** Counts an item or a property and returns it as it is. */
type ItemCount = (item: unknown) => unknown

function createItemCount(): ItemCount {
  let items = 0
  return (item) => {
    items += 1
    if (items <= rowLimits.rowItems) return item
    throw rowLimitError(
      `a row has more than ${rowLimits.rowItems} items and properties in its values`,
      'Let the View return several rows, or shorter lists.',
    )
  }
}

/** The value as a row holds it; undefined where it is of another type. */
function convertScalar(scalar: RowScalar, value: unknown, count: ItemCount): JsonValue | undefined {
  switch (scalar) {
    case 'String':
      return typeof value === 'string' ? value.toWellFormed() : undefined
    case 'ID':
      if (Number.isSafeInteger(value)) return String(value)
      return typeof value === 'string' ? value.toWellFormed() : undefined
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'Int':
      return Number.isSafeInteger(value) ? toNumber(value) : undefined
    case 'Float':
      return Number.isFinite(value) ? toNumber(value) : undefined
    case 'BigInt':
      return toWholeNumber(value)
    case 'JSON':
      return toJson(value, maxJsonDepth, count)
  }
}

/** There is one zero. */
function toNumber(value: unknown): number {
  return Number(value) + 0
}

function toWholeNumber(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value.length > maxBigIntCharacters) return undefined
  return wholeNumber.test(value) ? BigInt(value).toString() : undefined
}

/** JSON as it is kept: well-formed text, one zero, no property that has no value. Nearly all is so, and no copy of it is made. */
function toJson(value: unknown, depth: number, count: ItemCount): JsonValue | undefined {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return Number.isFinite(value) ? toNumber(value) : undefined
  if (typeof value !== 'object' || depth === 0) return undefined
  return Array.isArray(value) ? toJsonList(value, depth, count) : toJsonObject(value, depth, count)
}

function toJsonList(
  list: readonly unknown[],
  depth: number,
  count: ItemCount,
): JsonValue | undefined {
  let changed: JsonValue[] | null = null
  for (const [index, item] of list.entries()) {
    const kept = toJson(count(item), depth - 1, count)
    if (kept === undefined) return undefined
    if (changed === null && !Object.is(kept, item)) changed = list.slice(0, index) as JsonValue[]
    changed?.push(kept)
  }
  return changed ?? (list as readonly JsonValue[])
}

function toJsonObject(object: object, depth: number, count: ItemCount): JsonValue | undefined {
  const entries = Object.entries(object)
  let changed: { [key: string]: JsonValue } | null = null
  for (const [index, [name, value]] of entries.entries()) {
    const key = name.toWellFormed()
    const kept = toJson(count(value), depth - 1, count)
    if (kept === undefined) return undefined
    if (changed === null && (key !== name || !Object.is(kept, value)))
      changed = Object.fromEntries(entries.slice(0, index))
    if (changed !== null) setOwn(changed, key, kept)
  }
  return changed ?? (object as { readonly [key: string]: JsonValue })
}

/** Assigning to the name of the prototype would set that. */
function setOwn(object: { [key: string]: JsonValue }, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true })
}
