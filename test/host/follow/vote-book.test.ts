/** What a follower was sent of who signed its blocks, and of which heights there may be more to send. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createVoteBook,
  forgetAbove,
  lowestDirty,
  noteBlock,
  noteCursor,
  noteNewVotes,
  noteSigned,
  sentOf,
  settle,
  signedKey,
  type VoteBook,
} from '../../../src/host/follow/vote-book.ts'
import { runtimeVersion } from '../../../src/lens/program/run-limits.ts'
import type { Snapshot, StatementPlace } from '../../../src/store/store.ts'
import { namedHash, opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const hashAt = (height: number): string => namedHash(`main:${height}`)
const heights = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const sentHeights = ({ sent: map }: VoteBook): number[] => [...map.keys()].sort((a, b) => a - b)

/** A book of a follower that has these blocks and was sent all there is of them. */
function bookOf(...of: readonly number[]): VoteBook {
  const book = createVoteBook('me')
  for (const height of of) {
    sentOf(book, height, hashAt(height))
    settle(book, height, true)
  }
  return book
}

test('what was sent of a block counts for that block alone', () => {
  const book = createVoteBook('me')
  const first = sentOf(book, 5, hashAt(5))
  assert.deepEqual(first, { hash: hashAt(5), seals: { sent: 0, of: 0 }, leaves: new Map() })
  first.leaves.set('own', 1)
  assert.equal(sentOf(book, 5, hashAt(5)), first)
  assert.equal(sentOf(book, 5, namedHash('fork:5')).leaves.size, 0)
  assert.equal(book.sent.get(5)?.hash, namedHash('fork:5'))
})

test('the newest 64 blocks are remembered whole, and older ones that are not sent yet', () => {
  const book = bookOf(...heights(1, 64))
  assert.deepEqual(sentHeights(book), heights(1, 64))
  noteBlock(book, 2)
  for (const height of [65, 66]) {
    sentOf(book, height, hashAt(height))
    settle(book, height, true)
  }
  assert.deepEqual(sentHeights(book), [2, ...heights(4, 66)])
  settle(book, 2, true)
  assert.deepEqual(sentHeights(book), [2, ...heights(4, 66)])
  sentOf(book, 67, hashAt(67))
  settle(book, 67, true)
  assert.deepEqual(sentHeights(book), heights(4, 67))
  assert.deepEqual(sentHeights(bookOf(70, ...heights(1, 64))), [...heights(2, 64), 70])
})

test('what this Host signs of blocks that it had not signed is sent, however old they are', () => {
  const book = bookOf(...heights(1, 70))
  settle(book, 3, false)
  settle(book, 4, false)
  assert.deepEqual([book.pending, book.dirty], [[[3, 4]], []])
  for (const height of [1, 3, 70, 71]) noteSigned(book, height)
  assert.deepEqual(book.dirty, [
    [3, 3],
    [70, 70],
  ])
  settle(book, 3, true)
  assert.deepEqual([book.pending, book.dirty], [[[4, 4]], [[70, 70]]])
})

test('of heights that wait for the signature of this Host 1,024 ranges are kept, the highest', () => {
  const book = createVoteBook('me')
  for (const index of heights(1, 1_024)) settle(book, 2 * index, false)
  assert.deepEqual([book.pending.length, book.pending[0]], [1_024, [2, 2]])
  settle(book, 2_050, false)
  assert.deepEqual(
    [book.pending.length, book.pending[0], book.pending.at(-1)],
    [1_024, [4, 4], [2_050, 2_050]],
  )
})

test('nothing is known any more of blocks that gave way', () => {
  const book = bookOf(...heights(4, 8))
  for (const height of heights(4, 8)) {
    noteBlock(book, height)
    book.pending = [[4, 8]]
  }
  forgetAbove(book, 6)
  assert.deepEqual([sentHeights(book), book.dirty, book.pending], [[4, 5, 6], [[4, 6]], [[4, 6]]])
  forgetAbove(book, -1)
  assert.deepEqual([sentHeights(book), book.dirty, book.pending], [[], [], []])
})

