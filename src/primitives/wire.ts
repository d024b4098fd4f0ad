/**
 * Items of peers' messages, read with bounds: what is missing, too long or not canonical is
 * `PRIMITIVES_MESSAGE_MALFORMED`. Hashes, keys and signatures are hex in memory and bytes on the wire.
 */
import { ServiceError } from '../errors.ts'
import { maxInt } from './bounds.ts'
import {
  type ByteReader,
  type ByteWriter,
  createByteReader,
  major,
  readBytes,
  readHead,
  readText,
  simple,
  skipSimple,
  writeBytes,
  writeHead,
} from './cbor.ts'

const hashBytes = 32
const maxNetworkLength = 130

/**
 * Reads a whole message; nothing may follow it.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`.
 */
export function readMessage<T>(
  bytes: Uint8Array,
  maxBytes: number,
  read: (reader: ByteReader) => T,
): T {
  if (bytes.length > maxBytes) throw malformedMessage('it is longer than the limit')
  const reader = createByteReader(bytes)
  const message = read(reader)
  if (reader.at !== reader.end) throw malformedMessage('something follows its end')
  return message
}

/** The error for bytes of a peer; `why` continues "A message cannot be read: ". */
export function malformedMessage(why: string): ServiceError {
  return new ServiceError('PRIMITIVES_MESSAGE_MALFORMED', `A message cannot be read: ${why}`, {
    facts: { why },
    remedy: 'Nothing to do here; the peer that sent it loses score.',
  })
}

/** Reads the head of an array and returns its length, `least` to `most`. */
export function readLength(reader: ByteReader, what: string, least: number, most: number): number {
  const length = readHead(reader, major.array)
  if (length < least || length > most) throw malformedMessage(`${what} has a wrong length`)
  return length
}

/** Reads an array of at most `most` items. */
export function readList<T>(
  reader: ByteReader,
  what: string,
  most: number,
  readItem: (reader: ByteReader) => T,
): T[] {
  const length = readLength(reader, what, 0, most)
  const items: T[] = []
  for (let index = 0; index < length; index++) items.push(readItem(reader))
  return items
}

/** Reads an item that can have one head only. */
export function expectHead(reader: ByteReader, kind: number, value: number): void {
  if (readHead(reader, kind) !== value) throw malformedMessage('its form is unknown')
}

export function readInteger(reader: ByteReader, what: string, most: number): number {
  const value = readHead(reader, major.int)
  if (value < 0 || value > most) throw malformedMessage(`${what} is unreadable or too large`)
  return value
}

export function readHeight(reader: ByteReader): number {
  return readInteger(reader, 'a height', maxInt)
}

/** Reads true or false. */
export function readBoolean(reader: ByteReader): boolean {
  if (skipSimple(reader, simple.true)) return true
  if (skipSimple(reader, simple.false)) return false
  throw malformedMessage('a truth value is unreadable')
}

/** Reads bytes of `least` to `most` as hex without 0x. */
export function readHexBytes(
  reader: ByteReader,
  what: string,
  least: number,
  most: number,
): string {
  const bytes = present(readBytes(reader), what)
  if (bytes.length < least || bytes.length > most)
    throw malformedMessage(`${what} has a wrong length`)
  return bytes.toString('hex')
}

export function writeHexBytes(out: ByteWriter, hex: string): void {
  writeBytes(out, Buffer.from(hex, 'hex'))
}

/** Reads 32 bytes as 0x-prefixed hex. */
export function readHash(reader: ByteReader, what: string): string {
  return `0x${readHexBytes(reader, what, hashBytes, hashBytes)}`
}

/** Writes 0x-prefixed hex as bytes. */
export function writeHash(out: ByteWriter, hash: string): void {
  writeHexBytes(out, hash.slice(2))
}

/** Reads 32 bytes as hex without 0x. */
export function readRoot(reader: ByteReader): string {
  return readHexBytes(reader, 'a root', hashBytes, hashBytes)
}

/** Reads a prefix such as `Ethereum__Mainnet`. */
export function readNetwork(reader: ByteReader): string {
  return readShortText(reader, 'a network', maxNetworkLength)
}

/** Reads text of at most `most` characters. */
export function readShortText(reader: ByteReader, what: string, most: number): string {
  const text = present(readText(reader), what)
  if (text.length > most) throw malformedMessage(`${what} is too long`)
  return text
}

/** Writes an array by its items. */
export function writeList<T>(
  out: ByteWriter,
  items: readonly T[],
  writeItem: (out: ByteWriter, item: T) => void,
): void {
  writeHead(out, major.array, items.length)
  for (const item of items) writeItem(out, item)
}

export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw malformedMessage(`${what} is unreadable`)
  return value
}
