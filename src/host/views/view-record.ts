/** What the engine remembers of a View over restarts, beside rows and failures. */
import type { Snapshot } from '../../store/store.ts'
import type { ViewFailure } from './view-engine.ts'

interface ViewRecord {
  /** The version of the runtime that made its rows. */
  readonly runtime: number
  /** Why it was quarantined; null where it was not. */
  readonly quarantine: ViewFailure | null
}

/** `id` is the long ID of the View. */
export const viewRecordName = (id: string): string => `view-engine/${id}`

export function encodeViewRecord(record: ViewRecord): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(record)))
}

/** Null where nothing was written yet. */
export function readViewRecord(snapshot: Snapshot, id: string): ViewRecord | null {
  const bytes = snapshot.record(viewRecordName(id))
  return bytes === undefined ? null : JSON.parse(bytes.toString())
}
