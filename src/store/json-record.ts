/** Records beside the blocks that are written as JSON. Nobody but who reads them writes them, so that nothing is checked. */
import type { Snapshot } from './store.ts'

/** The bytes of a record, alone in their buffer: another thread gets a copy of all that the buffer holds. */
export function encodeJsonRecord(value: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(value)))
}

/** The record of this name; null where there is none. */
export function readJsonRecord<T>(snapshot: Snapshot, name: string): T | null {
  const bytes = snapshot.record(name)
  return bytes === undefined ? null : JSON.parse(bytes.toString())
}
