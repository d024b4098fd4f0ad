/**
 * What became of registered Views that are not served, so that none is fetched and checked over and over: kept over
 * restarts where it follows from the bytes of a View, forgotten after a while, since another version may think otherwise.
 */
import { remember } from '../../remember.ts'
import { encodeJsonRecord, readJsonRecord } from '../../store/json-record.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import { shortReason } from '../other-view.ts'
import type { FilteredView } from './view-filter.ts'

/** Why a View is not served. */
export interface NotServed {
  /** `refused` for good or for now, `foreign` for one of another chain, `overLimit` for one that lost its place. */
  readonly state: 'refused' | 'foreign' | 'overLimit'
  /** What is wrong with it, with the code of the error. */
  readonly reason: string
  /** What its rows took when it lost its place; 0 otherwise. */
  readonly bytes: number
  /** How many its type has, where it was read and has no place; 0 otherwise. */
  readonly fields: number
  /**
   * What its bytes say for the lists of what is allowed and denied, the long ID first; the name is that of the chain where
   * they say none. Null where they were not fetched.
   */
  readonly proven: FilteredView | null
  /** When it is tried again. */
  readonly untilMs: number
}

export interface Outcomes {
  /** What holds now; null for a View that may be tried. */
  of(id: string): NotServed | null
  /** `isKept` also over a restart. */
  note(id: string, outcome: NotServed, isKept: boolean): void
  /** Writes what is kept and was not written yet. */
  close(): Promise<void>
}

interface OutcomeParts {
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'putRecord'>
  readonly onFatal: (error: unknown) => void
}

const recordName = 'registry/outcomes'
/** Outcomes that are remembered, and of those the ones that are kept. */
const most = { known: 10_000, kept: 1_000 }
/** The record is written as a whole, so not for each outcome. */
const writeMs = 5_000

/** Reads what was kept. */
export function openOutcomes(
  { reader, writer, onFatal }: OutcomeParts,
  nowMs: () => number = Date.now,
): Outcomes {
  const kept = readOutcomes(reader)
  const known = new Map(kept)
  let timer: NodeJS.Timeout | null = null
  const write = async (): Promise<void> => {
    if (timer === null) return
    clearTimeout(timer)
    timer = null
    await writer.putRecord(recordName, encodeJsonRecord([...kept]))
  }
  return {
    of: (id) => {
      const outcome = known.get(id)
      return outcome !== undefined && outcome.untilMs > nowMs() ? outcome : null
    },
    note: (id, whole, isKept) => {
      const outcome = withShortReason(whole)
      remember(known, id, outcome, most.known)
      if (!isKept) return
      remember(kept, id, outcome, most.kept)
      timer ??= setTimeout(() => void write().catch(onFatal), writeMs).unref()
    },
    close: write,
  }
}

/** For how long a View that cannot be served is not tried again. */
export const retryMs = { unreachable: 60_000, refused: 3_600_000, wrong: 86_400_000 } as const

/** Notes an outcome for so long. What its bytes have proven before is kept where nothing is said of that. */
export function noteOutcome(
  outcomes: Pick<Outcomes, 'of' | 'note'>,
  id: string,
  outcome: Pick<NotServed, 'state' | 'reason'> &
    Partial<Pick<NotServed, 'bytes' | 'fields' | 'proven'>>,
  { forMs, isKept = false }: { readonly forMs: number; readonly isKept?: boolean },
): void {
  const proven = outcomes.of(id)?.proven ?? null
  const untilMs = Date.now() + forMs
  outcomes.note(id, { bytes: 0, fields: 0, proven, ...outcome, untilMs }, isKept)
}

const noFields = { fields: 0 }

function withShortReason(outcome: NotServed): NotServed {
  return { ...outcome, reason: shortReason(outcome.reason) }
}

function readOutcomes(reader: StoreReader): Map<string, NotServed> {
  const kept = reader.read((snapshot) =>
    readJsonRecord<readonly [string, NotServed][]>(snapshot, recordName),
  )
  // Versions before knew no fields.
  return new Map(
    (kept ?? []).map(([id, outcome]) => [id, withShortReason({ ...noFields, ...outcome })]),
  )
}
