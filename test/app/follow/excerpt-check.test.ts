/** What of the words of Hosts counts for an application. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExcerpt } from '../../../src/app/follow/excerpt-check.ts'
import {
  encodeStatementExcerpt,
  excerptOf,
  type StatementExcerpt,
} from '../../../src/row-votes/statement-excerpt.ts'
import { namedHash, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { signedStatement } from '../../support/signed-statements.ts'
import { hostA, hostB } from '../support/follower-state.ts'

type Context = Parameters<typeof readExcerpt>[1]

const followed = [namedHash('payments'), namedHash('refunds')]
const names = ['payments', 'refunds', 'votes']

/** Of Host A, of two Views that are followed and one that is not. */
const excerpt = excerptFor(names)

function excerptFor(views: readonly string[], signer = hostA): StatementExcerpt {
  const statement = signedStatement(7, namedHash('a block'), { signer, views: names })
  return excerptOf(statement, new Set(views.map(namedHash))) ?? assert.fail('it says nothing')
}

function read(
  given: StatementExcerpt,
  change: Partial<Context> = {},
): ReturnType<typeof readExcerpt> {
  return readExcerpt(encodeStatementExcerpt(given), {
    ...{ network: opaqueNetwork, views: followed },
    ...{ isAccepted: (identity) => identity === hostA.identity, isKnown: () => false },
    ...change,
  })
}

test('what an accepted Host signed is taken in, as far as it is about Views that are followed', () => {
  const expected = excerptFor(['payments', 'refunds'])
  assert.deepEqual(read(excerpt), expected)
  assert.deepEqual(
    expected.leaves.map(({ view }) => view),
    followed.toSorted(),
  )
})

test('what says nothing of Views that are followed is ignored, whoever signed it', () => {
  assert.equal(read(excerptFor(['votes'])), 'ignored')
  assert.equal(read(excerpt, { views: [] }), 'ignored')
})

test('what a Host signed that is not accepted is ignored', () => {
  assert.equal(read(excerptFor(names, hostB)), 'ignored')
})

test('what is known is ignored, which is asked of what it says of Views that are followed', () => {
  const asked: StatementExcerpt[] = []
  const isKnown = (known: StatementExcerpt): boolean => asked.push(known) > 0
  assert.equal(read(excerpt, { isKnown }), 'ignored')
  assert.deepEqual(asked, [excerptFor(['payments', 'refunds'])])
})

test('what is ignored need not be signed', () => {
  const unsigned = { ...excerpt, signatureValue: 'ab'.repeat(64) }
  assert.equal(read(unsigned, { isKnown: () => true }), 'ignored')
  assert.equal(read(unsigned, { isAccepted: () => false }), 'ignored')
  assert.equal(read(unsigned, { views: [] }), 'ignored')
})

test('what an accepted Host did not sign is forged', () => {
  assert.equal(read({ ...excerpt, signatureValue: 'ab'.repeat(64) }), 'forged')
  assert.equal(read({ ...excerpt, blockNumber: 8 }), 'forged')
})

test('what is of another network, or is no excerpt, is forged, whatever it says', () => {
  const network = 'Ethereum__Sepolia'
  assert.equal(read(excerpt, { network, views: [] }), 'forged')
  const context = { network, views: followed, isAccepted: () => false, isKnown: () => true }
  assert.equal(readExcerpt(Uint8Array.of(1, 2, 3), context), 'forged')
})
