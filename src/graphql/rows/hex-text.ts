/** Hex that lenses write into rows, in lower case or upper. */
import type { JsonValue } from '../../views/rows/row-values.ts'

const hexText = /^0x[0-9a-f]*$/i

/** Hex of any case, which is compared in lower case. */
export function isHexText(value: JsonValue): value is string {
  return typeof value === 'string' && hexText.test(value)
}

/** Hex in lower case; all else as it is. */
export function hexLowered<T extends JsonValue>(value: T): T | string {
  return isHexText(value) ? value.toLowerCase() : value
}
