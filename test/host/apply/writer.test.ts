/** The writer in its thread. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWriterThread } from '../../../src/host/apply/writer.ts'
import type { ViewsDone } from '../../../src/store/store.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { sealBlock, testNetwork } from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { testDirectory } from '../../support/test-store.ts'
import { alice } from './open-applier.ts'

test('the writer thread is told what Views need, and says with which blocks they are done', async (t) => {
  const [chain = '', network = ''] = testNetwork.split('__')
  const kept = { retainBlocks: null, retainRows: null, maxViewBytes: Infinity }
  const { writer } = await openWriterThread(
    { storePath: testDirectory(t), logLevel: 'error', secrets: [], ...kept },
    { chain, network, isGuess: false },
    { onFatal: (error) => assert.fail(String(error)) },
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
    const { number, hash } = block
    const head = { number, hash, sequence: index + 1, network: testNetwork }
    await writer.receiveHead(Uint8Array.from(headMessage(alice, head)))
    await writer.receive(Uint8Array.from(sealBlock(block, alice).bytes), true)
  }
  await writer.close()
  assert.deepEqual(done, [
    { height: 1, epoch: 0, slots: [8] },
    { height: 2, epoch: 0, slots: [7, 8] },
    { height: 3, epoch: 0, slots: [7] },
    { height: 4, epoch: 0, slots: [7] },
  ])
})
