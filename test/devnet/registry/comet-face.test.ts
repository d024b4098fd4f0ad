/** The CometBFT face of the development registry, call by call. `faces.test.ts` has what subscribers are told. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, type TestContext, test } from 'node:test'
import { openCometFace } from '../../../src/devnet/registry/comet-face.ts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { createLedger } from '../../../src/devnet/registry/ledger.ts'
import { encodeView } from '../../../src/views/wire.ts'

const sender = `0x${'11'.repeat(20)}`
const names = ['First', 'Second', 'Third']

interface Found {
  readonly result: {
    readonly txs: readonly { readonly height: string; readonly hash: string }[]
    readonly total_count: string
  }
}

const internal = (id: unknown, data: string): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32603, message: 'Internal error', data },
})
const parseFailure = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32700, message: 'Parse error. Invalid JSON', data: 'error unmarshaling request' },
}
const done = (id: unknown): unknown => ({ jsonrpc: '2.0', id, result: {} })

describe('the CometBFT face', () => {
  let registry: DevelopmentRegistry
  before(async () => {
    registry = await openDevelopmentRegistry({ acknowledgeMs: null, chainId: 4242 })
    for (const name of names) {
      const sdl = `type ${name} {\n  address: String\n}`
      await registry.register(sender, encodeView({ query: 'Log { address }', sdl, lenses: [] }))
    }
  })
  after(() => registry.close())

  const get = async (path: string): Promise<unknown> =>
    await (await fetch(`${registry.cometUrl}/${path}`)).json()

  async function post(body: string): Promise<[status: number, answer: unknown]> {
    const response = await fetch(registry.cometUrl, { method: 'POST', body })
    return [response.status, await response.json()]
  }

  const pending = encodeURIComponent('"view.view_pending.address EXISTS"')
  async function search(more: string): Promise<string[]> {
    const found = (await get(`tx_search?query=${pending}${more}`)) as Found
    assert.equal(found.result.total_count, '3')
    return found.result.txs.map(({ height }) => height)
  }

  test('has transactions in pages of 30 or as many as are asked for, in either order', async () => {
    const heights = await search('')
    const [first, second, third] = heights
    assert.deepEqual(
      heights,
      heights.toSorted((a, b) => Number(a) - Number(b)),
    )
    assert.equal(new Set(heights).size, 3)
    assert.deepEqual(await search('&per_page=2'), [first, second])
    assert.deepEqual(await search('&per_page=2&page=2'), [third])
    assert.deepEqual(await search('&per_page=2&page=2&order_by="desc"'), [first])
    assert.deepEqual(await search('&order_by="asc"'), heights)
    assert.deepEqual(await search('&per_page=1000'), heights)
  })

  test('says between which pages there are any, one at least', async () => {
    const outside = 'page should be within [1, 2] range, given 3'
    assert.deepEqual(
      await get(`tx_search?query=${pending}&per_page=2&page=3`),
      internal(-1, outside),
    )
    assert.deepEqual(
      await get(`tx_search?query=${pending}&per_page=2&page=-1`),
      internal(-1, 'page should be within [1, 2] range, given -1'),
    )
    assert.deepEqual(await get(`tx_search?query="tx.height=0"`), {
      ...{ jsonrpc: '2.0', id: -1 },
      result: { txs: [], total_count: '0' },
    })
    assert.deepEqual(
      await get('tx_search?query="tx.height=0"&page=2'),
      internal(-1, 'page should be within [1, 1] range, given 2'),
    )
    assert.deepEqual(await get('tx_search?query="?"'), internal(-1, 'failed to parse query: ?'))
  })

  test('has health, status and the newest height, by a path and by a body', async () => {
    assert.deepEqual(await get('health'), done(-1))
    assert.deepEqual(await post('{"id":7,"method":"health"}'), [200, done(7)])
    assert.deepEqual(await post('{"method":"health"}'), [200, done(null)])
    const { result } = (await get('status')) as {
      result: { node_info: { network: string }; sync_info: Record<string, unknown> }
    }
    assert.equal(result.node_info.network, '4242')
    assert.equal(result.sync_info['catching_up'], false)
    const latest = result.sync_info['latest_block_height']
    assert.ok(Number(latest) >= 3)
    assert.deepEqual(await get('abci_info'), {
      ...{ jsonrpc: '2.0', id: -1 },
      result: { response: { last_block_height: latest } },
    })
  })

  test('refuses what is no request with 400, and a method that it has not', async () => {
    for (const body of ['{', '1', 'null', '{"id":1}'])
      assert.deepEqual(await post(body), [400, parseFailure], body)
    const missing = { code: -32601, message: 'Method not found', data: '' }
    assert.deepEqual(await get('genesis'), { jsonrpc: '2.0', id: -1, error: missing })
    assert.deepEqual(await post('{"id":"a","method":"tx_search","params":null}'), [
      200,
      internal('a', 'failed to parse query: undefined'),
    ])
  })

  test('keeps the subscriptions of a connection apart, and ends one or all of them', async (t) => {
    const socket = new WebSocket(`${registry.cometUrl.replace('http', 'ws')}/websocket`)
    t.after(() => socket.close())
    await once(socket, 'open')
    const say = async (text: string): Promise<unknown> => {
      socket.send(text)
      const [{ data }] = await once(socket, 'message')
      return JSON.parse(String(data))
    }
    const call = async (id: number, method: string, query: string): Promise<unknown> =>
      await say(JSON.stringify({ jsonrpc: '2.0', id, method, params: { query } }))
    const [one, other] = ["tm.event='Tx'", "tm.event='NewBlock'"]
    assert.deepEqual(await call(1, 'subscribe', one), done(1))
    assert.deepEqual(await call(2, 'subscribe', one), internal(2, 'already subscribed'))
    assert.deepEqual(await call(3, 'subscribe', '?'), internal(3, 'failed to parse query: ?'))
    assert.deepEqual(await call(4, 'unsubscribe', other), internal(4, 'subscription not found'))
    assert.deepEqual(await call(5, 'subscribe', other), done(5))
    assert.deepEqual(await call(6, 'unsubscribe', one), done(6))
    assert.deepEqual(await call(7, 'subscribe', one), done(7))
    assert.deepEqual(await call(7, 'subscribe', other), internal(7, 'already subscribed'))
    assert.deepEqual(
      await say('{"id":7,"method":"subscribe"}'),
      internal(7, 'failed to parse query: '),
    )
    assert.deepEqual(await call(8, 'unsubscribe_all', ''), done(8))
    for (const [id, query] of [one, other].entries())
      assert.deepEqual(await call(id, 'unsubscribe', query), internal(id, 'subscription not found'))
    assert.deepEqual(await call(9, 'health', ''), done(9))
    assert.deepEqual(await say('{'), parseFailure)
  })
})

/** A face of a ledger with so many transactions, whose node may be gone. */
async function openFace(t: TestContext, transactions: number, height: () => Promise<number>) {
  const ledger = createLedger()
  const view = { address: sender, creator: sender, name: 'V', wire: new Uint8Array() }
  for (let at = 1; at <= transactions; at++)
    ledger.add({
      height: at,
      id: `${at}`,
      steps: [{ kind: 'pending', view: { ...view, height: at } }],
    })
  const face = await openCometFace(0, { ledger, chainId: 1, height })
  t.after(() => face.close())
  return face
}

