/** Which statements of a Host about a block are kept, in whatever order they come. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keptStatements } from '../../src/row-votes/kept-statements.ts'
import { blockRoot, type ViewLeaf } from '../../src/row-votes/view-leaf.ts'
import { leafOf } from './arbitrary-statement.ts'

interface Statement {
  readonly runtime: number
  readonly root: string
  readonly leaves: readonly ViewLeaf[]
}

/** A statement over the leaves of these numbers; a false one says something else of the first of them. */
function statement(numbers: readonly number[], runtime = 1, isFalse = false): Statement {
  const own = numbers.toSorted((a, b) => a - b).map(leafOf)
  const leaves = own.map((leaf, at) => (isFalse && at === 0 ? { ...leaf, count: 1_000 } : leaf))
  return { runtime, root: blockRoot(leaves), leaves }
}

const anySet = fc.uniqueArray(
  fc
    .tuple(
      fc.subarray([1, 2, 3, 4], { minLength: 1 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
    )
    .map(([numbers, runtime, isFalse]) => statement(numbers, runtime, isFalse)),
  { selector: ({ runtime, root }) => `${runtime} ${root}`, maxLength: 20, size: 'max' },
)

const rank = ({ runtime, leaves }: Statement): number => runtime - 10 * leaves.length

/** What `keptStatements` is meant to return, by comparing each leaf with each. */
function expected(statements: readonly Statement[]): Statement[] {
  const text = (leaf: ViewLeaf): string => JSON.stringify(leaf)
  const isIn = (one: Statement, other: Statement): boolean =>
    one !== other &&
    one.runtime === other.runtime &&
    one.leaves.every((leaf) => other.leaves.some((each) => text(each) === text(leaf)))
  return statements
    .filter((one) => !statements.some((other) => isIn(one, other)))
    .sort((a, b) => rank(a) - rank(b) || (a.root < b.root ? -1 : 1))
    .slice(0, 4)
}

test('a statement goes with the one that has its leaves, and others stay', () => {
  const [first, further, other] = [statement([1]), statement([1, 2]), statement([1], 2)]
  assert.deepEqual(keptStatements([first, further, other, first]), [further, other])
  assert.deepEqual(keptStatements([]), [])
})

test('of a statement that comes again the first is kept', () => {
  const [first, again] = [statement([1]), statement([1])]
  const [kept] = keptStatements([first, again])
  assert.equal(kept, first)
})

test('two statements that contradict each other in one View are both kept', () => {
  const both = [statement([1, 2, 3]), statement([1, 2], 1, true)]
  assert.deepEqual(new Set(keptStatements(both)), new Set(both))
})

test('of five that contain no other one the four largest are kept, of as large ones the smallest', () => {
  const five = [1, 2, 3, 4, 5].map((number) => statement([number]))
  assert.deepEqual(keptStatements(five), expected(five))
  const [lower, larger] = [statement([9], 0), statement([7, 8], 3)]
  const kept = [larger, lower, ...expected(five).slice(0, 2)]
  assert.deepEqual(keptStatements([...five, lower, larger]), kept)
})

test('what is kept depends neither on the order nor on repetitions', () => {
  const shuffled = anySet.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray([...all, ...all], { minLength: 2 * all.length }),
    ),
  )
  fc.assert(
    fc.property(shuffled, ([all, others]) => {
      assert.deepEqual(keptStatements(others), expected(all))
    }),
  )
})

test('two Hosts that give each other what they keep end with the same', () => {
  fc.assert(
    fc.property(anySet, anySet, (mine, yours) => {
      const [one, other] = [keptStatements(mine), keptStatements(yours)]
      assert.deepEqual(keptStatements([...one, ...other]), keptStatements([...other, ...one]))
      const met = keptStatements([...one, ...other])
      assert.deepEqual(keptStatements([...met, ...other]), met)
    }),
  )
})
