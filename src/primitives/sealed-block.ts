/**
 * What travels between nodes: one block's seals, with its body or without. Canonical DAG-CBOR of
 * `[1, [seal, ...], body or null]`, a seal being `[network, number, block hash, root, count,
 * signature type, identity, signature, created at]` with hex as bytes.
 */
import { ServiceError } from '../errors.ts'
import {
  type ByteReader,
  type ByteWriter,
  createReader,
  createWriter,
  major,
  readBytes,
  readHead,
  readText,
  simple,
  writeBytes,
  writeHead,
  writeSimple,
  writeText,
} from './cbor.ts'
import type { Seal, SignatureType } from './seal.ts'

const version = 1
const sealItems = 9
const hashBytes = 32
const maxNetworkLength = 130
const maxSignatureBytes = 80
const identityBytes: Readonly<Record<SignatureType, number>> = { ES256K: 33, Ed25519: 32 }
const timePattern = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** What a message may hold. */
export interface SealedBlockLimits {
  /** Bytes of the whole message. Default 32 MiB. */
  readonly maxBytes: number
  /** Seals of one block. Default 64. */
  readonly maxSeals: number
}

const defaultLimits: SealedBlockLimits = { maxBytes: 32 * 1024 * 1024, maxSeals: 64 }

/** A message taken apart; `body` is a part of the message's memory. */
export interface SealedBlock {
  /** At least one. */
  readonly seals: Seal[]
  readonly body: Uint8Array | null
}

/** The message for a block's seals and, unless null, its body. */
export function encodeSealedBlock(seals: readonly Seal[], body: Uint8Array | null): Uint8Array {
  const out = createWriter(512 * (seals.length + 1) + (body?.length ?? 0))
  writeHead(out, major.array, 3)
  writeHead(out, major.int, version)
  writeHead(out, major.array, seals.length)
  for (const seal of seals) writeSeal(out, seal)
  if (body === null) writeSimple(out, simple.null)
  else writeBytes(out, body)
  return out.bytes.subarray(0, out.at)
}

function writeSeal(out: ByteWriter, seal: Seal): void {
  writeHead(out, major.array, sealItems)
  writeText(out, seal.network)
  writeHead(out, major.int, seal.blockNumber)
  writeBytes(out, Buffer.from(seal.blockHash.slice(2), 'hex'))
  writeBytes(out, Buffer.from(seal.merkleRoot, 'hex'))
  writeHead(out, major.int, seal.cidCount)
  writeText(out, seal.signatureType)
  writeBytes(out, Buffer.from(seal.signatureIdentity, 'hex'))
  writeBytes(out, Buffer.from(seal.signatureValue, 'hex'))
  writeText(out, seal.createdAt)
}

/**
 * Takes a message apart; nothing is allocated that the message does not hold, and signatures and the
 * body are not looked into.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`.
 */
export function decodeSealedBlock(
  bytes: Uint8Array,
  limits: Partial<SealedBlockLimits> = {},
): SealedBlock {
  const { maxBytes, maxSeals } = { ...defaultLimits, ...limits }
  if (bytes.length > maxBytes) throw malformed('it is longer than the limit')
  const reader = createReader(bytes)
  expectHead(reader, major.array, 3)
  expectHead(reader, major.int, version)
  const count = readHead(reader, major.array)
  if (count < 1 || count > maxSeals) throw malformed('it has no seal or too many')
  const seals: Seal[] = []
  for (let index = 0; index < count; index++) seals.push(readSeal(reader))
  const body = readBody(reader)
  if (reader.at !== reader.end) throw malformed('something follows its end')
  return { seals, body }
}

function readBody(reader: ByteReader): Uint8Array | null {
  if (reader.at < reader.end && reader.bytes[reader.at] === simple.null) {
    reader.at++
    return null
  }
  return present(readBytes(reader), 'its body')
}

function readSeal(reader: ByteReader): Seal {
  expectHead(reader, major.array, sealItems)
  const network = present(readText(reader), 'a network')
  if (network.length > maxNetworkLength) throw malformed('a network is too long')
  const blockNumber = readCount(reader, 'a block number')
  const blockHash = `0x${readHex(reader, 'a block hash', hashBytes, hashBytes)}`
  const merkleRoot = readHex(reader, 'a root', hashBytes, hashBytes)
  const cidCount = readCount(reader, 'a count')
  const signatureType = readSignatureType(reader)
  const keyBytes = identityBytes[signatureType]
  return {
    network,
    blockNumber,
    blockHash,
    merkleRoot,
    cidCount,
    signatureType,
    signatureIdentity: readHex(reader, 'an identity', keyBytes, keyBytes),
    signatureValue: readHex(reader, 'a signature', 1, maxSignatureBytes),
    createdAt: readTime(reader),
  }
}

function readSignatureType(reader: ByteReader): SignatureType {
  const text = readText(reader)
  if (text !== 'ES256K' && text !== 'Ed25519') throw malformed('a signature type is unknown')
  return text
}

function readTime(reader: ByteReader): string {
  const text = present(readText(reader), 'a time')
  if (!timePattern.test(text)) throw malformed('a time is not in RFC 3339 form, UTC, whole seconds')
  return text
}

function readHex(reader: ByteReader, what: string, least: number, most: number): string {
  const bytes = present(readBytes(reader), what)
  if (bytes.length < least || bytes.length > most) throw malformed(`${what} has a wrong length`)
  return bytes.toString('hex')
}

function readCount(reader: ByteReader, what: string): number {
  const value = readHead(reader, major.int)
  if (value < 0) throw malformed(`${what} is unreadable`)
  return value
}

function expectHead(reader: ByteReader, kind: number, value: number): void {
  if (readHead(reader, kind) !== value) throw malformed('its form is unknown')
}

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw malformed(`${what} is unreadable`)
  return value
}

function malformed(why: string): ServiceError {
  return new ServiceError('PRIMITIVES_MESSAGE_MALFORMED', `A sealed block cannot be read: ${why}`, {
    facts: { why },
    remedy: 'Nothing to do here; the peer that sent it loses score.',
  })
}
