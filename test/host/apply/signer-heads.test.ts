/** Which heads a Host takes for new, and from whom. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { burstHeads } from '../../../src/host/apply/head-rate.ts'
import {
  createSignerHeads,
  type HeadOutcome,
  type SignerHeads,
  storedHeads,
} from '../../../src/host/apply/signer-heads.ts'
import type { HeadStatement } from '../../../src/primitives/head.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { openTestStore } from '../../support/test-store.ts'

const alice = testSigner('alice')
const bob = testSigner('bob', 'Ed25519')
const mallory = testSigner('mallory')

function openHeads(store: StoreWriter, nowMs = () => 7): SignerHeads {
  return createSignerHeads({
    store,
    network: testNetwork,
    isAccepted: (identity) => identity !== mallory.identity,
    nowMs,
  })
}

async function openScene(t: TestContext): Promise<{ store: StoreWriter; heads: SignerHeads }> {
  const store = await openTestStore(t)
  return { store, heads: openHeads(store) }
}

function headOf(sequence: number, more: Partial<HeadStatement> = {}, signer = alice): Uint8Array {
  const number = 10
  return headMessage(signer, { number, hash: namedHash('ten'), sequence, ...more })
}

const resultOf = (outcome: HeadOutcome): string =>
  outcome.kind === 'newer' ? 'newer' : `${outcome.action} ${outcome.rule}`

test('a head with a higher sequence is the newest, whatever block it names', async (t) => {
  const { heads } = await openScene(t)
  assert.equal(resultOf(heads.receive(headOf(5))), 'newer')
  const lower = { number: 3, hash: namedHash('three') }
  assert.equal(resultOf(heads.receive(headOf(6, lower))), 'newer')
  assert.equal(heads.of(alice.identity)?.head.number, 3)
  assert.equal(heads.of(alice.identity)?.heardMs, 7)
})

test('a head that no Host should accept is ignored, or a fault of its sender', async (t) => {
  const { heads } = await openScene(t)
  heads.receive(headOf(5))
  const forged = Uint8Array.from(headOf(6))
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
  const cases: [string, Uint8Array, string][] = [
    ['bytes that are no head', Uint8Array.of(1, 2, 3), 'reject well-formed'],
    ['another network', headOf(6, { network: 'Ethereum__Sepolia' }), 'reject own-network'],
    ['a stranger', headOf(6, {}, mallory), 'ignore accepted-signer'],
    ['the same once more', headOf(5), 'ignore something-new'],
    ['an old one sent again', headOf(4), 'ignore something-new'],
    ['a signature that does not fit', forged, 'reject valid-signature'],
    [
      'a height that no block has',
      headOf(6, { number: 2 ** 48, nodeHeight: 1 }),
      'reject well-formed',
    ],
  ]
  for (const [name, bytes, expected] of cases)
    assert.equal(resultOf(heads.receive(bytes)), expected, name)
  assert.equal(heads.of(alice.identity)?.head.sequence, 5)
})

test('a signer that floods heads is heard at a Generator’s rate, and costs no other signer any', async (t) => {
  const store = await openTestStore(t)
  let nowMs = 0
  const heads = openHeads(store, () => nowMs)
  const sent = Array.from({ length: 1_000 }, (_, sequence) =>
    resultOf(heads.receive(headOf(sequence))),
  )
  assert.equal(sent.filter((result) => result === 'newer').length, burstHeads)
  assert.equal(sent.at(-1), 'ignore signer-rate')
  assert.equal(heads.of(alice.identity)?.head.sequence, burstHeads - 1)
  assert.equal(resultOf(heads.receive(headOf(1, {}, bob))), 'newer')
  nowMs = 1_000
  assert.equal(resultOf(heads.receive(headOf(2_000))), 'newer')
  for (let sequence = 2_001; sequence < 2_010; sequence++) heads.receive(headOf(sequence))
  assert.equal(resultOf(heads.receive(headOf(2_010))), 'ignore signer-rate')
  heads.keepOnly((identity) => identity === bob.identity)
  assert.equal(resultOf(heads.receive(headOf(1))), 'newer', 'one that was forgotten begins again')
})

test('what is forged in the name of a signer uses up nothing of what is the signer’s', async (t) => {
  const { heads } = await openScene(t)
  for (let sequence = 1; sequence <= 1_000; sequence++) {
    const forged = Uint8Array.from(headOf(sequence))
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
    heads.receive(forged)
  }
  assert.equal(resultOf(heads.receive(headOf(1))), 'newer')
})

test('a key that runs twice is noticed where two heads have one sequence', async (t) => {
  const { heads } = await openScene(t)
  heads.receive(headOf(5))
  const twin = headOf(5, { number: 11, hash: namedHash('eleven') })
  assert.equal(resultOf(heads.receive(twin)), 'ignore something-new')
  assert.deepEqual(heads.twice(), [alice.identity])
  assert.equal(heads.of(alice.identity)?.head.number, 10)
})

test('thousands of keys that run twice are no more than the heads that are remembered', async (t) => {
  const { heads } = await openScene(t)
  for (let key = 0; key < 2_000; key++) {
    const signer = testSigner(`key ${key}`, 'Ed25519')
    for (const number of [1, 2]) heads.receive(headOf(7, { number }, signer))
  }
  assert.equal(heads.identities().length, 256)
  assert.deepEqual(new Set(heads.twice()), new Set(heads.identities()))
})

test('heads outlive the program: an old one stays old after a restart, and no signer counts yet', async (t) => {
  const { store, heads } = await openScene(t)
  heads.receive(headOf(5))
  heads.receive(headOf(8, {}, bob))
  await heads.flush()
  const again = openHeads(store)
  assert.equal(again.of(alice.identity)?.heardMs, null)
  assert.equal(resultOf(again.receive(headOf(4))), 'ignore something-new')
  assert.equal(resultOf(again.receive(headOf(6))), 'newer')
  assert.equal(storedHeads(store.reader, []).length, 2)
  assert.deepEqual(storedHeads(store.reader, [bob.identity]), [Buffer.from(headOf(8, {}, bob))])
})

test('heads are written once, and those that changed since alone', async (t) => {
  const { store, heads } = await openScene(t)
  heads.receive(headOf(5))
  heads.receive(headOf(8, {}, bob))
  await heads.flush()
  await store.putRecord(`head/${bob.identity}`, null)
  heads.receive(headOf(6))
  await heads.flush()
  assert.deepEqual(storedHeads(store.reader, []), [Buffer.from(headOf(6))])
})

test('heads of signers that are no longer accepted are forgotten, on the disk as well', async (t) => {
  const { store, heads } = await openScene(t)
  heads.receive(headOf(5))
  heads.receive(headOf(8, {}, bob))
  await heads.flush()
  heads.keepOnly((identity) => identity === bob.identity)
  await heads.flush()
  assert.equal(heads.of(alice.identity), undefined)
  assert.equal(storedHeads(store.reader, []).length, 1)
})

test('of however many signers 256 are remembered, those that were heard last', async (t) => {
  const { heads } = await openScene(t)
  const many = Array.from({ length: 300 }, (_, index) => testSigner(`signer ${index}`, 'Ed25519'))
  const [first = alice, second = bob] = many
  for (const signer of many.slice(0, 256)) heads.receive(headOf(1, {}, signer))
  heads.receive(headOf(2, {}, first))
  for (const signer of many.slice(256)) heads.receive(headOf(1, {}, signer))
  assert.equal(heads.identities().length, 256)
  assert.equal(heads.identities().at(-1), many.at(-1)?.identity)
  assert.equal(heads.of(second.identity), undefined)
  assert.equal(heads.of(first.identity)?.head.sequence, 2, 'it was heard again')
})
