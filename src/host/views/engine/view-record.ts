/** What the engine remembers of a View over restarts, beside rows and failures. */
import { runtimeVersion } from '../../../lens/program/run-limits.ts'
import { encodeJsonRecord, readJsonRecord } from '../../../store/json-record.ts'
import type { Snapshot } from '../../../store/store.ts'
import type { HostedView } from '../hosted-view.ts'
import type { ViewFailure } from './view-engine.ts'

interface ViewRecord {
  /** Where its rows are; left out by versions that did not check it. */
  readonly slot?: number
  /** The version of the runtime that made its rows. */
  readonly runtime: number
  /** Why it was quarantined; null where it was not. */
  readonly quarantine: ViewFailure | null
  /** Failures with no block in between that went well; left out by versions that counted from 0 at each start. */
  readonly failuresInRow?: number
  /** Failures of lower heights were there when it was retried, and stay; left out where it never was. */
  readonly retriedFrom?: number
}

/** `id` is the long ID of the View. */
export const viewRecordName = (id: string): string => `view-engine/${id}`

export function encodeViewRecord(record: ViewRecord): Uint8Array {
  return encodeJsonRecord(record)
}

/**
 * Null where nothing was written yet: what is there of another slot is of a View that had this ID before, and was not
 * removed to its end.
 */
export function readViewRecord(
  snapshot: Snapshot,
  { id, slot }: Pick<HostedView, 'id' | 'slot'>,
): ViewRecord | null {
  const record = readJsonRecord<ViewRecord>(snapshot, viewRecordName(id))
  return record !== null && (record.slot ?? slot) === slot ? record : null
}

/** Why a View is left alone, as it is remembered; what another version of the runtime remembers is tried again. */
export function readQuarantine(
  snapshot: Snapshot,
  view: Pick<HostedView, 'id' | 'slot'>,
): ViewFailure | null {
  const record = readViewRecord(snapshot, view)
  return record?.runtime === runtimeVersion ? record.quarantine : null
}
