/**
 * JSON as most programs write it: compact, ASCII without escapes, whole numbers of at most 15 digits. A way is found
 * through such text without making a value of anything in it; all other text is left to `JSON.parse`.
 */

/**
 * A text, and places in it: `placesEach` numbers for each entry of an object and each item of a list, in their order, those
 * within a value following the entry or item that it is of.
 */
export interface PlainJson {
  bytes: Uint8Array
  /**
   * Where the entry or item begins, where its value begins, and where both end, in the text; then where in these places
   * the next one is that is not within its value.
   */
  readonly places: Int32Array
  /** Where the places of the text end. */
  top: number
}

/** Numbers for each entry or item. */
export const placesEach = 4
/** Entries and items of a text: one with more is not plain. */
const maxPlaces = 16_384
/** Objects and lists in one another: a text with more is not plain. */
export const maxPlainDepth = 16
/** A whole number of so many digits is safe. */
const maxDigits = 15

export const quote = 0x22
export const openList = 0x5b
export const openObject = 0x7b
export const zero = 0x30
const closeList = 0x5d
const closeObject = 0x7d
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d

const words = { f: Buffer.from('false'), n: Buffer.from('null'), t: Buffer.from('true') } as const
/** 1 for the bytes of a text that stand for themselves. */
const plainBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== quote && byte !== 0x5c ? 1 : 0,
)

/** Of all texts: one is gone through at a time. */
const places = new Int32Array(placesEach * maxPlaces)

/** Where the entry or item begins that has its places at `place`. */
export function startOf(json: PlainJson, place: number): number {
  return numberAt(json, place)
}

/** Where its value begins. */
export function valueStartOf(json: PlainJson, place: number): number {
  return numberAt(json, place + 1)
}

/** Where it ends, and its value with it. */
export function valueEndOf(json: PlainJson, place: number): number {
  return numberAt(json, place + 2)
}

/** Where the places are of what follows it. */
export function nextOf(json: PlainJson, place: number): number {
  return numberAt(json, place + 3)
}

function numberAt({ places }: PlainJson, at: number): number {
  return places[at] ?? 0
}

/** Before the first text. */
export function createPlainJson(): PlainJson {
  return { bytes: new Uint8Array(), places, top: 0 }
}

/** Finds the places of a text; false where it is no plain object. */
export function readPlainObject(json: PlainJson, bytes: Uint8Array): boolean {
  json.bytes = bytes
  json.top = 0
  return bytes[0] === openObject && skipNested(json, 0, maxPlainDepth) === bytes.length
}

/** Adds the places of the object or list that begins at `at`; returns where it ends, -1 where it is not plain. */
function skipNested(json: PlainJson, at: number, depth: number): number {
  const { bytes, places } = json
  const isObject = bytes[at] === openObject
  const close = isObject ? closeObject : closeList
  let next = at + 1
  if (bytes[next] === close) return next + 1
  while (depth > 0 && json.top < places.length) {
    const place = json.top
    json.top += placesEach
    const start = next
    if (isObject) next = skipKey(bytes, start)
    const value = next
    if (value > 0) next = skipValue(json, value, depth - 1)
    if (next < 0) return -1
    places[place] = start
    places[place + 1] = value
    places[place + 2] = next
    places[place + 3] = json.top
    if (bytes[next] !== comma) return bytes[next] === close ? next + 1 : -1
    next += 1
  }
  return -1
}

/** Where the value ends that begins at `at`; -1 where it is not plain. */
function skipValue(json: PlainJson, at: number, depth: number): number {
  const { bytes } = json
  switch (bytes[at]) {
    case quote:
      return skipText(bytes, at)
    case openObject:
    case openList:
      return skipNested(json, at, depth)
    case words.f[0]:
      return skipWord(bytes, at, words.f)
    case words.n[0]:
      return skipWord(bytes, at, words.n)
    case words.t[0]:
      return skipWord(bytes, at, words.t)
    default:
      return skipNumber(bytes, at)
  }
}

function skipKey(bytes: Uint8Array, at: number): number {
  const end = bytes[at] === quote ? skipText(bytes, at) : -1
  return end > 0 && bytes[end] === colon ? end + 1 : -1
}

function skipText(bytes: Uint8Array, at: number): number {
  let next = at + 1
  while (plainBytes[bytes[next] ?? 0] === 1) next += 1
  return bytes[next] === quote ? next + 1 : -1
}

function skipWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let index = 1; index < word.length; index++) if (bytes[at + index] !== word[index]) return -1
  return at + word.length
}

/** There is no number with a zero in front, and no negative zero. */
function skipNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at] === minus ? at + 1 : at
  let next = first
  while (isDigit(bytes[next])) next += 1
  const digits = next - first
  if (digits === 0 || digits > maxDigits) return -1
  return bytes[first] === zero && next > at + 1 ? -1 : next
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte < zero + 10
}

/** Whether the plain value that begins with this byte is a number. */
export function isNumber(byte: number | undefined): boolean {
  return byte === minus || isDigit(byte)
}

/** The number between two places. */
export function numberBetween(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === minus
  let value = 0
  for (let at = isNegative ? start + 1 : start; at < end; at++)
    value = value * 10 + (bytes[at] ?? zero) - zero
  return isNegative ? -value : value
}
