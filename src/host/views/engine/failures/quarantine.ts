/** Whether a View is left alone, since it failed too often; remembered over restarts. */
import type { Logger } from 'pino'
import { runtimeVersion } from '../../../../lens/program/run-limits.ts'
import { clipHeights } from '../../../../primitives/height-ranges.ts'
import type { StoreReader } from '../../../../store/store.ts'
import type { Writer } from '../../../apply/writer.ts'
import type { HostedView } from '../../hosted-view.ts'
import type { ViewFailure } from '../view-engine.ts'
import { encodeViewRecord, readViewRecord, viewRecordName } from '../view-record.ts'
import { mostInRow } from './block-failure.ts'

interface QuarantineParts {
  readonly log: Logger
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'putRecord'>
}

export interface Quarantine {
  /** Why the View is left alone; null where it is not. */
  reason(): ViewFailure | null
  /** Blocks that have documents and failed, with none in between that went well. */
  inRow(): number
  /** Goes on as it stood; false where nothing is known of rows that this version of the runtime has made. */
  restore(): boolean
  /** Remembers how it stands, and that its rows are of this version of the runtime. */
  keep(): Promise<void>
  /** Remembers the failures in a row where they are not what is remembered. */
  keepCount(): Promise<void>
  /** A block that has documents went well. */
  succeeded(): void
  /** A block failed: one too many is the reason to begin. */
  failed(failure: ViewFailure): Promise<void>
  /** Leaves the View alone until `end`. */
  begin(failure: ViewFailure): Promise<void>
  /** To be called once failures are cleared; those that stay, as their documents are pruned, count no longer. */
  end(): Promise<void>
}

/**
 * Separate ranges of heights at which a View may have failed. One that fails at every second block never fails so often
 * in a row, and each range is one more in the lists of what is done and what failed, which are written with every block
 * and walked at every step: some 40 bytes for each, so 40 KB with 1,000 of them, and 20 MB for a million blocks.
 */
const mostRanges = 1_000

/** Of a View that may be tried, until `restore` says otherwise. */
export function createQuarantine(
  { id, address, slot, name }: Pick<HostedView, 'id' | 'address' | 'slot' | 'name'>,
  { log, reader, writer }: QuarantineParts,
): Quarantine {
  let reason: ViewFailure | null = null
  let inRow = 0
  let keptInRow = 0
  let retriedFrom = 0
  const isScattered = (): boolean => {
    const failures = reader.read((snapshot) => snapshot.viewFailures(slot))
    return clipHeights(failures, retriedFrom, Number.MAX_SAFE_INTEGER).length > mostRanges
  }
  const keep = async (): Promise<void> => {
    keptInRow = inRow
    const counted = { failuresInRow: inRow, retriedFrom }
    const record = { slot, runtime: runtimeVersion, quarantine: reason, ...counted }
    await writer.putRecord(viewRecordName(id), encodeViewRecord(record))
  }
  const begin = async (failure: ViewFailure): Promise<void> => {
    if (reason !== null) return
    reason = failure
    log.warn({ view: name, id, address, ...failure }, 'a View is quarantined until it is retried')
    await keep()
  }
  return {
    reason: () => reason,
    inRow: () => inRow,
    restore: () => {
      const known = reader.read((snapshot) => readViewRecord(snapshot, { id, slot }))
      if (known?.runtime !== runtimeVersion) return false
      reason = known.quarantine
      inRow = known.failuresInRow ?? 0
      keptInRow = inRow
      retriedFrom = known.retriedFrom ?? 0
      return true
    },
    keep,
    keepCount: async () => {
      if (inRow !== keptInRow) await keep()
    },
    succeeded: () => {
      inRow = 0
    },
    failed: async (failure) => {
      inRow += 1
      if (inRow >= mostInRow) await begin(failure)
      else if (isScattered()) await begin(toScattered(failure))
    },
    begin,
    end: async () => {
      inRow = 0
      reason = null
      retriedFrom = reader.read((snapshot) => snapshot.range()?.tail ?? 0)
      await keep()
    },
  }
}

function toScattered({ message, ...failure }: ViewFailure): ViewFailure {
  const scattered = `blocks failed in more than ${mostRanges} separate ranges of heights`
  return { ...failure, message: `${scattered}, the last one: ${message}` }
}
