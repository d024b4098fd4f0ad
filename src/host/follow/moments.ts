/**
 * Reading the store for followers: all that read in one turn of the event loop share a snapshot and what was found in it,
 * and those that catch up share a tenth of the time.
 */
import type { RowStatement } from '../../row-votes/row-statement.ts'
import { createShareOfTime } from '../../share-of-time.ts'
import type { Snapshot, StoreReader } from '../../store/store.ts'
import {
  readStandingView,
  type SignedView,
  type StandingView,
} from '../row-votes/finished-leaves.ts'

/** The store at one moment, which is over when whoever got it returns. */
export interface Moment {
  readonly snapshot: Snapshot
  /** How a View stands. */
  standing(view: SignedView): StandingView
  /** What Hosts signed at a height. */
  statements(height: number): readonly RowStatement[]
}

type Use<T> = (moment: Moment) => T

export interface Moments {
  /** In the next turn of the event loop, together with others. */
  soon<T>(use: Use<T>): Promise<T>
  /** After those before it, when the share of time allows it. */
  inTurn<T>(use: Use<T>): Promise<T>
}

/** After so long the rest waits for another turn of the event loop. */
const turnMs = 10

/** `fresh` is what this Host has signed by height, while that is being stored. */
export function createMoments(
  reader: StoreReader,
  fresh: ReadonlyMap<number, RowStatement>,
): Moments {
  const time = createShareOfTime()
  const waiting: { readonly use: Use<void>; readonly reject: (error: unknown) => void }[] = []

  const readTogether = (): void => {
    const startedAt = performance.now()
    try {
      reader.read((snapshot) => {
        const moment = createMoment(snapshot, fresh)
        do waiting.shift()?.use(moment)
        while (waiting.length > 0 && performance.now() - startedAt < turnMs)
      })
    } catch (error) {
      for (const { reject } of waiting.splice(0)) reject(error)
    }
    if (waiting.length > 0) setImmediate(readTogether)
  }

  return {
    soon: <T>(use: Use<T>) =>
      new Promise<T>((resolve, reject) => {
        const settle = (moment: Moment): void => {
          try {
            resolve(use(moment))
          } catch (error) {
            reject(error)
          }
        }
        waiting.push({ use: settle, reject })
        if (waiting.length === 1) setImmediate(readTogether)
      }),
    inTurn: (use) => time.run(() => reader.read((snapshot) => use(createMoment(snapshot, fresh)))),
  }
}

function createMoment(snapshot: Snapshot, fresh: ReadonlyMap<number, RowStatement>): Moment {
  const standing = new Map<string, StandingView>()
  const statements = new Map<number, readonly RowStatement[]>()
  return {
    snapshot,
    standing: (view) => {
      const known = standing.get(view.id) ?? readStandingView(snapshot, view)
      standing.set(view.id, known)
      return known
    },
    statements: (height) => {
      const signed = fresh.get(height)
      const known = statements.get(height) ?? [
        ...snapshot.rowStatements(height),
        ...(signed === undefined ? [] : [signed]),
      ]
      statements.set(height, known)
      return known
    },
  }
}
