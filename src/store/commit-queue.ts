/**
 * The order of transactions. Each is put together when its turn has come and handed to lmdb's writer
 * thread at once, so that several may be under way; each but the first is written only if the state
 * is the one that its predecessor left, so that none can succeed after one that failed.
 */
import type { ServiceError } from '../errors.ts'
import type { Change, Write } from './block-writes.ts'
import type { Environment } from './environment.ts'
import { type StoreState, stateKey } from './layout.ts'
import type { WriterMetrics } from './metrics.ts'

/** What a transaction is for; a label of the metric. */
export type TransactionKind = 'documents' | 'seals' | 'upkeep'

/**
 * Puts a transaction together from the state that the ones before it lead to. Whoever reads the
 * store for it awaits `settled` first, so that what it reads is that state. Null writes nothing.
 */
export type Compose = (
  state: StoreState,
  settled: () => Promise<void>,
) => Change | null | Promise<Change | null>

export interface CommitQueue {
  /** Resolves when the transaction has reached the disk, or there was nothing to write. */
  run(kind: TransactionKind, compose: Compose): Promise<void>
  /** The state after all transactions that were handed over. */
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
  let committing: Promise<void> = Promise.resolve()
  let failed: ServiceError | undefined

  const apply = (writes: readonly Write[]): void => {
    for (const { database, key, value } of writes) {
      if (value === null) databases[database].remove(key)
      else databases[database].put(key, value)
    }
  }
  const commit = (change: Change): Promise<boolean> => {
    const expected = version
    const isNewState = change.state !== state
    if (isNewState) version++
    state = change.state
    return databases.meta.ifVersion(stateKey, expected, () => {
      apply(change.writes)
      if (isNewState) databases.meta.put(stateKey, Buffer.from(JSON.stringify(state)), version)
    })
  }
  const handOver = (kind: TransactionKind, change: Change): Promise<void> => {
    const before = committing
    const stop = parts.metrics?.commitSeconds.startTimer({ transaction: kind })
    const done = commit(change).then(
      async (isWritten) => {
        stop?.()
        if (isWritten) return
        await before
        failed ??= parts.failure(new Error('the state in the store is not the expected one'))
      },
      async (error: unknown) => {
        failed ??= parts.failure(await causeOf(error))
      },
    )
    committing = Promise.all([before, done]).then(() => undefined)
    return committing
  }
  const settled = async (): Promise<void> => {
    await committing
    if (failed !== undefined) throw failed
  }
  const run: CommitQueue['run'] = async (kind, compose) => {
    const composed = turn.then(async () => {
      if (failed !== undefined) throw failed
      const change = await compose(state, settled)
      return { done: isNothing(change, state) ? committing : handOver(kind, change) }
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

/** A change that writes nothing still waits for those before it. */
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
