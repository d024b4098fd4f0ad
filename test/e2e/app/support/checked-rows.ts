/** Whether what an application shows is what the chain has and what Hosts signed. */
import assert from 'node:assert/strict'
import type { App, AppState, ViewReport } from '../../../../src/app/app.ts'
import { transferFields } from './transfers.ts'
import type { Transfer } from './true-transfers.ts'

type ShownTransfer = Transfer & { readonly _docID: string; readonly _hosts: number }

/** All that the application shows of a View, in its order. */
export async function shownTransfers(
  app: App,
  name = 'Transfer',
): Promise<readonly ShownTransfer[]> {
  const query = `{ rows: ${name} { _docID _hosts ${transferFields} } }`
  const { data, incomplete } = await app.query<{ rows: ShownTransfer[] }, object>(query)
  assert.deepEqual(incomplete, [])
  return data.rows
}

/** Rows equal those of the chain, one by one and in order; so none is there twice, and none is missing. */
export function assertTrue(shown: readonly ShownTransfer[], due: readonly Transfer[]): void {
  const values = shown.map(({ _docID, _hosts, ...transfer }) => transfer)
  assert.deepEqual(values, due)
  assert.equal(new Set(shown.map(({ _docID }) => _docID)).size, shown.length)
}

/** The signatures of so many accepted Hosts hold for each row, counted and verified again; `mayHaveSigned` says by whom. */
export function assertSigned(
  app: App,
  shown: readonly ShownTransfer[],
  {
    least,
    mayHaveSigned,
  }: { readonly least: number; readonly mayHaveSigned: (host: string, height: number) => boolean },
): void {
  const proven = new Set<number>()
  for (const row of shown) {
    assert.ok(row._hosts >= least, `${row._hosts} Hosts at height ${row.blockNumber}`)
    // The proof of one row is over all of its block, whose rows are compared with the chain's.
    if (proven.has(row.blockNumber)) continue
    proven.add(row.blockNumber)
    const verdict = app.verifyDocument(row)
    assert.ok(verdict.proves === 'row', JSON.stringify(verdict))
    // A Host may have signed since the row was read.
    assert.ok(verdict.hosts.length >= row._hosts, `${verdict.hosts.length} of ${row._hosts} Hosts`)
    assert.equal(new Set(verdict.hosts).size, verdict.hosts.length)
    assert.ok(verdict.hosts.every((host) => mayHaveSigned(host, row.blockNumber)))
  }
}

/**
 * Resolves once the Views, or the first `views` of them, are done with `head` and nothing waits; with `from`, once no height
 * from there on is missing.
 */
export async function untilDone(
  app: App,
  head: number,
  { from = null, views }: { readonly from?: number | null; readonly views?: number } = {},
): Promise<AppState> {
  const isDone = ({ done, blocksPending }: ViewReport): boolean => {
    const last = done.at(-1)
    const isWhole = from === null || (last?.from ?? Infinity) <= from
    return last?.to === head && isWhole && blocksPending === 0
  }
  const signal = AbortSignal.timeout(120_000)
  return await new Promise((resolve, reject) => {
    const look = (): void => {
      const state = app.state()
      if (state.views.slice(0, views).every(isDone)) end(() => resolve(state))
      else if (signal.aborted)
        end(() => reject(new Error(`height ${head} is not there: ${JSON.stringify(state)}`)))
    }
    const stop = app.onChange(look)
    const end = (settle: () => void): void => {
      stop()
      signal.removeEventListener('abort', look)
      settle()
    }
    signal.addEventListener('abort', look)
    look()
  })
}
