/** Queries of a Generator whose store is not open yet, and then is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openGeneratorApi } from '../../src/generator/api.ts'
import { loadGeneratorSettings } from '../../src/generator/config.ts'
import { testNetwork } from '../support/chain/sealed-blocks.ts'
import { openTestStore } from '../support/test-store.ts'

const env = {
  DB_KEYRING_SECRET: 'secret',
  NODE_RPC_URL: 'http://127.0.0.1:1',
  DB_API_ADDR: '127.0.0.1:0',
}

test('queries are refused until the store is open, and answered from then on', async (t) => {
  const { settings } = loadGeneratorSettings({ argv: [], env })
  const parts = { log: pino({ enabled: false }), registry: new Registry() }
  const api = await openGeneratorApi({ settings, network: testNetwork }, parts)
  t.after(() => api.close())
  const ask = async (): Promise<[status: number, body: unknown]> => {
    const response = await fetch(`http://127.0.0.1:${api.port}/api/v0/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ Block { number } }' }),
    })
    return [response.status, await response.json()]
  }
  const [status, body] = await ask()
  assert.equal(status, 503)
  assert.deepEqual(body, {
    error: 'service_unavailable',
    message: 'the store is being opened',
    remedy: 'Ask again when /health of this Generator says healthy.',
  })
  const { reader } = await openTestStore(t)
  api.serve(reader)
  assert.deepEqual(await ask(), [200, { data: { Block: [] } }])
})
