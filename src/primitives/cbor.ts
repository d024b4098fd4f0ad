/**
 * The few pieces of canonical DAG-CBOR that documents and envelopes are made of: shortest heads,
 * byte strings, text, arrays, null and booleans (https://ipld.io/specs/codecs/dag-cbor/spec).
 * Reading never throws: a negative result means "not canonical", and the caller says what that means.
 */
import { constants } from 'node:buffer'
import { invariant } from '../errors.ts'

/** Major types of the items we use, shifted to where they stand in a head byte. */
export const major = { int: 0x00, bytes: 0x40, text: 0x60, array: 0x80 } as const

/** One-byte items. */
export const simple = { false: 0xf4, true: 0xf5, null: 0xf6 } as const

const twoTo32 = 2 ** 32
/** Stands for what is no hex digit: all bits, so that digits beside it change nothing. */
const noDigit = 0xff
const hexDigits = hexDigitTable()
/** Up to this many characters a loop is faster than native decoding. */
const shortHexLength = 258
/** Characters of short hex as bytes; UTF-8 takes up to three for each. */
const characters = Buffer.allocUnsafeSlow(3 * shortHexLength)

/** A buffer that grows as it is written. */
export interface ByteWriter {
  bytes: Buffer
  /** Where the next byte goes. */
  at: number
}

/** An empty writer; the buffer grows when needed. */
export function createByteWriter(capacity: number = 256): ByteWriter {
  return { bytes: Buffer.allocUnsafeSlow(capacity), at: 0 }
}

/** Makes room for `count` more bytes. */
export function reserve(out: ByteWriter, count: number): void {
  const needed = out.at + count
  if (needed <= out.bytes.length) return
  invariant(needed <= constants.MAX_LENGTH, 'a block fits into one buffer')
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, out.bytes.length * 2))
  out.bytes.copy(grown, 0, 0, out.at)
  out.bytes = grown
}

/** Writes the head of an item in its shortest form; `value` is a safe integer >= 0. */
export function writeHead(out: ByteWriter, kind: number, value: number): void {
  reserve(out, 9)
  out.at = putHead(out.bytes, out.at, kind, value)
}

/** Writes a head at `at` of a buffer that has room for 9 bytes; returns where it ends. */
export function putHead(bytes: Buffer, at: number, kind: number, value: number): number {
  if (value < 24) {
    bytes[at] = kind | value
    return at + 1
  }
  if (value < 0x100) {
    bytes[at] = kind | 24
    bytes[at + 1] = value
    return at + 2
  }
  if (value < 0x10000) {
    bytes[at] = kind | 25
    bytes[at + 1] = value >>> 8
    bytes[at + 2] = value
    return at + 3
  }
  return putLongHead(bytes, at, kind, value)
}

function putLongHead(bytes: Buffer, at: number, kind: number, value: number): number {
  if (value < twoTo32) {
    bytes[at] = kind | 26
    return bytes.writeUInt32BE(value, at + 1)
  }
  bytes[at] = kind | 27
  bytes.writeUInt32BE(Math.floor(value / twoTo32), at + 1)
  return bytes.writeUInt32BE(value % twoTo32, at + 5)
}

/** Writes a one-byte item out of `simple`. */
export function writeSimple(out: ByteWriter, item: number): void {
  reserve(out, 1)
  out.bytes[out.at++] = item
}

/** Writes a byte string. */
export function writeBytes(out: ByteWriter, bytes: Uint8Array): void {
  writeHead(out, major.bytes, bytes.length)
  reserve(out, bytes.length)
  out.bytes.set(bytes, out.at)
  out.at += bytes.length
}

/** Characters up to which writing them one by one is faster than asking for it. */
const shortText = 48

/** Writes text as UTF-8. */
export function writeText(out: ByteWriter, text: string): void {
  if (text.length <= shortText && writeShortText(out, text)) return
  const length = Buffer.byteLength(text)
  writeHead(out, major.text, length)
  reserve(out, length)
  out.at += out.bytes.write(text, out.at)
}

/** False where a character is not ASCII; nothing is written then. */
function writeShortText(out: ByteWriter, text: string): boolean {
  const { length } = text
  reserve(out, length + 9)
  const { bytes } = out
  const start = putHead(bytes, out.at, major.text, length)
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return false
    bytes[start + index] = code
  }
  out.at = start + length
  return true
}

/**
 * Writes the digits of `text` from `from` on, which ASCII precedes, as a byte string; an odd number
 * of digits counts as having a zero in front. False when a character is not a hex digit.
 */
export function writeHex(out: ByteWriter, text: string, from: number): boolean {
  const digits = text.length - from
  const length = (digits + 1) >>> 1
  reserve(out, length + 9)
  const at = putHead(out.bytes, out.at, major.bytes, length)
  out.at = at + length
  if (text.length <= shortHexLength) return putDigits(out.bytes, at, text, from)
  const whole = `${digits % 2 === 1 ? '0' : ''}${text.slice(from)}`
  return isAscii(text) && out.bytes.write(whole, at, length, 'hex') === length
}

