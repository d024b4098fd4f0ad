import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { prepareBlock } from '../../src/generator/ingest/prepare-block.ts'
import { encodeBlock } from '../../src/generator/read/encode-block.ts'
import { createGeneratorStatus } from '../../src/generator/status.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { testNetwork } from '../support/chain/sealed-blocks.ts'
import { testDirectory } from '../support/test-store.ts'

test('health is served until the very end: the store is closed before the server', async (t) => {
  const path = testDirectory(t)
  const log = pino({ enabled: false })
  const store = await openWriter({ path, network: testNetwork, retainBlocks: null }, { log })
  const [source] = createChain({ count: 1 })
  assert.ok(source !== undefined)
  await store.putBlock(prepareBlock(encodeBlock(testNetwork, source)))
  const status = createGeneratorStatus({ chainName: 'Ethereum', chainNetwork: 'Mainnet' })
  status.report({ reader: store.reader })
  status.setReady(true)
  const { ready, storeOpen, head } = status.state()
  assert.deepEqual({ ready, storeOpen, head }, { ready: true, storeOpen: true, head: 1 })

  status.close()
  await store.close()
  const stopping = status.state()
  assert.deepEqual([stopping.ready, stopping.storeOpen, stopping.head], [false, false, null])
})
