/** What a development chain reads of its Generator before that runs. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lastSealedBlock } from '../../src/devnet/last-sealed.ts'
import { openBody } from '../../src/primitives/body/body.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { captureLog } from '../support/captured-log.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { sealBlock, testNetwork, testSigner } from '../support/chain/sealed-blocks.ts'
import { testDirectory } from '../support/test-store.ts'

const network = testNetwork

test('the last sealed block is the highest that has a seal, and none before the first', async (t) => {
  const { log } = captureLog()
  const path = testDirectory(t)
  const last = () => lastSealedBlock({ storePath: path, network }, { log })
  const writer = await openWriter({ path, network, retainBlocks: null }, { log })
  await writer.close()
  assert.equal(await last(), null)
  const blocks = createChain({ seed: 'last sealed', count: 3 })
  for (const [index, block] of blocks.entries()) {
    const { number, hash, body, documents, seal } = sealBlock(block, testSigner('generator'))
    const { parentHash, timestamp } = documents
    const { merkleRoot: root, cidCount: count } = seal
    const { counts: sections } = openBody(body)
    const sizes = { root, count, sections, bodyBytes: body.length }
    const header = { number, hash, parentHash, timestamp, ...sizes }
    const again = await openWriter({ path, network, retainBlocks: null }, { log })
    await again.putSealedBlock({ header, body, terms: [], seals: index < 2 ? [seal] : [] })
    await again.close()
  }
  const [, second] = blocks
  assert.deepEqual(await last(), { number: second?.number, hash: second?.hash })
})

test('where there is no store none is made', async (t) => {
  const { log } = captureLog()
  const storePath = join(testDirectory(t), 'store')
  assert.equal(await lastSealedBlock({ storePath, network }, { log }), null)
  assert.equal(existsSync(storePath), false)
})
