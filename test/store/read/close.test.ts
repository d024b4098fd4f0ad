/** A store that is read while it is being closed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { openWriter } from '../../../src/store/write/writer.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'

test('who reads a store that is being closed is told so, and nothing is thrown beside', async (t) => {
  const faults: unknown[] = []
  const note = (error: unknown): void => void faults.push(error)
  process.on('uncaughtException', note)
  t.after(() => process.off('uncaughtException', note))
  const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  const putting = store.putSealedBlock(opaqueBlock(1))
  let isClosed = false
  const closing = store.close().finally(() => {
    isClosed = true
  })
  let refused = 0
  while (!isClosed || refused === 0) {
    try {
      store.reader.read((snapshot) => snapshot.header(1))
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'STORE_NOT_OPEN')
      refused += 1
    }
    await Promise.race([closing, delay(0)])
  }
  await Promise.allSettled([putting, closing])
  await delay(1)
  assert.deepEqual(faults, [])
})
