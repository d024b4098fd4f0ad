/**
 * The message of a block: its seals, with its body or without. Canonical DAG-CBOR of
 * `[1, [seal, ...], body or null]`, a seal being `[network, number, block hash, root, count,
 * signature type, identity, signature, created at]` with hex as bytes.
 */
import {
  type ByteReader,
  type ByteWriter,
  createByteWriter,
  major,
  readBytes,
  readText,
  simple,
  skipNull,
  writeBytes,
  writeHead,
  writeSimple,
  writeText,
} from './cbor.ts'
import type { Seal } from './seal.ts'
import { readSignature, writeSignature } from './signature.ts'
import {
  expectHead,
  malformedMessage,
  present,
  readHash,
  readHeight,
  readInteger,
  readList,
  readMessage,
  readNetwork,
  readRoot,
  writeHash,
  writeHexBytes,
  writeList,
} from './wire.ts'

const version = 1
const sealItems = 9
const maxCount = 2 ** 32 - 1
const timePattern = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** What a message may hold. */
interface SealedBlockLimits {
  /** Bytes of the whole message. Default 32 MiB. */
  readonly maxBytes: number
  /** Seals of one block. Default 64. */
  readonly maxSeals: number
}

const defaultLimits: SealedBlockLimits = { maxBytes: 32 * 1024 * 1024, maxSeals: 64 }

/** A decoded message; `body` is a part of the message's memory. */
export interface SealedBlock {
  /** At least one. */
  readonly seals: Seal[]
  readonly body: Uint8Array | null
}

/** The message for a block's seals and, unless null, its body. */
export function encodeSealedBlock(seals: readonly Seal[], body: Uint8Array | null): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 3)
  writeHead(out, major.int, version)
  writeList(out, seals, writeSeal)
  if (body === null) writeSimple(out, simple.null)
  else writeBytes(out, body)
  return out.bytes.subarray(0, out.at)
}

/** Writes one seal. */
export function writeSeal(out: ByteWriter, seal: Seal): void {
  writeHead(out, major.array, sealItems)
  writeText(out, seal.network)
  writeHead(out, major.int, seal.blockNumber)
  writeHash(out, seal.blockHash)
  writeHexBytes(out, seal.merkleRoot)
  writeHead(out, major.int, seal.cidCount)
  writeSignature(out, seal)
  writeText(out, seal.createdAt)
}

/**
 * Decodes a message; nothing is allocated that the message does not hold, and signatures and the body
 * are not checked.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`.
 */
export function decodeSealedBlock(
  bytes: Uint8Array,
  limits: Partial<SealedBlockLimits> = {},
): SealedBlock {
  const { maxBytes, maxSeals } = { ...defaultLimits, ...limits }
  return readMessage(bytes, maxBytes, (reader) => {
    expectHead(reader, major.array, 3)
    expectHead(reader, major.int, version)
    const seals = readList(reader, 'a list of seals', maxSeals, readSeal)
    if (seals.length === 0) throw malformedMessage('it has no seal')
    return { seals, body: readBody(reader) }
  })
}

function readBody(reader: ByteReader): Uint8Array | null {
  return skipNull(reader) ? null : present(readBytes(reader), 'its body')
}

/** Reads one seal. Throws PRIMITIVES_MESSAGE_MALFORMED. */
export function readSeal(reader: ByteReader): Seal {
  expectHead(reader, major.array, sealItems)
  return {
    network: readNetwork(reader),
    blockNumber: readHeight(reader),
    blockHash: readHash(reader, 'a block hash'),
    merkleRoot: readRoot(reader),
    cidCount: readInteger(reader, 'a count', maxCount),
    ...readSignature(reader),
    createdAt: readTime(reader),
  }
}

function readTime(reader: ByteReader): string {
  const text = present(readText(reader), 'a time')
  if (!timePattern.test(text))
    throw malformedMessage('a time is not in RFC 3339 form, UTC, whole seconds')
  return text
}