test('a page has 30 transactions where nothing is asked for, and never more than 100', async (t) => {
  const { url } = await openFace(t, 102, async () => 102)
  for (const [more, expected] of [
    ['', 30],
    ['&per_page=0', 30],
    ['&per_page=101', 100],
  ] as const) {
    const answer = await fetch(`${url}/tx_search?query="tm.event='Tx'"${more}`)
    const { result } = (await answer.json()) as Found
    assert.deepEqual([result.txs.length, result.total_count], [expected, '102'])
  }
})

test('the status has identities and hashes as long as those of CometBFT', async (t) => {
  const { url } = await openFace(t, 0, async () => 7)
  const { result } = (await (await fetch(`${url}/status`)).json()) as {
    result: Record<'node_info' | 'sync_info' | 'validator_info', Record<string, unknown>>
  }
  const { sync_info: sync, validator_info: validator } = result
  for (const id of [result.node_info['id'], validator['address']]) assert.match(`${id}`, /^0{40}$/)
  for (const part of ['latest', 'earliest'])
    for (const kind of ['block', 'app']) assert.match(`${sync[`${part}_${kind}_hash`]}`, /^0{64}$/)
  const { value } = Object(validator['pub_key'])
  assert.equal(Buffer.from(value, 'base64').length, 32)
})

test('without its node the face has no answer, and a frame that is too large ends its connection', async (t) => {
  const { url } = await openFace(t, 0, () => Promise.reject(new Error('it is gone')))
  assert.equal((await fetch(`${url}/status`)).status, 500)
  const large = `{"method":"health","params":["${'x'.repeat(1024 * 1024)}"]}`
  for (const text of ['{"method":"status"}', large]) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/websocket`)
    t.after(() => socket.close())
    await once(socket, 'open')
    socket.send(text)
    await once(socket, 'close')
  }
  assert.equal((await fetch(`${url}/health`)).status, 200)
})
