/**
 * The order of transactions. One is in flight at a time, and operations that arrive meanwhile share the
 * next one: lmdb 3.5.6 resolves the wrong promise when one of three transactions in flight fails, and
 * operations that share a transaction wait for the disk once. Each is written only if the state in the
 * file is the one it starts from.
 */
import type { ServiceError } from '../../errors.ts'
import type { Environment } from '../disk/environment.ts'
import { encodeState, type StoreState, stateKey } from '../disk/layout.ts'
import type { WriterMetrics } from '../disk/metrics.ts'
import type { StoreChange, Write } from './block-writes.ts'

/** What is written; the label `kind` of the metric. */
type WriteKind = 'documents' | 'seals' | 'rows' | 'statements' | 'records' | 'compaction'

/**
 * Returns the writes of one operation, given the state that the operations before it lead to. One that
 * reads the store awaits `flushed` first, so that it reads that state. Null writes nothing.
 */
export type WriteOperation = (
  state: StoreState,
  flushed: () => Promise<void>,
) => StoreChange | null | Promise<StoreChange | null>

export interface CommitQueue {
  /** Resolves when the operation, and every one before it, has reached the disk. */
  run(kind: WriteKind, operation: WriteOperation): Promise<void>
  /** The state after all operations so far, in flight or not. */
  state(): StoreState
  /** Resolves when everything so far has reached the disk; throws what failed. */
  flushed(): Promise<void>
}

interface CommitQueueParts {
  readonly environment: Environment
  readonly metrics: WriterMetrics | undefined
  /** Names the reason of a failed commit. */
  readonly failure: (cause: unknown) => ServiceError
}

/** A queue that continues from what is stored. */
export function createCommitQueue(
  start: { readonly state: StoreState; readonly version: number },
  parts: CommitQueueParts,
): CommitQueue {
  const { databases } = parts.environment
  let { state, version } = start
  let turn: Promise<unknown> = Promise.resolve()
  let waiting: Write[] = []
  let isScheduled = false
  /** The last commit: the one that takes the waiting writes, or the one in flight, or the one before. */
  let last: Promise<void> = Promise.resolve()
  let failed: ServiceError | undefined

  const commit = async (): Promise<void> => {
    isScheduled = false
    const writes = waiting
    waiting = []
    if (failed !== undefined) return
    try {
      const isExpected = await databases.meta.ifVersion(stateKey, version, () => {
        for (const { database, key, value } of writes) {
          if (value === null) databases[database].remove(key)
          else databases[database].put(key, value, database === 'meta' ? 1 : undefined)
        }
        databases.meta.put(stateKey, encodeState(state), ++version)
      })
      if (!isExpected) failed = parts.failure(new Error('the file was changed by another program'))
    } catch (error) {
      failed = parts.failure(await causeOf(error))
    }
  }
  const handOver = (kind: WriteKind, change: StoreChange): Promise<void> => {
    const stop = parts.metrics?.commitSeconds.startTimer({ kind })
    for (const write of change.writes) waiting.push(write)
    state = change.state
    if (!isScheduled) last = last.then(commit)
    isScheduled = true
    return last.then(() => void stop?.())
  }
  const flushed = async (): Promise<void> => {
    await last
    if (failed !== undefined) throw failed
  }
  const run: CommitQueue['run'] = async (kind, operation) => {
    const composed = turn.then(async () => {
      if (failed !== undefined) throw failed
      const change = await operation(state, flushed)
      return { done: isNothing(change, state) ? last : handOver(kind, change) }
    })
    turn = composed.catch(() => undefined)
    await (await composed).done
    if (failed !== undefined) throw failed
  }
  return {
    run,
    state: () => state,
    flushed: async () => {
      await turn
      await flushed()
    },
  }
}

function isNothing(change: StoreChange | null, state: StoreState): change is null {
  return change === null || (change.writes.length === 0 && change.state === state)
}

/** lmdb rejects with a general error that promises the real one. */
async function causeOf(error: unknown): Promise<unknown> {
  try {
    await (error as { commitError?: Promise<unknown> }).commitError
    return error
  } catch (cause) {
    return cause
  }
}
