/** Whose word about rows counts, by which block the Hosts themselves follow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createPendingVotes,
  type PendingVotes,
  type RowsVerdict,
  says,
} from '../../../src/app/follow/pending-votes.ts'
import { excerptOf, type StatementExcerpt } from '../../../src/row-votes/statement-excerpt.ts'
import type { ViewLeaf } from '../../../src/row-votes/view-leaf.ts'
import { blockRoot, sortLeaves } from '../../../src/row-votes/view-leaf.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'

const view = namedHash('a View')
const otherView = namedHash('another View')
const [A, B] = ['02', '03'].map((byte) => byte.repeat(33))
assert.ok(A && B)

const leafOf = (id: string, rows: string): ViewLeaf => ({
  view: id,
  rowsRoot: namedHash(`rows ${rows} of ${id}`).slice(2),
  count: 1,
})

/** What a Host says of the rows of a block, without a signature. */
function said(
  host: string,
  number: number,
  { branch = 'a', rows = 'right', runtime = 1, ids = [view] } = {},
): StatementExcerpt {
  const leaves = sortLeaves(ids.map((id) => leafOf(id, rows)))
  const statement = opaqueStatement(number, namedHash(`${branch} ${number}`), { host, runtime })
  const excerpt = excerptOf(
    { ...statement, leaves, root: blockRoot(leaves) },
    new Set([view, otherView]),
  )
  assert.ok(excerpt)
  return excerpt
}

const evaluate = (book: PendingVotes, number: number, branch = 'a'): RowsVerdict => {
  const { rowsRoot, count } = leafOf(view, 'right')
  return book.evaluate(
    { view, number, hash: namedHash(`${branch} ${number}`), rowsRoot, count },
    [],
  )
}

test('Hosts that signed exactly these rows agree, those that signed others differ', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), true)
  book.add(said(B, 7, { rows: 'wrong' }), false)
  assert.deepEqual(evaluate(book, 7), { agreeing: [A], direct: [A], differing: [B] })
  assert.deepEqual(evaluate(book, 8), { agreeing: [], direct: [], differing: [] })
})

test('a Host that signed another block of the height neither agrees nor differs', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), false)
  book.add(said(B, 7, { branch: 'b', rows: 'wrong' }), false)
  const nobody = { agreeing: [], direct: [], differing: [] }
  assert.deepEqual(evaluate(book, 7), { ...nobody, agreeing: [A] })
  assert.deepEqual(evaluate(book, 7, 'b'), { ...nobody, differing: [B] })
})

test('rows of another root, or of another number, are other rows', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), true)
  const rows = { ...leafOf(view, 'right'), number: 7, hash: namedHash('a 7') }
  const others = [
    { ...rows, rowsRoot: leafOf(view, 'wrong').rowsRoot },
    { ...rows, count: 2 },
  ]
  for (const other of others)
    assert.deepEqual(book.evaluate(other, []), { agreeing: [], direct: [], differing: [A] })
})

test('the highest height that a Host signed is that, in whatever order it signed', () => {
  const highest = (...heights: readonly number[]): number => {
    const book = createPendingVotes({ runtime: 1 })
    for (const number of heights) book.add(said(A, number), true)
    book.add(said(A, 20, { ids: [otherView] }), true)
    return book.highest(A, view)
  }
  assert.deepEqual([highest(7, 9, 8), highest(9, 8, 7), highest()], [9, 9, -1])
})

test('what a Host signed of each of several Views counts for that one, at its height alone', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7, { ids: [view, otherView] }), true)
  for (const id of [view, otherView]) {
    const rows = { ...leafOf(id, 'right'), number: 7, hash: namedHash('a 7') }
    assert.deepEqual(book.evaluate(rows, []), { agreeing: [A], direct: [A], differing: [] })
    assert.equal(book.highest(A, id), 7)
    const ranges = [
      [5, 6],
      [6, 7],
      [7, 8],
      [8, 9],
    ] as const
    const signers = ranges.map(([from, to]) => book.signers(id, from, to).length)
    assert.deepEqual(signers, [0, 1, 1, 0])
  }
})

test('what a Host signed of a block that it left is not among what it signed at a height', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7, { branch: 'old' }), true)
  assert.deepEqual([book.signers(view, 7, 7), book.highest(A, view)], [[A], 7])
  book.add(said(A, 7, { ids: [otherView] }), true)
  assert.deepEqual([book.signers(view, 7, 7), book.highest(A, view)], [[], -1])
  assert.deepEqual([book.signers(otherView, 7, 7), book.highest(A, otherView)], [[A], 7])
})

test('a Host that signed two results of one View has no vote', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), true)
  book.add(said(A, 7, { rows: 'wrong' }), true)
  assert.deepEqual(evaluate(book, 7), { agreeing: [], direct: [], differing: [] })
})

test('the same statement again, from whomever, is one vote', () => {
  const book = createPendingVotes({ runtime: 1 })
  for (const isDirect of [true, false, false]) book.add(said(A, 7), isDirect)
  assert.deepEqual(evaluate(book, 7).agreeing, [A])
})

test('a statement says what is of its block, rows, runtime and Host, and of no more Views', () => {
  const statement = said(A, 7, { ids: [view] })
  const more = said(A, 7, { ids: [view, otherView] })
  const others = [
    said(A, 7, { branch: 'b' }),
    said(A, 7, { rows: 'wrong' }),
    said(A, 7, { runtime: 2 }),
    said(B, 7),
    { ...more, root: statement.root },
  ]
  assert.equal(says(statement, said(A, 7)), true)
  assert.deepEqual(
    others.map((other) => says(statement, other)),
    others.map(() => false),
  )
  assert.equal(says({ ...more, root: statement.root }, statement), true, 'of fewer Views')
})

