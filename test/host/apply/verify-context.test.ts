/** What a Host knows of a block when it checks a message about it: seals, and documents wherever they are. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { type ChainState, openChainState } from '../../../src/host/apply/chain-state.ts'
import { contextOf } from '../../../src/host/apply/verify-context.ts'
import { verifyBody } from '../../../src/primitives/body/body.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { sealBlock, testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const alice = testSigner('alice')
const [source] = createChain({ count: 1, from: 100 })
assert.ok(source !== undefined)
const { body, seal } = sealBlock(source, alice)
const { header } = storableBlock(source, 'alice')
const other = 'ab'.repeat(32)

async function openState(
  t: TestContext,
  maxWaitingBytes = 1024 * 1024,
): Promise<{ state: ChainState; store: StoreWriter }> {
  const store = await openTestStore(t)
  const none = (): void => undefined
  const limits = { retainBlocks: null, maxRawBytes: 1024 * 1024, maxWaitingBytes }
  const state = openChainState(
    { network: testNetwork, ...limits },
    { store, log: pino({ enabled: false }), nowMs: () => 0, onStored: none, onFailure: none },
  )
  state.signers.set({ kind: 'anyone' })
  t.after(() => state.writer.drain())
  return { state, store }
}

const putWaiting = ({ waiting }: ChainState): void =>
  waiting.put({ ...header, body, documents: verifyBody(testNetwork, body) }, [alice.identity])

/** The number of documents and their bytes, as far as they are here. */
function documentsOf(state: ChainState, of: Seal = seal): [number, Uint8Array | null] | null {
  const known = contextOf(state, true).documents(of)
  return known === null ? null : [known.count, known.body()]
}

const whole = [header.count, Buffer.from(body)]
function assertWhole(state: ChainState): void {
  const [count, bytes] = documentsOf(state) ?? assert.fail('the documents are here')
  assert.deepEqual([count, Buffer.from(bytes ?? [])], whole)
  for (const changed of [{ blockHash: `0x${other}` }, { merkleRoot: other }])
    assert.equal(documentsOf(state, { ...seal, ...changed }), null)
}

test('a seal is known by its signer and its statement, and a signature by its bytes', async (t) => {
  const { state } = await openState(t)
  const has = (of: Seal) => {
    const context = contextOf(state, true)
    return [context.hasSeal(of), context.hasSignature(of)]
  }
  assert.deepEqual(has(seal), [false, false])
  state.book.admit(100, [seal])
  assert.deepEqual(has(seal), [true, true])
  assert.deepEqual(has({ ...seal, signatureValue: other }), [true, false])
  for (const changed of [
    { signatureIdentity: testSigner('bob').identity },
    { blockHash: `0x${other}` },
    { merkleRoot: other },
    { cidCount: seal.cidCount + 1 },
  ])
    assert.deepEqual(has({ ...seal, ...changed }), [false, false], Object.keys(changed)[0])
})

test('documents are known while they wait, are being written, and are stored', async (t) => {
  const { state, store } = await openState(t)
  assert.equal(documentsOf(state), null)
  putWaiting(state)
  assertWhole(state)
  state.writer.write(state.waiting.variants(header.hash), null)
  assert.equal(state.waiting.size, 0)
  assertWhole(state)
  await state.writer.drain()
  assertWhole(state)
  const known = contextOf(state, true).documents(seal)
  await store.truncateAbove(99)
  assert.deepEqual([documentsOf(state), known?.body()], [null, null])
})

test('documents that are about to be removed, or whose bytes were dropped, are not here', async (t) => {
  const { state, store } = await openState(t, 0)
  putWaiting(state)
  assert.equal(state.waiting.size, 1)
  assert.equal(documentsOf(state), null)
  await store.putSealedBlock(storableBlock(source, 'alice'))
  assertWhole(state)
  state.writer.write([], { from: 100, to: 100, depth: 1 })
  assert.equal(
    store.reader.read((snapshot) => snapshot.header(100)?.hash),
    header.hash,
  )
  assert.equal(documentsOf(state), null)
})
