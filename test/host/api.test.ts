/** The ports on which a Host answers queries: both or neither, and streams that end with them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { openHostApi, openHostGraphql } from '../../src/host/api.ts'
import { type HostSettings, hostSettings } from '../../src/host/config.ts'
import type { HostViews } from '../../src/host/views/views.ts'
import { loadSettings } from '../../src/service/settings/settings.ts'
import { captureLog } from '../support/captured-log.ts'
import { testNetwork } from '../support/chain/sealed-blocks.ts'
import { freePorts } from '../support/free-port.ts'
import { openTestStore } from '../support/test-store.ts'

function settingsOf(port: number): HostSettings {
  const env = { DB_KEYRING_SECRET: 'not used here', DB_API_ADDR: `127.0.0.1:${port}` }
  return loadSettings(hostSettings, { argv: [], env })
}

async function openApi(t: TestContext, settings: HostSettings): ReturnType<typeof openHostApi> {
  const { reader } = await openTestStore(t)
  const parts = { log: captureLog().log, registry: new Registry() }
  const graphql = openHostGraphql({ settings, network: testNetwork }, { ...parts, reader })
  const views: Partial<HostViews> = {}
  const none = { report: () => null }
  const others = { folder: none, hostRegistry: none, views: views as HostViews }
  return await openHostApi(settings, { ...parts, ...others, graphql })
}

test('a Host that cannot listen on the port of its API, or one above, listens on neither', async (t) => {
  for (const [taken, other] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const [port = 0] = await freePorts(1)
    const listener = createServer().listen(port + taken, '127.0.0.1')
    t.after(() => listener.close())
    await once(listener, 'listening')
    await assert.rejects(openApi(t, settingsOf(port)), { code: 'SERVICE_PORT_UNAVAILABLE' })
    const next = createServer().listen(port + other, '127.0.0.1')
    t.after(() => next.close())
    await once(next, 'listening')
  }
})

test('a subscription ends with the API, on either port', async (t) => {
  const api = await openApi(t, settingsOf(0))
  const ports = [api.port, api.playgroundPort]
  const streams = await Promise.all(
    ports.map((port) =>
      fetch(`http://127.0.0.1:${port}/api/v0/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: `subscription { ${testNetwork}__Block { number } }` }),
      }),
    ),
  )
  assert.deepEqual(
    streams.map(({ status }) => status),
    [200, 200],
  )
  await api.close()
  for (const stream of streams) assert.doesNotMatch(await stream.text(), /"errors"/)
})