/** Native decoding reads the low byte of each character only, and takes U+0661 for an `a`. */
function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

/** What is not ASCII becomes bytes that are no digits either. */
function putDigits(bytes: Buffer, start: number, text: string, from: number): boolean {
  const end = characters.write(text)
  let at = start
  let index = from
  let seen = 0
  if ((text.length - from) % 2 === 1) {
    seen |= digitAt(index++)
    bytes[at++] = seen
  }
  for (; index < end; index += 2) {
    const high = digitAt(index)
    const low = digitAt(index + 1)
    seen |= high | low
    bytes[at++] = (high << 4) | low
  }
  return seen !== noDigit
}

function digitAt(index: number): number {
  return hexDigits[characters[index] ?? 0] ?? noDigit
}

function hexDigitTable(): Uint8Array {
  const table = new Uint8Array(256).fill(noDigit)
  for (const [digit, character] of [...'0123456789abcdef'].entries()) {
    table[character.charCodeAt(0)] = digit
    table[character.toUpperCase().charCodeAt(0)] = digit
  }
  return table
}

/** A place in bytes that are being read; nothing at or after `end` is touched. */
export interface ByteReader {
  readonly bytes: Buffer
  at: number
  readonly end: number
}

/** A reader over `bytes`, which it does not copy. */
export function createByteReader(
  bytes: Uint8Array,
  from: number = 0,
  end: number = bytes.length,
): ByteReader {
  return { bytes: asBuffer(bytes), at: from, end }
}

/** The same memory as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** No item begins with it. */
const noHead = 0xff

/** The first byte of the next item; at the end 0xff, with which none begins. */
export function headAt({ bytes, at, end }: ByteReader): number {
  return at < end ? (bytes[at] ?? noHead) : noHead
}

/** Skips a one-byte item out of `simple`; false where another item stands, or none. */
export function skipSimple(reader: ByteReader, item: number): boolean {
  if (headAt(reader) !== item) return false
  reader.at += 1
  return true
}

/** Skips null; false for anything else. */
export function skipNull(reader: ByteReader): boolean {
  return skipSimple(reader, simple.null)
}

/** Skips true or false; false for anything else. */
export function skipBoolean(reader: ByteReader): boolean {
  return skipSimple(reader, simple.true) || skipSimple(reader, simple.false)
}

/**
 * Reads a head of the given kind: its value (a count, a length or the integer itself), or -1 when
 * another kind stands there, the head is longer than needed, cut off, or beyond 2^53 - 1.
 */
export function readHead(reader: ByteReader, kind: number): number {
  const { bytes, at, end } = reader
  if (at >= end) return -1
  const short = (bytes[at] ?? 0) - kind
  if (short < 0 || short > 27) return -1
  if (short < 24) {
    reader.at = at + 1
    return short
  }
  const size = 1 << (short - 24)
  if (at + 1 + size > end) return -1
  reader.at = at + 1 + size
  return readArgument(bytes, at + 1, size)
}

function readArgument(bytes: Buffer, at: number, size: number): number {
  if (size === 1) return atLeast(bytes[at] ?? 0, 24)
  if (size === 2) return atLeast(((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0), 0x100)
  const high = bytes.readUInt32BE(at)
  if (size === 4) return atLeast(high, 0x10000)
  const value = high * twoTo32 + bytes.readUInt32BE(at + 4)
  return value <= Number.MAX_SAFE_INTEGER ? atLeast(value, twoTo32) : -1
}

function atLeast(value: number, least: number): number {
  return value >= least ? value : -1
}

/** Skips the content of a byte string or text: its length, or -1 when it is not there in whole. */
export function skipString(reader: ByteReader, kind: number): number {
  const length = readHead(reader, kind)
  if (length < 0 || length > reader.end - reader.at) return -1
  reader.at += length
  return length
}

/** Reads a byte string without copying it; undefined when it is not one in canonical form. */
export function readBytes(reader: ByteReader): Buffer | undefined {
  const length = skipString(reader, major.bytes)
  return length < 0 ? undefined : reader.bytes.subarray(reader.at - length, reader.at)
}

/** Reads text; undefined when it is not valid UTF-8 in canonical form. */
export function readText(reader: ByteReader): string | undefined {
  const length = skipString(reader, major.text)
  return length < 0 ? undefined : utf8Text(reader.bytes, reader.at - length, reader.at)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text between two places, or undefined when it is not UTF-8. */
function utf8Text(bytes: Buffer, from: number, end: number): string | undefined {
  try {
    return utf8.decode(bytes.subarray(from, end))
  } catch {
    return undefined
  }
}

/** Skips text and checks that it is valid UTF-8. */
export function skipText(reader: ByteReader): boolean {
  const length = skipString(reader, major.text)
  if (length < 0) return false
  for (let at = reader.at - length; at < reader.at; at++) {
    if ((reader.bytes[at] ?? 0) < 0x80) continue
    return utf8Text(reader.bytes, at, reader.at) !== undefined
  }
  return true
}
