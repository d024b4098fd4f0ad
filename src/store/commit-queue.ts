/**
 * The order of transactions. One is under way at a time, and what is asked for meanwhile goes into
 * the next one together: lmdb 3.5.6 resolves the wrong promise when one of three transactions under
 * way fails, and what shares a transaction waits for the disk once. Each is written only if the
 * state in the file is the one it starts from.
 */
import type { ServiceError } from '../errors.ts'
import type { Change, Write } from './block-writes.ts'
import type { Environment } from './environment.ts'
import { type StoreState, stateKey } from './layout.ts'
import type { WriterMetrics } from './metrics.ts'

/** What is written; a label of the metric. */
export type WriteKind = 'documents' | 'seals' | 'records' | 'upkeep'

/**
 * Puts a write together from the state that the ones before it lead to. Whoever reads the store for
 * it awaits `settled` first, so that what it reads is that state. Null writes nothing.
 */
export type Compose = (
  state: StoreState,
  settled: () => Promise<void>,
) => Change | null | Promise<Change | null>

export interface CommitQueue {
  /** Resolves when the write, and every one before it, has reached the disk. */
  run(kind: WriteKind, compose: Compose): Promise<void>
  /** The state after all writes that were put together. */
  state(): StoreState
  /** Resolves when everything so far has reached the disk; throws what failed. */
  settled(): Promise<void>
}

export interface CommitQueueParts {
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
  /** The last commit: the one that takes what is waiting, or the one under way, or past. */
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
        databases.meta.put(stateKey, Buffer.from(JSON.stringify(state)), ++version)
      })
      if (!isExpected) failed = parts.failure(new Error('the file was changed by another program'))
    } catch (error) {
      failed = parts.failure(await causeOf(error))
    }
  }
  const handOver = (kind: WriteKind, change: Change): Promise<void> => {
    const stop = parts.metrics?.commitSeconds.startTimer({ kind })
    for (const write of change.writes) waiting.push(write)
    state = change.state
    if (!isScheduled) last = last.then(commit)
    isScheduled = true
    return last.then(() => void stop?.())
  }
  const settled = async (): Promise<void> => {
    await last
    if (failed !== undefined) throw failed
  }
  const run: CommitQueue['run'] = async (kind, compose) => {
    const composed = turn.then(async () => {
      if (failed !== undefined) throw failed
      const change = await compose(state, settled)
      return { done: isNothing(change, state) ? last : handOver(kind, change) }
    })
    turn = composed.catch(() => undefined)
    await (await composed).done
    if (failed !== undefined) throw failed
  }
  return {
    run,
    state: () => state,
    settled: async () => {
      await turn
      await settled()
    },
  }
}

function isNothing(change: Change | null, state: StoreState): change is null {
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