test('that a Host said something else is not known, and is not its own word by that', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), true)
  assert.equal(book.isKnown(said(A, 7, { branch: 'b' }), true), false)
  assert.equal(book.isKnown(said(A, 8), true), false)
  assert.deepEqual(book.own(7), [{ host: A, hash: namedHash('a 7') }])
  book.add(said(B, 7), false)
  assert.equal(book.isKnown(said(B, 7), false), true)
  assert.deepEqual(book.own(7), [{ host: A, hash: namedHash('a 7') }], 'others passed it on')
})

test('rows of another version of the runtime are not compared', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7, { runtime: 2 }), true)
  assert.deepEqual(evaluate(book, 7).agreeing, [])
})

test('what a Host signed of a branch that it left does not count, whoever passes it on', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7, { branch: 'old' }), true)
  assert.deepEqual(evaluate(book, 7, 'old').agreeing, [A])
  book.retract(A, 6)
  book.add(said(A, 7), true)
  book.add(said(A, 7, { branch: 'old' }), false)
  assert.deepEqual(evaluate(book, 7, 'old').agreeing, [])
  assert.deepEqual(evaluate(book, 7).direct, [A])
})

test('after a Host goes back it has said nothing itself above that height', () => {
  const book = createPendingVotes({ runtime: 1 })
  for (const number of [6, 7]) book.add(said(A, number), true)
  book.retract(A, 6)
  assert.deepEqual(evaluate(book, 6).direct, [A])
  assert.deepEqual(evaluate(book, 7), { agreeing: [A], direct: [], differing: [] })
  book.retract(A, null)
  assert.deepEqual(evaluate(book, 6).direct, [])
})

test('what only others pass on of a Host counts, and is not its own word', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), false)
  assert.deepEqual(evaluate(book, 7), { agreeing: [A], direct: [], differing: [] })
  assert.equal(book.highest(A, view), -1)
  assert.equal(book.isKnown(said(A, 7), true), true)
  assert.deepEqual(evaluate(book, 7).direct, [A])
  assert.equal(book.highest(A, view), 7)
})

test('votes that are stored count like those that wait', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), true)
  const { rowsRoot, count } = leafOf(view, 'right')
  const rows = { view, number: 7, hash: namedHash('a 7'), rowsRoot, count }
  assert.deepEqual(book.evaluate(rows, [said(B, 7)]).agreeing, [A, B])
})

test('the leaves of one statement are put together', () => {
  const book = createPendingVotes({ runtime: 1 })
  const both = said(A, 7, { ids: [view, otherView] })
  const only = (id: string): StatementExcerpt => ({
    ...both,
    leaves: both.leaves.filter((leaf) => leaf.view === id),
    proofs: both.proofs.filter(({ leaf }) => leaf.view === id),
  })
  book.add(only(otherView), true)
  assert.equal(book.isKnown(only(view), true), false)
  book.add(only(view), true)
  assert.deepEqual(book.take(7, namedHash('a 7')), [both])
})

test('what a Host signed by two versions of the runtime is kept apart', () => {
  const book = createPendingVotes({ runtime: 1 })
  const both = [said(A, 7), said(A, 7, { runtime: 2 })]
  for (const excerpt of both) book.add(excerpt, true)
  assert.deepEqual(evaluate(book, 7).agreeing, [A])
  assert.deepEqual(book.take(7, namedHash('a 7')), both)
})

test('statements about a stored block are taken out, those about others at its height go', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), true)
  book.add(said(B, 7, { branch: 'b' }), true)
  assert.deepEqual(book.take(7, namedHash('a 7')), [said(A, 7)])
  assert.deepEqual(evaluate(book, 7, 'b').agreeing, [])
})

test('a Host fills 8,192 heights and no more, until lower ones are forgotten', () => {
  const book = createPendingVotes({ runtime: 1 })
  for (let number = 0; number < 8_192; number++) assert.equal(book.add(said(A, number), true), true)
  assert.equal(book.hasRoom(A), false)
  assert.equal(book.add(said(A, 8_192), true), false)
  assert.equal(book.hasRoom(B), true)
  assert.equal(book.add(said(A, 8_191, { branch: 'b' }), true), true, 'of a height that it has')
  book.forgetBelow(1)
  assert.equal(book.add(said(A, 8_192), true), true)
})

test('a Host that signs branch after branch of a height keeps four of them', () => {
  const book = createPendingVotes({ runtime: 1 })
  for (let branch = 0; branch < 100; branch++) book.add(said(A, 7, { branch: `${branch}` }), true)
  assert.deepEqual(evaluate(book, 7, '99').direct, [A])
  const isKept = ['95', '96', '99'].map((branch) => book.isKnown(said(A, 7, { branch }), false))
  assert.deepEqual(isKept, [false, true, true])
})

test('who signed something at some heights is known until the Host no longer has them', () => {
  const book = createPendingVotes({ runtime: 1 })
  book.add(said(A, 7), true)
  book.add(said(B, 9, { rows: 'wrong' }), false)
  assert.deepEqual(book.signers(view, 7, 9), [A, B])
  assert.deepEqual(book.signers(view, 8, 9), [B])
  assert.deepEqual(book.signers(otherView, 7, 9), [])
  book.forgetOf(B, 9)
  assert.deepEqual(book.signers(view, 7, 9), [A, B])
  book.forgetOf(B, 10)
  assert.deepEqual(book.signers(view, 7, 9), [A])
})
