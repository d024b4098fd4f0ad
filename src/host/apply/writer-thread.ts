/** The writer thread: the one place that verifies what peers send and writes the store. */
import type { Logger } from 'pino'
import { invariant } from '../../errors.ts'
import { type PlainError, toPlainError } from '../../plain-error.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import { openLog } from '../../service/log.ts'
import type { LogLevel } from '../../service/log-level.ts'
import { openMetrics } from '../../service/metrics.ts'
import { serveThread } from '../../service/threads/serve-thread.ts'
import type { NeededTerms } from '../../store/needed-terms.ts'
import type { EmptyViewBlock, StoreWriter } from '../../store/store.ts'
import { openWriter, type StoreWriterOptions } from '../../store/write/writer.ts'
import { decodeBlockRows } from '../../views/rows/block-rows.ts'
import type { Want } from '../fork-choice/wants.ts'
import type { Accepted } from './accepted-signers.ts'
import { createApplier } from './applier.ts'
import type { FollowState, Received, SealsTaken, StatementsTaken, Stored } from './outcome.ts'
import { createReporting } from './reporting.ts'
import type { HeadOutcome } from './signer-heads.ts'
import { createStatementAdmission } from './statement-admission.ts'

/** What is kept as in `StoreWriterOptions`. */
type Kept = Required<Pick<StoreWriterOptions, 'retainBlocks' | 'retainRows' | 'maxViewBytes'>>

/** What the thread is started with. */
export interface WriterData extends Kept {
  readonly storePath: string
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly logLevel: LogLevel
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
}

/** A sealed block as a peer sent it. */
interface Message {
  readonly bytes: Uint8Array
  /** See `Applier.receive`. */
  readonly isForwarded: boolean
}

/** What the main thread asks for. */
export type WriterRequests = {
  /** Takes in one sealed block, whose buffer is moved here. */
  readonly receive: (message: Message) => Received
  readonly receiveHead: (bytes: Uint8Array) => HeadOutcome
  /** See `Applier.receiveSeals`. */
  readonly receiveSeals: (bytes: Uint8Array) => SealsTaken | null
  /** See `StatementAdmission`, also for the next. */
  readonly receiveRowStatements: (bytes: Uint8Array) => StatementsTaken | null
  readonly setAcceptedHosts: (identities: readonly string[]) => void
  readonly wants: () => readonly Want[]
  readonly setAccepted: (accepted: Accepted) => void
  readonly setServedFrom: (height: number | null) => void
  /** Keeps a record beside the blocks; null forgets it. */
  readonly putRecord: (record: { readonly name: string; readonly value: Uint8Array | null }) => void
  /** See `Writer.putViewRows`; the buffer of the bytes is moved here. */
  readonly putViewRows: (made: {
    readonly slot: number
    readonly bytes: Uint8Array
  }) => readonly number[]
  readonly putEmptyViewBlocks: (blocks: readonly EmptyViewBlock[]) => readonly number[]
  readonly setViewNeeds: (said: {
    readonly slot: number
    readonly needs: NeededTerms | null
  }) => void
  readonly clearViewFailures: (slot: number) => void
  readonly clearView: (slot: number) => void
  /** See `Writer.putRowStatement`. */
  readonly putRowStatement: (signed: {
    readonly statement: RowStatement
    readonly outdated: readonly RowStatement[]
  }) => boolean
}

export type WriterEvents = {
  readonly stored: Stored
  /** Where the Host stands, whenever that changed. */
  readonly state: FollowState
  /** The store failed. */
  readonly failed: PlainError
}

/** Stored blocks between two checks for spans to remove from the file. */
const blocksPerPrune = 64
/** How often is decided again because time has passed. */
const tickMs = 500
/** Unpacked bytes of one block at most. */
const maxRawBytes = 64 * 1024 * 1024

await serveThread<WriterRequests, WriterEvents, WriterData>(async ({ data, emit }) => {
  const { network, retainBlocks, retainRows, maxViewBytes, storePath: path, secrets } = data
  const log = openLog({ name: 'host-writer', level: data.logLevel, secrets })
  const metrics = openMetrics({ thread: 'writer' })
  const store = await openWriter(
    { path, network, retainBlocks, retainRows, maxViewBytes, program: 'host' },
    { log, registry: metrics.registry },
  )
  const onFailure = (error: unknown): void => emit('failed', toPlainError(error))
  const prune = createPruning(store, log, onFailure)
  const applier = createApplier(
    { network, retainBlocks, maxRawBytes },
    {
      store,
      log,
      onFailure,
      nowMs: () => performance.now(),
      onStored: (stored) => {
        emit('stored', stored)
        prune(stored.taken.blocks)
      },
    },
  )
  const admission = createStatementAdmission({ network }, { store, log })
  const reporting = createReporting(applier.state, (state) => emit('state', state))
  const ticking = setInterval(() => {
    applier.tick()
    reporting.wake()
  }, tickMs)

  const reported = async <T>(work: Promise<T> | T): Promise<T> => {
    const result = await work
    reporting.wake()
    return result
  }
  return {
    requests: {
      receive: ({ bytes, isForwarded }) => {
        invariant(bytes.byteLength === bytes.buffer.byteLength, 'a message has its buffer alone')
        return reported(applier.receive(bytes, isForwarded))
      },
      receiveHead: (bytes) => reported(applier.receiveHead(bytes)),
      receiveSeals: (bytes) => reported(applier.receiveSeals(bytes)),
      receiveRowStatements: admission.receive,
      setAcceptedHosts: admission.setAccepted,
      wants: () => applier.wants(),
      setAccepted: (accepted) => reported(applier.setAccepted(accepted)),
      setServedFrom: (height) => reported(applier.setServedFrom(height)),
      putRecord: ({ name, value }) => store.putRecord(name, value),
      putViewRows: ({ slot, bytes }) => store.putViewRows(slot, decodeBlockRows(bytes)),
      putEmptyViewBlocks: store.putEmptyViewBlocks,
      setViewNeeds: ({ slot, needs }) => store.setViewNeeds(slot, needs),
      clearViewFailures: (slot) => store.clearViewFailures(slot),
      clearView: (slot) => store.clearView(slot),
      putRowStatement: ({ statement, outdated }) =>
        store.putRowStatements(statement.blockNumber, [statement], outdated),
    },
    metrics: () => metrics.snapshot(),
    close: async () => {
      clearInterval(ticking)
      reporting.close()
      metrics.close()
      await applier.close()
      await store.close()
    },
  }
})

/** Removes what is no longer kept, now and then. */
function createPruning(
  store: Pick<StoreWriter, 'prune'>,
  log: Logger,
  onFailure: (error: unknown) => void,
): (blocks: number) => void {
  let since = 0
  return (blocks) => {
    since += blocks
    if (since < blocksPerPrune) return
    since = 0
    const pruned = store.prune().then((removed) => {
      if (removed > 0) log.debug({ removed }, 'pruned')
    })
    pruned.catch(onFailure)
  }
}
