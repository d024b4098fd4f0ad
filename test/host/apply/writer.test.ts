/** The writer in its thread. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { storedHeads } from '../../../src/host/apply/signer-heads.ts'
import { openWriterThread, type Writer } from '../../../src/host/apply/writer.ts'
import type { StoreWriter, ViewsDone } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { type ChainBlock, createChain, shapes } from '../../support/chain/block-factory.ts'
import { sealBlock, testNetwork } from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { storedChain, testDirectory } from '../../support/test-store.ts'
import { alice } from './open-applier.ts'

const [chain = '', network = ''] = testNetwork.split('__')
const names = { chain, network, isGuess: false }
const onFatal = (error: unknown): void => assert.fail(String(error))

/** Alice says that a block is her head. */
async function giveHead(writer: Writer, { number, hash }: ChainBlock): Promise<void> {
  const head = { number, hash, sequence: number, network: testNetwork }
  await writer.receiveHead(Uint8Array.from(headMessage(alice, head)))
}

/** A block comes that Alice sealed. */
async function giveBlock(writer: Writer, block: ChainBlock): Promise<void> {
  await writer.receive(Uint8Array.from(sealBlock(block, alice).bytes), true)
}

/** What is on the disk after a writer thread that keeps ten blocks was given these and closed. */
async function storeAfter(t: TestContext, blocks: readonly ChainBlock[]): Promise<StoreWriter> {
  const storePath = testDirectory(t)
  const { writer } = await openWriterThread(
    {
      storePath,
      logLevel: 'error',
      secrets: [],
      retainBlocks: 10,
      retainRows: null,
      maxViewBytes: 0,
    },
    names,
    { onFatal },
  )
  await writer.setAccepted({ kind: 'listed', identities: [alice.identity], awaited: 0 })
  await writer.setServedFrom(blocks[0]?.number ?? 0)
  const stored = new Map(blocks.map(({ number }) => [number, Promise.withResolvers<void>()]))
  writer.onStored(({ top }) => stored.get(top)?.resolve())
  // No more heads than a signer may say in a moment, and no block below what is kept then.
  for (let next = 0; next < blocks.length; next += 8) {
    const some = blocks.slice(next, next + 8)
    const top = some.at(-1) ?? assert.fail()
    await giveHead(writer, top)
    for (const block of some) await giveBlock(writer, block)
    await stored.get(top.number)?.promise
  }
  await writer.close()
  const options = { path: storePath, network: testNetwork, retainBlocks: 10 }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  t.after(() => store.close())
  return store
}

test('a writer thread that is closed leaves on the disk what it was given', async (t) => {
  const blocks = createChain({ count: 3, from: 1, shape: shapes.empty })
  const { reader } = await storeAfter(t, blocks)
  assert.deepEqual(
    storedChain(reader),
    blocks.map(({ number, hash }) => [number, hash]),
  )
  assert.equal(storedHeads(reader, [alice.identity]).length, 1)
})

test('the writer thread removes what is no longer kept after each 64 blocks', async (t) => {
  const blocks = createChain({ count: 64, from: 10, shape: shapes.empty })
  const left = async (given: readonly ChainBlock[]): Promise<number> =>
    (await storeAfter(t, given)).prune()
  // Of the blocks below 64 none is kept once there is a block 73. Closing leaves some of them for later.
  assert.ok((await left(blocks)) < 54)
  assert.equal(await left(blocks.slice(1)), 53)
})

test('the writer thread is sent what Views need, and says with which blocks they are done', async (t) => {
  const kept = { retainBlocks: null, retainRows: null, maxViewBytes: Infinity }
  const { writer } = await openWriterThread(
    { storePath: testDirectory(t), logLevel: 'error', secrets: [], ...kept },
    names,
    { onFatal },
  )
  const done: ViewsDone[] = []
  writer.onStored(({ viewsDone }) => void done.push(...viewsDone))
  const identities = [alice.identity]
  await writer.setAccepted({ kind: 'listed', identities, awaited: 0 })
  await writer.setServedFrom(1)
  const blocks = createChain({ count: 4, from: 1 })
  const [first = assert.fail()] = blocks
  const value = new Uint8Array(Buffer.from(first.hash.slice(2), 'hex'))
  await writer.setViewNeeds(7, { type: 'term', term: { kind: 'blockHash', value } })
  await writer.setViewNeeds(8, { type: 'any', parts: [] })
  for (const [index, block] of blocks.entries()) {
    if (index === 2) await writer.setViewNeeds(8, null)
    await giveHead(writer, block)
    await giveBlock(writer, block)
  }
  await writer.close()
  assert.deepEqual(done, [
    { height: 1, epoch: 0, slots: [8] },
    { height: 2, epoch: 0, slots: [7, 8] },
    { height: 3, epoch: 0, slots: [7] },
    { height: 4, epoch: 0, slots: [7] },
  ])
})
