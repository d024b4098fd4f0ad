/** The main thread's end of the writer. */
import { invariant, ServiceError } from '../../errors.ts'
import { fromPlainError } from '../../plain-error.ts'
import { networkName } from '../../primitives/names.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import type { MetricsSnapshot } from '../../service/metrics.ts'
import { openThread, type Thread, threadUrl } from '../../service/threads/thread.ts'
import type { NeededTerms } from '../../store/needed-terms.ts'
import type { EmptyViewBlock } from '../../store/store.ts'
import type { Want } from '../fork-choice/wants.ts'
import { type ChainNames, splitPrefix } from '../network.ts'
import type { Accepted } from './accepted-signers.ts'
import type { FollowState, Received, SealsTaken, StatementsTaken, Stored } from './outcome.ts'
import type { HeadOutcome } from './signer-heads.ts'
import type { WriterData, WriterEvents, WriterRequests } from './writer-thread.ts'

/** What the main thread asks of the writer; each call rejects when the store failed. */
export interface Writer {
  /** Takes in one sealed block, whose buffer is given away. See `Applier`. */
  receive(bytes: Uint8Array, isForwarded: boolean): Promise<Received>
  receiveHead(bytes: Uint8Array): Promise<HeadOutcome>
  receiveSeals(bytes: Uint8Array): Promise<SealsTaken | null>
  /** See `StatementAdmission`, also for the next. */
  receiveRowStatements(bytes: Uint8Array): Promise<StatementsTaken | null>
  setAcceptedHosts(identities: readonly string[]): Promise<void>
  /** What is wanted now. */
  wants(): Promise<readonly Want[]>
  setAccepted(accepted: Accepted): Promise<void>
  setServedFrom(height: number | null): Promise<void>
  putRecord(name: string, value: Uint8Array | null): Promise<void>
  /**
   * Stores what a View made of blocks, as `encodeBlockRows` writes it, whose buffer is given away; returns the
   * heights that still held the blocks that it was made of. See `StoreWriter`, also for what follows.
   */
  putViewRows(slot: number, bytes: Uint8Array<ArrayBuffer>): Promise<readonly number[]>
  putEmptyViewBlocks(blocks: readonly EmptyViewBlock[]): Promise<readonly number[]>
  setViewNeeds(slot: number, needs: NeededTerms | null): Promise<void>
  clearViewFailures(slot: number): Promise<void>
  clearView(slot: number): Promise<void>
  /**
   * Stores what this Host signed of the rows of a block, in the place of earlier statements; returns false where rows of
   * its height are no longer kept.
   */
  putRowStatement(statement: RowStatement, outdated: readonly RowStatement[]): Promise<boolean>
  /** Calls the listener for each write from now on. */
  onStored(listener: (stored: Stored) => void): void
  /** Calls the listener whenever where the Host stands has changed. */
  onState(listener: (state: FollowState) => void): void
}

interface WriterThread extends Writer {
  metrics(): Promise<MetricsSnapshot>
  close(): Promise<void>
}

/** Options of the writer, but for the network. */
type WriterOptions = Omit<WriterData, 'network'>

/** Time to write what was accepted and to close the store. */
const closeTimeoutMs = 4_000
/** The documents of a few blocks, unpacked and checked, are garbage soon after. */
const resourceLimits = { maxYoungGenerationSizeMb: 24 }

/**
 * Starts the writer thread, which opens the store. Names that are only guessed give way to those of
 * a store that exists. Throws the store's errors.
 */
export async function openWriterThread(
  options: WriterOptions,
  names: ChainNames,
  parts: { readonly onFatal: (error: unknown) => void },
): Promise<{ writer: WriterThread; names: ChainNames }> {
  try {
    return { writer: await startThread(options, names, parts), names }
  } catch (error) {
    const known = names.isGuess ? storedNames(error) : null
    if (known === null) throw error
    return { writer: await startThread(options, known, parts), names: known }
  }
}

async function startThread(
  options: WriterOptions,
  { chain, network }: ChainNames,
  parts: { readonly onFatal: (error: unknown) => void },
): Promise<WriterThread> {
  const data: WriterData = { ...options, network: networkName(chain, network) }
  const url = threadUrl('./writer-thread', import.meta.url)
  const thread: Thread<WriterRequests, WriterEvents> = await openThread(
    { url, name: 'writer', data, closeTimeoutMs, resourceLimits },
    parts,
  )
  thread.on('failed', (error) => parts.onFatal(fromPlainError(error)))
  return {
    receive: (bytes, isForwarded) => {
      invariant(bytes.buffer instanceof ArrayBuffer, 'messages are not in shared memory')
      return thread.request('receive', { bytes, isForwarded }, { transfer: [bytes.buffer] })
    },
    receiveHead: (bytes) => thread.request('receiveHead', bytes),
    receiveSeals: (bytes) => thread.request('receiveSeals', bytes),
    receiveRowStatements: (bytes) => thread.request('receiveRowStatements', bytes),
    setAcceptedHosts: (identities) => thread.request('setAcceptedHosts', identities),
    wants: () => thread.request('wants', null),
    setAccepted: (accepted) => thread.request('setAccepted', accepted),
    setServedFrom: (height) => thread.request('setServedFrom', height),
    putRecord: (name, value) => thread.request('putRecord', { name, value }),
    putViewRows: (slot, bytes) =>
      thread.request('putViewRows', { slot, bytes }, { transfer: [bytes.buffer] }),
    putEmptyViewBlocks: (blocks) => thread.request('putEmptyViewBlocks', blocks),
    setViewNeeds: (slot, needs) => thread.request('setViewNeeds', { slot, needs }),
    clearViewFailures: (slot) => thread.request('clearViewFailures', slot),
    clearView: (slot) => thread.request('clearView', slot),
    putRowStatement: (statement, outdated) =>
      thread.request('putRowStatement', { statement, outdated }),
    onStored: (listener) => void thread.on('stored', listener),
    onState: (listener) => void thread.on('state', listener),
    metrics: () => thread.metrics(),
    close: () => thread.close(),
  }
}

function storedNames(error: unknown): ChainNames | null {
  if (!(error instanceof ServiceError) || error.code !== 'STORE_FOREIGN') return null
  const { found } = error.facts
  return typeof found === 'string' ? splitPrefix(found) : null
}
