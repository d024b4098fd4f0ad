/** The Generator's parts together: what it does about nodes, stores and addresses that are not as they should be. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { type Anvil, type AnvilOptions, startAnvil } from '../support/chain/anvil.ts'
import { freePorts } from '../support/free-port.ts'
import { openGeneratorInProcess } from '../support/generator-in-process.ts'
import { testDirectory } from '../support/test-store.ts'

const nowhere = { NODE_RPC_URL: 'http://127.0.0.1:1' }

async function startNode(t: TestContext, options: AnvilOptions = {}): Promise<Anvil> {
  const anvil = await startAnvil(options)
  t.after(() => anvil.close())
  await anvil.rpc('anvil_mine', '0x5')
  return anvil
}

/** The URL of a node that answers nothing; its requests are told by their headers. */
async function openFailingNode(
  t: TestContext,
  onRequest: (headers: IncomingHttpHeaders) => void,
): Promise<string> {
  const server = createHttpServer(({ headers }, response) => {
    onRequest(headers)
    response.writeHead(500).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('without a node it serves its store, reports the failure, and continues when the node comes', async (t) => {
  const [port = 0] = await freePorts(1)
  const generator = await openGeneratorInProcess(t, testDirectory(t), {
    NODE_RPC_URL: `http://127.0.0.1:${port}`,
  })
  const report = await generator.reports(({ error }) => error !== null)
  assert.equal(report.status, 'healthy')
  assert.equal(report.upstream_mode, 'offline')
  assert.equal(report.error?.code, 'CHAIN_UNREACHABLE')
  assert.match(report.error?.remedy ?? '', /^Check NODE_RPC_URL/)
  assert.deepEqual(await generator.query('{ Block { number } }'), { Block: [] })
  await startNode(t, { port })
  await generator.reports(({ error, head }) => error === null && head === 5)
})

test('/health reports its identity and chain as soon as the node has returned block 0', async (t) => {
  const [port = 0] = await freePorts(1)
  const generator = await openGeneratorInProcess(t, testDirectory(t), {
    NODE_RPC_URL: `http://127.0.0.1:${port}`,
  })
  const before = await generator.reports(({ error }) => error !== null)
  assert.match(before.identity ?? '', /^0[23][0-9a-f]{64}$/)
  assert.equal(before.genesis, null)
  const anvil = await startNode(t, { port })
  const { hash } = await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', '0x0', false)
  const after = await generator.reports(({ genesis }) => genesis !== null)
  assert.equal(after.genesis, hash)
  assert.equal(after.identity, before.identity)
})

test('a store belongs to one program, one secret and one chain', async (t) => {
  const home = testDirectory(t)
  const anvil = await startNode(t)
  const settings = { NODE_RPC_URL: anvil.url }
  const first = await openGeneratorInProcess(t, home, settings)
  await first.reports(({ head }) => head === 5)

  await t.test('a second program on the same store is refused', async (t) => {
    const env = { ...settings, DB_KEY_PATH: join(home, 'second') }
    await assert.rejects(openGeneratorInProcess(t, home, env), { code: 'STORE_LOCKED' })
    assert.deepEqual(readdirSync(home).sort(), ['keys', 'store'])
  })
  await first.close()

  await t.test('a wrong secret is refused: Failed to load existing identity', async (t) => {
    const wrong = { DB_KEYRING_SECRET: 'another secret', DB_STORE_PATH: join(home, 'second') }
    const message = /Failed to load existing identity/
    await assert.rejects(openGeneratorInProcess(t, home, { ...settings, ...wrong }), { message })
    assert.deepEqual(readdirSync(home).sort(), ['keys', 'store'])
  })

  await t.test('a node with another genesis block is refused', async (t) => {
    const other = await startNode(t, { args: ['--timestamp', '1'] })
    const env = { NODE_RPC_URL: other.url, DB_KEY_PATH: join(home, 'second') }
    await assert.rejects(openGeneratorInProcess(t, home, env), {
      code: 'STORE_FOREIGN',
      message: /genesis block/,
    })
    assert.deepEqual(readdirSync(home).sort(), ['keys', 'store'])
  })

  await t.test('a node that comes back as another chain ends it: Genesis changed', async (t) => {
    const [port = 0] = await freePorts(1)
    const env = { NODE_RPC_URL: `http://127.0.0.1:${port}` }
    const second = await openGeneratorInProcess(t, home, env)
    await startNode(t, { port, args: ['--timestamp', '1'] })
    const error = await second.failed
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'GENERATOR_CHAIN_CHANGED')
    assert.match(error.message, /^Genesis changed/)
  })
})

for (const [setting, toAddress] of [
  ['HEALTH_ADDR', (port) => `127.0.0.1:${port}`],
  ['DB_API_ADDR', (port) => `127.0.0.1:${port}`],
  ['DB_P2P_LISTEN_ADDR', (port) => `/ip4/127.0.0.1/tcp/${port}`],
] satisfies [string, (port: number) => string][])
  test(`${setting} that is taken is refused before anything is written`, async (t) => {
    const home = testDirectory(t)
    const [port = 0] = await freePorts(1)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    t.after(() => server.close())
    const env = { ...nowhere, [setting]: toAddress(port) }
    await assert.rejects(openGeneratorInProcess(t, home, env), {
      code: 'SERVICE_PORT_UNAVAILABLE',
      message: new RegExp(`^${setting}: .* is taken by another program`),
    })
    assert.deepEqual(readdirSync(home), [])
  })

test('the node gets the API key in the header that is set, and without a key none', async (t) => {
  // Each has a node of its own, which a last request of the one before does not come to.
  const headersWith = async (env: Readonly<Record<string, string>>) => {
    const asked = Promise.withResolvers<IncomingHttpHeaders>()
    const NODE_RPC_URL = await openFailingNode(t, asked.resolve)
    const generator = await openGeneratorInProcess(t, testDirectory(t), { NODE_RPC_URL, ...env })
    const headers = await asked.promise
    await generator.close()
    return [headers.authorization, headers['x-node-key']]
  }
  const key = { NODE_API_KEY: 'a key of tests only', NODE_API_KEY_TYPE: 'x-node-key' }
  assert.deepEqual(await headersWith(key), [undefined, 'a key of tests only'])
  assert.deepEqual(await headersWith({}), [undefined, undefined])
})

test('subscribers hear of each block that is sealed, and of the end of the Generator', async (t) => {
  const anvil = await startNode(t)
  const generator = await openGeneratorInProcess(t, testDirectory(t), { NODE_RPC_URL: anvil.url })
  await generator.reports(({ head }) => head === 5)
  const { body } = await fetch(`http://127.0.0.1:${generator.apiPort}/api/v0/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { Block { number } }' }),
  })
  let text = ''
  let isClosing = false
  for await (const chunk of body ?? []) {
    // The first bytes say that the subscription stands.
    if (text === '') await anvil.rpc('evm_mine')
    text += Buffer.from(chunk).toString()
    if (isClosing || !text.includes('{"Block":[{"number":6}]}')) continue
    isClosing = true
    void generator.close()
  }
  assert.ok(isClosing, text)
})

test('without the pruner all blocks stay, however many it would keep', async (t) => {
  const anvil = await startNode(t)
  const generator = await openGeneratorInProcess(t, testDirectory(t), {
    ...{ NODE_RPC_URL: anvil.url, PRUNER_ENABLED: 'false', PRUNER_MAX_BLOCKS: '20' },
  })
  await anvil.rpc('anvil_mine', '0x80')
  const { tail } = await generator.reports(({ head }) => head === 133)
  assert.equal(tail, 0)
})

test('a store directory that cannot be made is refused before anything is written or asked', async (t) => {
  const home = testDirectory(t)
  writeFileSync(join(home, 'file'), '')
  const url = await openFailingNode(t, () => assert.fail('the node is asked'))
  const env = { NODE_RPC_URL: url, DB_STORE_PATH: join(home, 'file', 'store') }
  await assert.rejects(openGeneratorInProcess(t, home, env), {
    code: 'STORE_PATH_UNUSABLE',
    remedy: /DB_STORE_PATH/,
  })
  assert.deepEqual(readdirSync(home), ['file'])
})

test('peers and announced addresses come from files too, and follow their changes', async (t) => {
  const home = testDirectory(t)
  const anvil = await startNode(t)
  const folder = join(home, 'addresses')
  mkdirSync(folder)
  const [bootstrap, announce] = [join(folder, 'peers'), join(folder, 'announce')]
  writeFileSync(bootstrap, '# none yet\n')
  writeFileSync(announce, '/ip4/192.0.2.1/tcp/9171\n')
  const generator = await openGeneratorInProcess(t, home, {
    NODE_RPC_URL: anvil.url,
    BOOTSTRAP_PEERS_FILE: bootstrap,
    P2P_ANNOUNCE_FILE: announce,
  })
  assert.equal(generator.p2p.self().addresses[0], '/ip4/192.0.2.1/tcp/9171')
  const other = await openGeneratorInProcess(t, testDirectory(t), {
    NODE_RPC_URL: anvil.url,
    DB_KEYRING_SECRET: 'a secret of its own',
  })
  const { id, addresses } = other.p2p.self()
  writeFileSync(announce, '/ip4/192.0.2.2/tcp/9171\n')
  writeFileSync(bootstrap, `${addresses[0]}/p2p/${id}\n`)
  const report = await generator.reports(({ p2p }) => p2p.peers.length > 0)
  assert.equal(report.p2p.peers[0]?.id, id)
  await generator.reports(({ p2p }) => p2p.self?.addresses[0] === '/ip4/192.0.2.2/tcp/9171')
})
