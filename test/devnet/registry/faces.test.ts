/** The LCD and CometBFT faces of the development registry, asked as clients of the real chain ask. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { toBech32 } from '../../../src/registry/bech32.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { freePorts } from '../../support/free-port.ts'
import { testDirectory } from '../../support/test-store.ts'

const sender = `0x${'11'.repeat(20)}`
const path = '/shinzonetwork/view/v1/views'

test('a pending View is on no page, a registered one is, by its address with checksum', async (t) => {
  const registry = await open(t)
  const address = await registry.register(sender, wireOf('Pending'))
  assert.deepEqual(await pageOf(registry), [])
  await registry.settle({ registered: [address] })
  assert.deepEqual(await pageOf(registry), [address])
  const one = await fetch(`${registry.lcdUrl}${path}/${address}?include_data=true`)
  const { view } = (await one.json()) as { view: { data: string; name: string } }
  assert.equal(view.data, Buffer.from(wireOf('Pending')).toString('base64'))
  const lower = await fetch(`${registry.lcdUrl}${path}/${address.toLowerCase()}`)
  assert.equal(lower.status, 404)
  assert.deepEqual(await lower.json(), { code: 5, message: 'view not found', details: [] })
})

test('pages follow each other by their key, and one above 10 MiB is refused with 429', async (t) => {
  const registry = await open(t)
  const wire = new Uint8Array(384 * 1024)
  const addresses = Array.from({ length: 30 }, (_, n) => `0x${String(n).padStart(40, '0')}`)
  for (const address of addresses)
    await registry.plant({ address, creator: sender, name: 'V', height: 1, wire })
  const refused = await fetch(`${registry.lcdUrl}${path}?include_data=true&pagination.limit=100`)
  assert.equal(refused.status, 429)
  assert.match(await refused.text(), /"code":8,"message":"grpc: received message larger than max/)
  const found: string[] = []
  for (let key: string | null = ''; key !== null; ) {
    const query = `include_data=true&pagination.limit=20&pagination.key=${encodeURIComponent(key)}`
    const page = await fetch(`${registry.lcdUrl}${path}?${query}`)
    const { views, pagination } = (await page.json()) as Page
    found.push(...views.map((view) => view.address))
    key = pagination.next_key
  }
  assert.deepEqual(found, addresses)
})

test('a key is refused beside an offset with 500, and where it is no base64 with 400', async (t) => {
  const registry = await open(t)
  const status = async (query: string): Promise<number> =>
    (await fetch(`${registry.lcdUrl}${path}?${query}`)).status
  assert.equal(await status('pagination.key=AAAA&pagination.offset=1'), 500)
  assert.equal(await status('pagination.key=%21%21'), 400)
})

test('a transaction with success and refusal arrives on both subscriptions, whole', async (t) => {
  const registry = await open(t)
  const client = await connect(t, registry)
  for (const [id, type] of ['view_registered', 'view_registration_failed'].entries())
    assert.deepEqual(await client.call(id, 'subscribe', { query: queryOf(type) }), {
      jsonrpc: '2.0',
      id,
      result: {},
    })
  const first = await registry.register(sender, wireOf('First'))
  const second = await registry.register(sender, wireOf('Second'))
  await registry.settle({ registered: [first], failed: [second] })
  const messages = [await client.next(), await client.next()]
  assert.deepEqual(
    messages.map(({ id }) => id),
    [0, 1],
  )
  for (const { result } of messages) {
    assert.deepEqual(
      result.data.value.TxResult.result.events.map(({ type }) => type),
      ['view.view_registered', 'view.view_registration_failed'],
    )
    assert.deepEqual(result.events['view.view_registered.address'], [first])
  }
})

test('a registration is found by its creator, who stands in it in Bech32', async (t) => {
  const registry = await open(t)
  await registry.register(sender, wireOf('Own'))
  await registry.register(`0x${'22'.repeat(20)}`, wireOf('Other'))
  const query = encodeURIComponent(`"shinzo.address='${toBech32(sender)}'"`)
  const answer = await fetch(`${registry.cometUrl}/tx_search?query=${query}`)
  const { result } = (await answer.json()) as { result: { txs: { tx_result: TxResult }[] } }
  assert.deepEqual(
    result.txs.map(({ tx_result: { events } }) => events.map(({ type }) => type)),
    [['shinzo', 'view.view_pending']],
  )
})

test('a registry that cannot open one of its ports leaves nothing open', async (t) => {
  const tmp = testDirectory(t)
  const { TMPDIR: before = '' } = process.env
  process.env['TMPDIR'] = tmp
  t.after(() => {
    process.env['TMPDIR'] = before
  })
  const other = await open(t)
  const folders = readdirSync(tmp)
  const cometPort = Number(new URL(other.cometUrl).port)
  const [rpcPort = 0, lcdPort = 0] = await freePorts(2)
  const opening = openDevelopmentRegistry({ rpcPort, lcdPort, cometPort })
  await assert.rejects(opening, { code: 'EADDRINUSE' })
  assert.deepEqual(readdirSync(tmp), folders)
  await (await openDevelopmentRegistry({ rpcPort, lcdPort })).close()
})

test('a sixth subscription of a client is refused as CometBFT refuses it', async (t) => {
  const registry = await open(t)
  const client = await connect(t, registry)
  for (let id = 0; id < 5; id++)
    await client.call(id, 'subscribe', { query: queryOf(`view_${id}`) })
  assert.deepEqual(await client.call(6, 'subscribe', { query: queryOf('view_6') }), {
    jsonrpc: '2.0',
    id: 6,
    error: {
      code: -32603,
      message: 'Internal error',
      data: 'max_subscriptions_per_client 5 reached',
    },
  })
})

interface Page {
  readonly views: readonly { readonly address: string }[]
  readonly pagination: { readonly next_key: string | null }
}

interface TxResult {
  readonly events: readonly { readonly type: string }[]
}
interface Message {
  readonly id: number
  readonly result: {
    readonly data: {
      readonly value: {
        readonly TxResult: { readonly result: TxResult }
      }
    }
    readonly events: Readonly<Record<string, readonly string[]>>
  }
}

interface Client {
  call(id: number, method: string, params: unknown): Promise<unknown>
  next(): Promise<Message>
}

async function open(t: TestContext): Promise<DevelopmentRegistry> {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  return registry
}

async function pageOf(registry: DevelopmentRegistry): Promise<string[]> {
  const response = await fetch(`${registry.lcdUrl}${path}`)
  const { views } = (await response.json()) as Page
  return views.map(({ address }) => address)
}

async function connect(t: TestContext, registry: DevelopmentRegistry): Promise<Client> {
  const socket = new WebSocket(`${registry.cometUrl.replace('http', 'ws')}/websocket`)
  t.after(() => socket.close())
  const messages: Message[] = []
  const arrived = new EventTarget()
  socket.addEventListener('message', ({ data }) => {
    messages.push(JSON.parse(String(data)))
    arrived.dispatchEvent(new Event('message'))
  })
  await once(socket, 'open')
  const next = async (): Promise<Message> => {
    while (messages.length === 0) await once(arrived, 'message')
    return messages.shift() as Message
  }
  return {
    next,
    async call(id, method, params) {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return await next()
    },
  }
}

function queryOf(type: string): string {
  return `tm.event='Tx' AND view.${type}.address EXISTS`
}

function wireOf(name: string): Uint8Array {
  return encodeView({
    query: 'Log { address }',
    sdl: `type ${name} {\n  address: String\n}`,
    lenses: [],
  })
}
