import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareBlock } from '../../src/generator/ingest/prepare-block.ts'
import { encodeBlock } from '../../src/generator/read/encode-block.ts'
import { createBlockSource } from '../../src/mesh/block-source.ts'
import { decodeSealedBlock } from '../../src/primitives/sealed-block.ts'
import { createChain, forkChain } from '../support/chain/block-factory.ts'
import { opaqueBlock, opaqueSeal } from '../support/chain/opaque-blocks.ts'
import { sealBlock, testNetwork, testSigner } from '../support/chain/sealed-blocks.ts'
import { openTestStore } from '../support/test-store.ts'

const chain = createChain({ count: 5 })
const signer = testSigner('source')
const sealed = chain.map((source) => sealBlock(source, signer))

test('peers get a block with its seal, byte for byte as it was stored', async (t) => {
  const store = await openTestStore(t)
  for (const [index, source] of chain.entries()) {
    const block = prepareBlock(encodeBlock(testNetwork, source))
    await store.putBlock(block)
    const seal = sealed[index]?.seal
    if (seal !== undefined) await store.putSeals(source.number, [seal])
  }
  const source = createBlockSource(store.reader)
  assert.deepEqual(source.range(), { tail: 1, head: 5 })
  for (const { number, bytes } of sealed)
    assert.deepEqual(Buffer.from(source.sealedBlock(number) ?? []), Buffer.from(bytes))
  const alone = decodeSealedBlock(source.sealsAlone(3) ?? new Uint8Array())
  assert.deepEqual(alone, { seals: [sealed[2]?.seal], body: null })
})

test('a block that is stored but not sealed yet is not offered', async (t) => {
  const store = await openTestStore(t)
  const source = createBlockSource(store.reader)
  assert.equal(source.range(), null)
  for (const block of chain) await store.putBlock(prepareBlock(encodeBlock(testNetwork, block)))
  assert.equal(source.range(), null)
  for (const { number, seal } of sealed.slice(0, 3)) await store.putSeals(number, [seal])
  assert.deepEqual(source.range(), { tail: 1, head: 3 })
  assert.equal(source.sealedBlock(4), null)
  assert.equal(source.sealsAlone(4), null)
  assert.equal(source.sealedBlock(9), null)
})

test('the seal of an orphaned block is not sent with the block that took its place', async (t) => {
  const store = await openTestStore(t)
  for (const [index, block] of chain.entries())
    await store.putSealedBlock({
      ...prepareBlock(encodeBlock(testNetwork, block)),
      seals: sealed.slice(index, index + 1).map(({ seal }) => seal),
    })
  const [other] = forkChain(chain, 4).slice(-1)
  if (other === undefined) throw new Error('a fork has a last block')
  const replacement = sealBlock(other, signer)
  await store.truncateAbove(4)
  await store.putSealedBlock({
    ...prepareBlock(encodeBlock(testNetwork, other)),
    seals: [replacement.seal],
  })
  const bytes = createBlockSource(store.reader).sealedBlock(5)
  assert.deepEqual(Buffer.from(bytes ?? []), Buffer.from(replacement.bytes))
})

test('blocks are offered up to the last that is sealed, at most 16 below the last', async (t) => {
  const store = await openTestStore(t)
  const source = createBlockSource(store.reader)
  await store.putSealedBlock(opaqueBlock(4))
  for (let height = 5; height <= 20; height++)
    await store.putSealedBlock({ ...opaqueBlock(height), seals: [] })
  assert.deepEqual(source.range(), { tail: 4, head: 4 })
  await store.putSealedBlock({ ...opaqueBlock(21), seals: [] })
  assert.equal(source.range(), null)
})

test('heights are listed from the lowest, as many as are asked for, holes left out', async (t) => {
  const store = await openTestStore(t)
  for (const height of [1, 2, 4, 5]) await store.putSealedBlock(opaqueBlock(height))
  const source = createBlockSource(store.reader)
  assert.deepEqual(source.heights(1, 5, 3), [1, 2, 4])
  assert.deepEqual(source.heights(2, 4, 3), [2, 4])
})

test('a seal over other documents of the same block is not sent', async (t) => {
  const store = await openTestStore(t)
  const block = opaqueBlock(1)
  const other = opaqueSeal(1, 'main', '03'.repeat(33))
  await store.putSealedBlock({ ...block, seals: [{ ...other, merkleRoot: 'ab'.repeat(32) }] })
  const source = createBlockSource(store.reader)
  assert.equal(source.sealedBlock(1), null)
  await store.putSeals(1, block.seals)
  const alone = decodeSealedBlock(source.sealsAlone(1) ?? new Uint8Array())
  assert.deepEqual(alone, { seals: block.seals, body: null })
})

test('a block is sent with at most 64 seals', async (t) => {
  const store = await openTestStore(t)
  const seals = Array.from({ length: 65 }, (_, index) =>
    opaqueSeal(1, 'main', index.toString(16).padStart(66, '0')),
  )
  await store.putSealedBlock({ ...opaqueBlock(1), seals })
  const source = createBlockSource(store.reader)
  const whole = decodeSealedBlock(source.sealedBlock(1) ?? new Uint8Array())
  assert.deepEqual(whole.seals, seals.slice(0, 64))
})
