/** Who agrees on the rows of a View. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countRowVotes, type RowVotes } from '../../src/row-votes/row-votes.ts'
import type { ViewLeaf } from '../../src/row-votes/view-leaf.ts'
import { leafOf } from './arbitrary-statement.ts'

type Statement = Parameters<typeof countRowVotes>[0] extends Iterable<infer T> ? T : never

const [transfers, swaps] = [leafOf(1), leafOf(2)]
const lie: ViewLeaf = { ...transfers, rowsRoot: leafOf(9).rowsRoot }
const blockHash = leafOf(7).view

function says(
  host: string,
  leaves: readonly ViewLeaf[],
  changed: Partial<Statement> = {},
): Statement {
  return { blockHash, runtime: 1, signatureIdentity: host, leaves, ...changed }
}

function votesOf(statements: readonly Statement[], hosts = ['a', 'b', 'c']): RowVotes[] {
  return countRowVotes(statements, new Set(hosts))
}

const subject = { view: transfers.view, blockHash, runtime: 1 }
const vote = ({ rowsRoot, count }: ViewLeaf, ...hosts: string[]): object => ({
  rowsRoot,
  count,
  hosts,
})

test('Hosts with the same rows agree, and one with others stands alone', () => {
  const statements = [says('c', [lie]), says('b', [transfers, swaps]), says('a', [transfers])]
  assert.deepEqual(votesOf(statements), [
    { ...subject, votes: [vote(transfers, 'a', 'b'), vote(lie, 'c')], contradicting: [] },
    { ...subject, view: swaps.view, votes: [vote(swaps, 'b')], contradicting: [] },
  ])
})

test('rows that most Hosts signed come first, of as many those with the smaller root', () => {
  const [smaller, larger] = transfers.rowsRoot < lie.rowsRoot ? [transfers, lie] : [lie, transfers]
  const orderOf = (...leaves: readonly ViewLeaf[]): string[] => {
    const [counted] = votesOf(leaves.map((leaf, at) => says('abc'.charAt(at), [leaf])))
    return counted?.votes.map(({ rowsRoot }) => rowsRoot) ?? []
  }
  const [first, second] = [smaller.rowsRoot, larger.rowsRoot]
  assert.deepEqual(orderOf(larger, smaller), [first, second])
  assert.deepEqual(orderOf(smaller, smaller, larger), [first, second])
  assert.deepEqual(orderOf(larger, larger, smaller), [second, first])
})

test('the statements of strangers count nowhere, however many there are', () => {
  const strangers = Array.from({ length: 1_000 }, (_, index) => says(`stranger ${index}`, [lie]))
  assert.deepEqual(votesOf([...strangers, says('a', [transfers])]), [
    { ...subject, votes: [vote(transfers, 'a')], contradicting: [] },
  ])
  assert.deepEqual(votesOf(strangers), [])
})

test('a Host that signs two roots of one View counts for neither, and for its other Views still', () => {
  const statements = [says('a', [transfers, swaps]), says('a', [lie]), says('b', [transfers])]
  assert.deepEqual(votesOf(statements), [
    { ...subject, votes: [vote(transfers, 'b')], contradicting: ['a'] },
    { ...subject, view: swaps.view, votes: [vote(swaps, 'a')], contradicting: [] },
  ])
})

test('a Host that signs one root with two counts of rows counts for neither', () => {
  const statements = [says('a', [transfers]), says('a', [{ ...transfers, count: 5 }])]
  assert.deepEqual(votesOf(statements), [{ ...subject, votes: [], contradicting: ['a'] }])
})

test('rows of another block, or of another version of the runtime, are counted by themselves', () => {
  const statements = [
    says('a', [transfers]),
    says('b', [transfers], { runtime: 2 }),
    says('a', [lie], { runtime: 2 }),
    says('a', [lie], { blockHash: leafOf(8).view }),
  ]
  assert.deepEqual(votesOf(statements), [
    { ...subject, votes: [vote(transfers, 'a')], contradicting: [] },
    {
      ...subject,
      runtime: 2,
      votes: [vote(transfers, 'b'), vote(lie, 'a')].sort((x, y) =>
        JSON.stringify(x) < JSON.stringify(y) ? -1 : 1,
      ),
      contradicting: [],
    },
    { ...subject, blockHash: leafOf(8).view, votes: [vote(lie, 'a')], contradicting: [] },
  ])
})

const anyLeaf = fc.constantFrom(transfers, swaps, lie, { ...swaps, count: 3 })
const statement: fc.Arbitrary<Statement> = fc
  .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(1), fc.array(anyLeaf, { maxLength: 3 }))
  .map(([host, runtime, leaves]) => says(host, leaves, { runtime }))

test('neither the order of statements nor those that come again change the votes', () => {
  fc.assert(
    fc.property(fc.array(statement), fc.nat(), (statements, seed) => {
      const turned = statements.map((each, index) => ({ each, key: (seed * (index + 7)) % 13 }))
      const again = turned.sort((a, b) => a.key - b.key).map(({ each }) => each)
      assert.deepEqual(votesOf([...again, ...statements, ...again]), votesOf(statements))
    }),
  )
})

test('no Host has two votes for a View of a block, and none that it did not sign', () => {
  fc.assert(
    fc.property(fc.array(statement), (statements) => {
      for (const { view, runtime, votes, contradicting } of votesOf(statements)) {
        const voters = [...votes.flatMap(({ hosts }) => hosts), ...contradicting]
        assert.equal(new Set(voters).size, voters.length)
        for (const { hosts, rowsRoot, count } of votes) {
          for (const host of hosts) {
            const signed = statements
              .filter((each) => each.signatureIdentity === host && each.runtime === runtime)
              .flatMap(({ leaves }) => leaves.filter((leaf) => leaf.view === view))
            assert.ok(signed.length > 0)
            assert.ok(signed.every((leaf) => leaf.rowsRoot === rowsRoot && leaf.count === count))
          }
        }
      }
    }),
  )
})
