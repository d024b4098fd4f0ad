/** What a Host returns to others about the statements in its store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRowVoteResponder } from '../../src/mesh/row-vote-responder.ts'
import { decodeDigestsAnswer, voteLimits } from '../../src/primitives/vote-exchange.ts'
import { encodeRowStatement, type RowStatement } from '../../src/row-votes/row-statement.ts'
import {
  decodeStatementsAnswer,
  encodeRowVoteRequest,
  type RowVoteRequest,
  statementsDigest,
} from '../../src/row-votes/row-vote-exchange.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { opaqueBlock } from '../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../support/row-statements.ts'
import { openTestStore } from '../support/test-store.ts'

const [alice, bob] = ['02'.repeat(33), '03'.repeat(33)]
const views = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `View ${index}`)

/** Blocks of a chain, and what is stored of Hosts at each, also about a block of another branch. */
async function put(
  store: StoreWriter,
  count: number,
  of: (height: number, hash: string) => readonly RowStatement[],
): Promise<void> {
  const heights = Array.from({ length: count }, (_, index) => index + 1)
  await Promise.all(
    heights.flatMap((height) => [
      store.putBlock(opaqueBlock(height, 50)),
      store.putRowStatements(height, of(height, opaqueBlock(height, 50).header.hash)),
    ]),
  )
}

/** A statement whose message has so many bytes, by a signature of any length. */
function sizedStatement(height: number, hash: string, host: string, bytes: number): RowStatement {
  const statement = opaqueStatement(height, hash, { host })
  const signed = (length: number) => ({ ...statement, signatureValue: 'ab'.repeat(length) })
  const around = encodeRowStatement(signed(1_000)).length - 1_000
  return signed(bytes - around)
}

async function asking(
  store: StoreWriter,
): Promise<(request: RowVoteRequest) => Promise<Uint8Array>> {
  const answer = createRowVoteResponder({ reader: store.reader })
  return async (request) => (await answer(encodeRowVoteRequest(request))) ?? assert.fail()
}

test('a digest covers what one Host signed of the blocks that are stored', async (t) => {
  const store = await openTestStore(t)
  await put(store, 100, (height, hash) => [
    opaqueStatement(height, hash, { host: alice }),
    opaqueStatement(height, hash, { host: alice, runtime: 2 }),
    opaqueStatement(height, hash, { host: bob }),
    opaqueStatement(height, opaqueBlock(height, 50, 'other').header.hash, { host: alice }),
  ])
  const ask = await asking(store)
  const expected = (from: number, to: number): string =>
    statementsDigest(
      Array.from({ length: to - from + 1 }, (_, index) => from + index).flatMap((height) => {
        const { hash } = opaqueBlock(height, 50).header
        return [1, 2].map((runtime) => opaqueStatement(height, hash, { host: alice, runtime }))
      }),
    )
  const identities = [alice, '04'.repeat(33)]
  const found = await ask({ kind: 'digests', from: 5, to: 90, identities })
  assert.deepEqual(decodeDigestsAnswer(found), [
    { identity: alice, group: 0, digest: expected(5, 63) },
    { identity: alice, group: 1, digest: expected(64, 90) },
  ])
})

test('statements of a Host come in pages of bounded bytes that leave none out', async (t) => {
  const store = await openTestStore(t)
  const of = (height: number, hash: string): RowStatement =>
    opaqueStatement(height, hash, { host: alice, views: views(1 + (height % 4) * 333) })
  await put(store, 40, (height, hash) => [
    of(height, hash),
    opaqueStatement(height, hash, { host: bob }),
  ])
  const ask = await asking(store)
  const found: Uint8Array[] = []
  let pages = 0
  for (let from: number | null = 2; from !== null; pages++) {
    const request = { kind: 'statements', identity: alice, from, to: 39 } as const
    const page = decodeStatementsAnswer(await ask(request))
    found.push(...page.statements)
    assert.ok(page.next === null || page.next > from)
    from = page.next
  }
  const expected = Array.from({ length: 38 }, (_, index) =>
    encodeRowStatement(of(index + 2, opaqueBlock(index + 2, 50).header.hash)),
  )
  assert.deepEqual(found.map(Buffer.from), expected.map(Buffer.from))
  assert.equal(pages, 3)
})

test('a page about rows has at most 256 statements', async (t) => {
  const store = await openTestStore(t)
  await put(store, 300, (height, hash) => [opaqueStatement(height, hash, { host: alice })])
  const ask = await asking(store)
  const request = { kind: 'statements', identity: alice, from: 1, to: 300 } as const
  const page = decodeStatementsAnswer(await ask(request))
  assert.deepEqual([page.statements.length, page.next], [256, 257])
})

test('a page about rows is filled to its last byte, and no further', async (t) => {
  const store = await openTestStore(t)
  // Eight of these, with 5 bytes for the head of each and 32 around them, are all that an answer may be.
  const bytes = (voteLimits.maxAnswerBytes - 32) / 8 - 5
  await put(store, 8, (height, hash) => [
    sizedStatement(height, hash, alice, bytes),
    sizedStatement(height, hash, bob, height === 8 ? bytes + 1 : bytes),
  ])
  const ask = await asking(store)
  const pageOf = async (identity: string) =>
    decodeStatementsAnswer(await ask({ kind: 'statements', identity, from: 1, to: 8 }))
  const whole = await pageOf(alice)
  assert.deepEqual([whole.statements.length, whole.next], [8, null])
  const cut = await pageOf(bob)
  assert.deepEqual([cut.statements.length, cut.next], [7, 8])
})

test('a request about rows that cannot be read gets no answer', async (t) => {
  const store = await openTestStore(t)
  const answer = createRowVoteResponder({ reader: store.reader })
  assert.equal(await answer(Buffer.from('ff', 'hex')), null)
})