test('the lowest height that does not wait for rows is sent first', () => {
  const book = bookOf()
  assert.equal(lowestDirty(book, new Set()), null)
  for (const height of [7, 5, 6]) noteBlock(book, height)
  assert.equal(lowestDirty(book, new Set()), 5)
  assert.equal(lowestDirty(book, new Set([5, 7])), 6)
  assert.equal(lowestDirty(book, new Set([5, 6, 7])), null)
})

test('what is there of the newest 64 blocks of a cursor is sent, where those are stored', async (t) => {
  const store = await openTestStore(t, null)
  const blocks = heights(0, 80).map((height) => opaqueBlock(height, 5))
  await store.replaceBlocks(0, 80, blocks)
  const noted = (next: number): number[] => {
    const book = createVoteBook('me')
    store.reader.read((snapshot) => noteCursor(book, snapshot, next))
    const [first] = sentHeights(book)
    if (first !== undefined) assert.deepEqual(book.dirty, [[first, sentHeights(book).at(-1)]])
    for (const [height, { hash }] of book.sent) assert.equal(hash, hashAt(height))
    return sentHeights(book)
  }
  assert.deepEqual(noted(81), heights(17, 80))
  assert.deepEqual(noted(6), heights(0, 5))
  assert.deepEqual(noted(140), heights(76, 80))
  assert.deepEqual(noted(0), [])
})

test('statements are distinguished by who signed what, and those of this Host by nothing', () => {
  const book = createVoteBook('me')
  const key = (signatureIdentity: string, root: string): string =>
    signedKey(book, { signatureIdentity, root })
  assert.deepEqual([key('me', 'a'), key('me', 'b')], ['own', 'own'])
  assert.equal(new Set([key('you', 'a'), key('you', 'b'), key('them', 'a')]).size, 3)
})

test('what others signed of the newest 64 blocks since those were sent is noted', async (t) => {
  const store = await openTestStore(t)
  const place = (blockNumber: number, more: Partial<StatementPlace> = {}): StatementPlace => ({
    ...{ blockNumber, blockHash: hashAt(blockNumber), runtime: runtimeVersion },
    ...{ signatureIdentity: 'you', root: 'a' },
    ...more,
  })
  const dirtyAfter = (
    book: VoteBook,
    {
      places = [],
      sealed = [],
    }: { places?: readonly StatementPlace[]; sealed?: readonly number[] },
  ): VoteBook['dirty'] => {
    book.dirty = []
    store.reader.read((snapshot) => {
      const between = (from: number, to: number) =>
        places.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
      const seen: Snapshot = Object.create(snapshot, {
        rowStatementPlaces: { value: between },
        seals: { value: (height: number) => (sealed.includes(height) ? [opaqueSeal(height)] : []) },
      })
      noteNewVotes(book, seen)
    })
    return book.dirty
  }
  assert.deepEqual(dirtyAfter(bookOf(), { places: [place(0)], sealed: [0] }), [])
  assert.deepEqual(dirtyAfter(bookOf(0), { places: [place(0)] }), [[0, 0]])
  assert.deepEqual(dirtyAfter(bookOf(0), { sealed: [0] }), [[0, 0]])
  const book = bookOf(3, 4, 66, 67)
  assert.deepEqual(dirtyAfter(book, { places: [3, 4, 5, 67].map((height) => place(height)) }), [
    [4, 4],
    [67, 67],
  ])
  assert.deepEqual(dirtyAfter(book, { sealed: [3, 4, 67] }), [
    [4, 4],
    [67, 67],
  ])
  const others = [
    { blockHash: namedHash('fork:66') },
    { runtime: runtimeVersion - 1 },
    { signatureIdentity: 'me' },
  ]
  assert.deepEqual(dirtyAfter(book, { places: others.map((more) => place(66, more)) }), [])
  book.sent.get(66)?.leaves.set('you a', 1)
  assert.deepEqual(dirtyAfter(book, { places: [place(66)] }), [])
  assert.deepEqual(dirtyAfter(book, { places: [place(66, { root: 'b' })] }), [[66, 66]])
})
