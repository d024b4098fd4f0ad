/** A whole Host: what it answers while it starts, where its peers come from, why it would not start. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { schemaSdl } from '../../src/primitives/sdl.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { freePorts } from '../support/free-port.ts'
import { openHostInProcess } from '../support/host-in-process.ts'
import { openTestGenerator } from '../support/test-generator.ts'
import { testDirectory } from '../support/test-store.ts'

const network = 'Local__Devnet'
const unnamed = { CHAIN_NAME: '', CHAIN_NETWORK: '' }

async function listen(t: TestContext, server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

test('a Host', async (t) => {
  const home = testDirectory(t)

  await t.test(
    'answers 503 (`unhealthy`) while it starts, and takes the prefix of its Generator',
    async (t) => {
      const asked = Promise.withResolvers<void>()
      const answering = Promise.withResolvers<void>()
      const schema = createServer(async (request, response) => {
        asked.resolve()
        await answering.promise
        if (request.headers.authorization !== 'Bearer key') response.writeHead(403).end('{}')
        else response.end(JSON.stringify({ network, schema: schemaSdl(network) }))
      })
      const url = `http://127.0.0.1:${await listen(t, schema)}`
      const env = { GENERATOR_SCHEMA_URL: url, GENERATOR_SCHEMA_AUTH_TOKEN: 'key' }
      const host = await openHostInProcess(t, home, { ...unnamed, ...env })
      await asked.promise
      const early = await host.health()
      assert.deepEqual([early.status, early.report.status], [503, 'unhealthy'])
      answering.resolve()
      await host.opened
      const { status, report } = await host.health()
      assert.deepEqual([status, report.status], [200, 'healthy'])
      assert.deepEqual([report.chain, report.network], ['Local', 'Devnet'])
      assert.deepEqual(report.schema, { state: 'current', differing: [] })
      await host.close()
    },
  )

  await t.test(
    'needs no peers, takes them from a file when it changes, and knows its chain',
    async (t) => {
      const file = join(testDirectory(t), 'peers')
      writeFileSync(file, '# nobody yet\n')
      const alice = await openTestGenerator(t, 'alice', createChain({ count: 3, from: 1 }))
      const host = await openHostInProcess(t, home, { ...unnamed, BOOTSTRAP_PEERS_FILE: file })
      await host.opened
      const { report } = await host.health()
      assert.deepEqual([report.chain, report.network, report.p2p.peers], ['Local', 'Devnet', []])
      writeFileSync(file, `${alice.room.address}\n`)
      await host.captured.line('missing blocks pulled')
      const { tail, head } = (await host.health()).report
      assert.deepEqual([tail, head], [1, 3])

      await t.test('answers queries on the API port and on the playground’s', async () => {
        const { apiPort, playgroundPort } = await host.opened
        const page = await fetch(`http://127.0.0.1:${playgroundPort}/`)
        assert.match(await page.text(), /<div id="playground"/)
        const asked = { method: 'POST', body: '{"query":"{ Block(limit: 1) { number } }"}' }
        for (const port of [apiPort, playgroundPort]) {
          const answer = await fetch(`http://127.0.0.1:${port}/api/v0/graphql`, asked)
          assert.deepEqual(await answer.json(), { data: { Block: [{ number: 1 }] } })
        }
      })

      await t.test('keeps a second Host off its store, which then makes no key', async (t) => {
        const second = await openHostInProcess(t, home, { DB_KEY_PATH: join(home, 'second') })
        await assert.rejects(second.opened, { code: 'STORE_LOCKED' })
        assert.deepEqual(readdirSync(home).sort(), ['keys', 'store'])
      })
      await host.close()
    },
  )

  await t.test('refuses the store of another chain, and makes no key', async (t) => {
    const env = { CHAIN_NETWORK: 'Sepolia', DB_KEY_PATH: join(home, 'second') }
    const other = await openHostInProcess(t, home, env)
    await assert.rejects(other.opened, { code: 'STORE_FOREIGN', message: /Local__Devnet, not to/ })
    assert.deepEqual(readdirSync(home).sort(), ['keys', 'store'])
  })

  await t.test('refuses a wrong secret, and makes no store', async (t) => {
    const env = { DB_KEYRING_SECRET: 'another', DB_STORE_PATH: join(home, 'second') }
    const other = await openHostInProcess(t, home, env)
    await assert.rejects(other.opened, { code: 'IDENTITY_LOCKED' })
    assert.deepEqual(readdirSync(home).sort(), ['keys', 'store'])
  })

  await t.test('stops at once while it starts', async (t) => {
    const asked = Promise.withResolvers<void>()
    const silent = createServer(() => asked.resolve())
    const env = { GENERATOR_SCHEMA_URL: `http://127.0.0.1:${await listen(t, silent)}` }
    const host = await openHostInProcess(t, home, env)
    await asked.promise
    await host.close()
    await assert.rejects(host.opened, { name: 'AbortError' })
  })
})

describe('a Host that cannot start says why and leaves nothing behind', () => {
  test('when a port is taken', async (t) => {
    const [free = 0] = await freePorts(1)
    const port = await listen(t, createServer(), free + 1)
    const abovePort = 'the playground is served one port above it, and '
    for (const [setting, value, derivation = ''] of [
      ['HEALTH_ADDR', `127.0.0.1:${port}`],
      ['DB_API_ADDR', `127.0.0.1:${port}`],
      ['DB_API_ADDR', `127.0.0.1:${port - 1}`, abovePort],
      ['DB_P2P_LISTEN_ADDR', `/ip4/127.0.0.1/tcp/${port}`],
    ] as const) {
      const home = testDirectory(t)
      const host = await openHostInProcess(t, home, { [setting]: value })
      await assert.rejects(host.opened, {
        code: 'SERVICE_PORT_UNAVAILABLE',
        message: new RegExp(`${setting}: ${derivation}the address .*${port} is taken by another`),
        remedy: new RegExp(setting),
      })
      assert.deepEqual(readdirSync(home), [])
    }
  })

  test('when its store is that of a Generator, or a file that is no store', async (t) => {
    const home = testDirectory(t)
    const log = pino({ enabled: false })
    const path = join(home, 'generator')
    const store = await openWriter(
      { path, network, retainBlocks: null, program: 'generator' },
      { log },
    )
    await store.close()
    mkdirSync(join(home, 'other'))
    writeFileSync(join(home, 'other', 'data.mdb'), Buffer.alloc(20_000, 'no database'))
    for (const [name, code, message] of [
      ['generator', 'STORE_FOREIGN', /belongs to a generator, not to a host/],
      ['other', 'STORE_FORMAT_UNKNOWN', /is no LMDB file/],
    ] as const)
      for (const env of [{}, unnamed]) {
        const host = await openHostInProcess(t, home, { ...env, DB_STORE_PATH: join(home, name) })
        await assert.rejects(host.opened, { code, message })
        assert.deepEqual(readdirSync(home).sort(), ['generator', 'other'])
      }
  })

  test('when its store directory cannot be made', async (t) => {
    const home = testDirectory(t)
    writeFileSync(join(home, 'file'), '')
    const host = await openHostInProcess(t, home, { DB_STORE_PATH: join(home, 'file', 'store') })
    await assert.rejects(host.opened, { code: 'STORE_PATH_UNUSABLE', remedy: /DB_STORE_PATH/ })
    assert.equal(existsSync(join(home, 'keys')), false)
  })
})
