/** Jobs and their results as JSON, for threads of the lens process where there is no reason for another form. */
import { asBuffer } from '../primitives/cbor.ts'

export function encodePayload(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}

/** What `encodePayload` wrote on the other side, and nobody else. */
export function decodePayload<T>(bytes: Uint8Array): T {
  return JSON.parse(asBuffer(bytes).toString())
}
