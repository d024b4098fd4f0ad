import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BlockView, emptyMemo } from '../../../src/graphql/rows/block-view.ts'
import { hostsOf, rowVotesOf } from '../../../src/graphql/rows/row-votes.ts'
import type { RowVotes } from '../../../src/row-votes/row-votes.ts'

const view = { name: 'Counted', slot: 3, id: `0x${'ab'.repeat(32)}` }
const other = { ...view, id: `0x${'cd'.repeat(32)}` }

const voteOf = (rowsRoot: string, count: number, ...hosts: string[]) => ({ rowsRoot, count, hosts })

/** A block with two rows of root `01`, and what was asked of it. */
function openView(votes: ReturnType<typeof voteOf>[] | null) {
  const asked: { reads: unknown[]; comparisons: number } = { reads: [], comparisons: 0 }
  const snapshot = {
    viewRows: () => ({ root: '01', count: 2 }),
    rowVotes: (...place: unknown[]): RowVotes | undefined => {
      asked.reads.push(place)
      return votes === null ? undefined : ({ votes } as unknown as RowVotes)
    },
  }
  const countComparisons = (count: number): void => {
    asked.comparisons += count
  }
  const session = { snapshot, budget: { countComparisons }, opened: { note: () => undefined } }
  return { asked, block: { session, height: 7, memo: emptyMemo() } as unknown as BlockView }
}

test('what was signed of the stored rows comes first, and its Hosts alone count', () => {
  const otherRows = voteOf('02', 2, 'a', 'b', 'c')
  const otherNumber = voteOf('01', 3, 'd')
  const stored = voteOf('01', 2, 'e', 'f')
  const { block } = openView([otherRows, otherNumber, stored])
  assert.equal(hostsOf(block, view), 2)
  assert.deepEqual(rowVotesOf(block, view), [stored, otherRows, otherNumber])
  assert.equal(hostsOf(openView([otherRows]).block, view), 0)
})

test('statements of a block are read once for each View, which counts as 256 comparisons', () => {
  for (const votes of [[voteOf('01', 2, 'a')], null]) {
    const { block, asked } = openView(votes)
    for (const each of [view, view, other, view]) {
      assert.equal(hostsOf(block, each), votes === null ? 0 : 1)
      assert.equal(rowVotesOf(block, each).length, votes === null ? 0 : 1)
    }
    const reads = [view, other].map(({ id }) => [id, 7])
    assert.deepEqual(asked, { reads, comparisons: 2 * 256 })
  }
})
