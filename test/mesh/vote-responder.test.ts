/** What a node returns to others about the seals in its store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVoteResponder } from '../../src/mesh/vote-responder.ts'
import type { Seal } from '../../src/primitives/seal.ts'
import {
  decodeDigestsAnswer,
  decodeHeadsAnswer,
  decodeSealsAnswer,
  encodeVoteRequest,
  groupDigest,
  type VoteRequest,
} from '../../src/primitives/vote-exchange.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { opaqueSeal } from '../support/chain/opaque-blocks.ts'
import { openTestStore } from '../support/test-store.ts'

const [alice, bob] = ['02'.repeat(33), '03'.repeat(33)]
const byHash = (a: Seal, b: Seal): number =>
  a.blockNumber - b.blockNumber || (a.blockHash < b.blockHash ? -1 : 1)

async function putAll(store: StoreWriter, seals: readonly Seal[]): Promise<void> {
  await Promise.all(seals.map((seal) => store.putSeals(seal.blockNumber, [seal])))
}

test('a digest covers the seals of one signer and 64 heights, and nothing outside the range', async (t) => {
  const store = await openTestStore(t)
  const heights = Array.from({ length: 100 }, (_, index) => index + 1)
  const seals = heights.flatMap((height) => [
    opaqueSeal(height, 'main', alice),
    opaqueSeal(height, 'other', alice),
    opaqueSeal(height, 'main', bob),
  ])
  await putAll(store, seals)
  const answer = createVoteResponder({ reader: store.reader, heads: () => [] })
  const ask = async (request: VoteRequest) =>
    decodeDigestsAnswer((await answer(encodeVoteRequest(request))) ?? new Uint8Array())
  const expected = (identity: string, from: number, to: number): string =>
    groupDigest(
      seals
        .filter((seal) => seal.signatureIdentity === identity)
        .filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
        .sort(byHash),
    )
  const found = await ask({
    kind: 'digests',
    from: 5,
    to: 90,
    identities: [alice, '04'.repeat(33)],
  })
  assert.deepEqual(found, [
    { identity: alice, group: 0, digest: expected(alice, 5, 63) },
    { identity: alice, group: 1, digest: expected(alice, 64, 90) },
  ])
  assert.deepEqual(await ask({ kind: 'digests', from: 64, to: 64, identities: [bob] }), [
    { identity: bob, group: 1, digest: expected(bob, 64, 64) },
  ])
})

test('seals of a signer come in pages that leave none out', async (t) => {
  const store = await openTestStore(t)
  const branches = Array.from({ length: 300 }, (_, index) => [
    opaqueSeal(index + 1, 'main', alice),
    opaqueSeal(index + 1, 'other', alice),
  ])
  // So a page ends between two seals of one height.
  const seals = [opaqueSeal(0, 'main', alice), ...branches.flat()]
  await putAll(store, [...seals, opaqueSeal(7, 'main', bob)])
  const answer = createVoteResponder({ reader: store.reader, heads: () => [] })
  const found: Seal[] = []
  let pages = 0
  for (let more = true; more; pages++) {
    const last = found.at(-1)
    const after =
      last === undefined ? null : { height: last.blockNumber, blockHash: last.blockHash }
    const question = encodeVoteRequest({ kind: 'seals', identity: alice, from: 0, to: 300, after })
    const page = decodeSealsAnswer((await answer(question)) ?? new Uint8Array())
    found.push(...page.seals)
    more = page.more
  }
  assert.equal(pages, 3)
  assert.deepEqual(found, [...seals].sort(byHash))
})

test('a page of exactly as many seals as one may have says whether there are more', async (t) => {
  const store = await openTestStore(t)
  await putAll(
    store,
    Array.from({ length: 257 }, (_, height) => opaqueSeal(height, 'main', alice)),
  )
  const answer = createVoteResponder({ reader: store.reader, heads: () => [] })
  const pageTo = async (to: number): Promise<readonly [seals: number, more: boolean]> => {
    const question = { kind: 'seals', identity: alice, from: 0, to, after: null } as const
    const bytes = await answer(encodeVoteRequest(question))
    const page = decodeSealsAnswer(bytes ?? new Uint8Array())
    return [page.seals.length, page.more]
  }
  assert.deepEqual(await pageTo(255), [256, false])
  assert.deepEqual(await pageTo(256), [256, true])
})

test('seals below the heights that are asked for are not sent, whatever they are to come after', async (t) => {
  const store = await openTestStore(t)
  const seals = [10, 49, 50, 100, 101].map((height) => opaqueSeal(height, 'main', alice))
  await putAll(store, seals)
  const answer = createVoteResponder({ reader: store.reader, heads: () => [] })
  const heightsAfter = async (height: number): Promise<readonly number[]> => {
    const after = { height, blockHash: `0x${'ff'.repeat(32)}` }
    const question = { kind: 'seals', identity: alice, from: 50, to: 100, after } as const
    const bytes = await answer(encodeVoteRequest(question))
    return decodeSealsAnswer(bytes ?? new Uint8Array()).seals.map(({ blockNumber }) => blockNumber)
  }
  assert.deepEqual(await heightsAfter(5), [50, 100])
  assert.deepEqual(await heightsAfter(50), [100])
  assert.deepEqual(await heightsAfter(100), [])
})

test('at most 256 heads are sent', async (t) => {
  const store = await openTestStore(t)
  const held = Array.from({ length: 257 }, (_, index) => Uint8Array.of(index >> 8, index))
  const answer = createVoteResponder({ reader: store.reader, heads: () => held })
  const bytes = await answer(encodeVoteRequest({ kind: 'heads', identities: [] }))
  assert.deepEqual(decodeHeadsAnswer(bytes ?? new Uint8Array()), held.slice(0, 256))
})

test('heads are those that the program holds; what cannot be read is refused', async (t) => {
  const store = await openTestStore(t)
  const asked: (readonly string[])[] = []
  const answer = createVoteResponder({
    reader: store.reader,
    heads: (identities) => {
      asked.push(identities)
      return [Uint8Array.of(1, 2), Uint8Array.of(3)]
    },
  })
  const question = encodeVoteRequest({ kind: 'heads', identities: [alice] })
  const heads = decodeHeadsAnswer((await answer(question)) ?? new Uint8Array())
  assert.deepEqual(heads, [Uint8Array.of(1, 2), Uint8Array.of(3)])
  assert.deepEqual(asked, [[alice]])
  assert.equal(await answer(Uint8Array.of(0xff)), null)
})
