/** What the page of the service promises of Views, shown on Hosts with all their parts; the quotes are its words. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type ExampleHost, openExampleHost } from '../../docs/support/example-host.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { until } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'

const adminToken = 'admin'
const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
/** The first topic of a transfer. */
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const decodeLog = readFileSync(new URL('../../../src/lenses/decode_log.wasm', import.meta.url))

interface Listed {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly rows: number
  readonly bytes: number
  readonly blocks_left: number
}

/** `id` and `name` of a View that was posted, `views` of the list. */
interface Answer {
  readonly status: number
  readonly json: Pick<Listed, 'id' | 'name'> & { readonly views: readonly Listed[] }
}

interface QueryAnswer<T> {
  readonly data: T
  readonly errors?: readonly { readonly message: string }[]
}

type Rows = readonly Readonly<Record<string, unknown>>[]

interface Decoded {
  readonly event: string
  readonly signature: string
  readonly arguments: readonly { readonly name: string }[]
  readonly blockNumber: number
}

interface Attested {
  readonly _blockNumber: number
  readonly _attestations: number
}

interface NestedBlock {
  readonly number: number
  readonly transactions: readonly { readonly transactionIndex: number }[]
}

/** The API of a Host as its administrator and its users see it. */
function clientOf(origin: string) {
  const views = `${origin}/api/v0/views`
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
  const ask = async (path: string, method: string, body?: unknown): Promise<Answer> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${views}${path}`, { method, headers, ...text })
    const { status } = response
    return { status, json: (await response.json().catch(() => null)) as Answer['json'] }
  }
  const list = async (): Promise<readonly Listed[]> => (await ask('', 'GET')).json.views
  const query = async <T>(text: string): Promise<QueryAnswer<T>> => {
    const body = JSON.stringify({ query: text })
    const response = await fetch(`${origin}/api/v0/graphql`, { method: 'POST', headers, body })
    return (await response.json()) as QueryAnswer<T>
  }
  return {
    ask,
    list,
    query,
    post: (body: unknown) => ask('', 'POST', body),
    computed: (name: string) =>
      until(async () => {
        const found = (await list()).find((view) => view.name === name)
        return found?.blocks_left === 0 && (await query(`{ ${name} { _docID } }`)).data !== null
      }),
  }
}

const sdl = (name: string): string => `type ${name} { address: String blockNumber: Int }`
const logsOfToken = (collection: string, fields = 'address blockNumber'): string =>
  `${collection}(filter: {address: {_eq: "${token}"}}) { ${fields} }`

describe('a Host with blocks of a chain', () => {
  let host: ExampleHost
  let client: ReturnType<typeof clientOf>
  before(async () => {
    host = await openExampleHost({ HOST_ADMIN_TOKEN: adminToken })
    client = clientOf(host.apiOrigin)
  })
  after(() => host.close())

  /**
   * Also: "A View defines a WebAssembly lens that filters, decodes and reshapes primitive data"; the Host "writes results to
   * its local database and serves them over GraphQL"; "A decode lens (named `decode_log`) turns raw logs into decoded
   * structured output".
   */
  test('"loads the WebAssembly lens and starts transforming data … with no restart"', async () => {
    const inputs = [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256' },
    ]
    const abi = [{ type: 'event', name: 'Transfer', inputs }]
    const posted = await client.post({
      query: logsOfToken('Log', 'address topics data blockNumber transaction { hash from to }'),
      sdl: 'type Decoded { event: String signature: String arguments: JSON blockNumber: Int }',
      lenses: [{ wasm: decodeLog.toString('base64'), args: { abi } }],
    })
    assert.equal(posted.status, 201)
    await client.computed('Decoded')
    const { data: stored } = await client.query<Record<'rows' | 'logs', number>>(
      `{ rows: COUNT(Decoded: {filter: {event: {_eq: "Transfer"}}}) logs: COUNT(Log: {filter: {address: "${token}", topics: {_any: {_eq: "${transfer}"}}}}) }`,
    )
    assert.ok(stored.rows > 0)
    assert.equal(stored.rows, stored.logs)
    await host.addLast()
    const { data } = await client.query<{ Decoded: readonly Decoded[] }>(
      '{ Decoded(filter: {_blockNumber: 7}, limit: 1) { event signature arguments blockNumber } }',
    )
    const [row] = data.Decoded
    assert.deepEqual(
      { ...row, arguments: row?.arguments.map(({ name }) => name) },
      {
        event: 'Transfer',
        signature: 'Transfer(address,address,uint256)',
        arguments: ['from', 'to', 'value'],
        blockNumber: 7,
      },
    )
  })

  /**
   * "`@materialized(if: true)` computes at write time (fast queries, higher storage); `@materialized(if: false)` computes at
   * query time (slower queries, lower storage)": of twins the first stores its rows unasked, the other has the same stored never.
   */
  test('"`@materialized(if: true)` … higher storage; `@materialized(if: false)` … lower storage"', async () => {
    const twin = (name: string, isStored: boolean) => ({
      query: logsOfToken('Log'),
      sdl: `type ${name} @materialized(if: ${isStored}) { address: String blockNumber: Int }`,
    })
    await client.post(twin('Written', true))
    await client.post(twin('Queried', false))
    for (const name of ['Written', 'Queried']) await client.computed(name)
    const sizes = async () => {
      const views = await client.list()
      return ['Written', 'Queried'].map((wanted) => {
        const { rows, bytes } = views.find(({ name }) => name === wanted) ?? {}
        return { rows, bytes }
      })
    }
    const [written, ...others] = await sizes()
    assert.ok((written?.rows ?? 0) > 0 && (written?.bytes ?? 0) > 0)
    assert.deepEqual(others, [{ rows: 0, bytes: 0 }])
    const fields = 'address blockNumber'
    const { data } = await client.query<Record<'Written' | 'Queried', Rows>>(
      `{ Written { ${fields} } Queried { ${fields} } }`,
    )
    assert.equal(data.Written.length, written?.rows)
    assert.deepEqual(data.Queried, data.Written)
    assert.deepEqual(await sizes(), [written, { rows: 0, bytes: 0 }])
  })

  /** "… (including on nested selections) are supported", in one request over "primitive collections and View collections". */
  test('"nested selections across relations, filters and ordering" of rows and documents', async () => {
    const { data, errors } = await client.query<{
      rows: Rows
      logs: Rows
      blocks: readonly NestedBlock[]
    }>(`{
      rows: TokenTransfer(filter: {amount: {_gt: 0}}, order: {_blockNumber: DESC}, limit: 3) { hash _source }
      logs: Log(filter: {address: "${token}", topics: {_any: {_eq: "${transfer}"}}}, order: {blockNumber: DESC}, limit: 3) {
        transaction { hash logs(filter: {address: "${token}"}, order: {logIndex: DESC}) { logIndex } }
      }
      blocks: Block(order: {number: DESC}, limit: 2) {
        number transactions(order: {transactionIndex: DESC}, filter: {logs: {address: {_eq: "${token}"}}}) { transactionIndex }
      }
    }`)
    assert.equal(errors, undefined)
    assert.deepEqual([data.rows.length, data.logs.length, data.blocks.length], [3, 3, 2])
    for (const { hash, _source } of data.rows)
      assert.deepEqual((_source as { transaction: unknown }).transaction, { hash })
    const [newest, before] = data.blocks
    assert.ok(newest !== undefined && before !== undefined && newest.number > before.number)
    const places = newest.transactions.map(({ transactionIndex }) => transactionIndex)
    assert.ok(places.length > 1)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => b - a),
    )
  })

  test('"Applications can filter query results by attestation count"', async () => {
    const { data } = await client.query<{ all: number; some: readonly Attested[] }>(
      '{ all: COUNT(TokenTransfer: {}) some: TokenTransfer(filter: {_attestations: {_geq: 2}}) { _blockNumber _attestations } }',
    )
    assert.ok(data.some.length > 0 && data.some.length < data.all)
    for (const row of data.some) assert.ok(row._blockNumber >= 5 && row._attestations === 2)
  })

  test('"short names … may be used"; "fully qualified names also work"', async () => {
    for (const [name, collection] of [
      ['Short', 'Log'],
      ['Full', 'Local__Devnet__Log'],
    ] as const) {
      const { status } = await client.post({ query: logsOfToken(collection), sdl: sdl(name) })
      assert.equal(status, 201)
      await client.computed(name)
    }
    const { data } = await client.query<Record<'Short' | 'Full', Rows>>(
      '{ Short { address blockNumber } Full { address blockNumber } }',
    )
    assert.ok(data.Short.length > 0)
    assert.deepEqual(data.Full, data.Short)
  })

  test('"There is no Event collection": raw events are logs', async () => {
    const { errors } = await client.query('{ Event { address } }')
    assert.match(errors?.[0]?.message ?? '', /Cannot query field "Event"/)
    const { data } = await client.query<{ Log: Rows }>('{ Log(limit: 1) { topics data } }')
    assert.equal(data.Log.length, 1)
  })

  test('Views "cannot be changed in place"; changed content is "a separate View"', async () => {
    const first = await client.post({ query: logsOfToken('Log'), sdl: sdl('Same') })
    await client.computed('Same')
    const before = await client.query('{ Same { _docID blockNumber } }')
    for (const method of ['PUT', 'PATCH']) {
      const changed = { query: 'Log { data }', sdl: sdl('Same') }
      assert.equal((await client.ask(`/${first.json.id}`, method, changed)).status, 404)
    }
    const body = { query: logsOfToken('Log', 'blockNumber'), sdl: sdl('Same') }
    const second = await client.post(body)
    assert.deepEqual([first.status, second.status], [201, 201])
    assert.notEqual(second.json.id, first.json.id)
    assert.equal(second.json.name, `Same_${second.json.id.slice(2, 10)}`)
    await client.computed(second.json.name)
    assert.deepEqual(await client.query('{ Same { _docID blockNumber } }'), before)
    const { data } = await client.query<{ rows: Rows }>(`{ rows: ${second.json.name} { address } }`)
    assert.ok(data.rows.length > 0 && data.rows.every(({ address }) => address === null))
  })
})

describe('a Host that knows no Generator', () => {
  test('has Views "before any data arrives", and they are "permanent" over restarts', async (t) => {
    const home = testDirectory(t)
    const env = { HOST_ADMIN_TOKEN: adminToken }
    let host = await openHostInProcess(t, home, env)
    let client = clientOf(`http://127.0.0.1:${(await host.opened).apiPort}`)
    const posted = await client.post({ query: 'Log { address }', sdl: sdl('Early') })
    assert.equal(posted.status, 201)
    const [early] = await client.list()
    assert.deepEqual([early?.name, early?.state, early?.rows], ['Early', 'waiting', 0])
    assert.deepEqual(await client.query('{ Early { address } }'), { data: { Early: [] } })
    await host.close()
    host = await openHostInProcess(t, home, env)
    client = clientOf(`http://127.0.0.1:${(await host.opened).apiPort}`)
    const [after] = await client.list()
    assert.equal(after?.id, posted.json.id)
    assert.deepEqual(await client.query('{ Early { address } }'), { data: { Early: [] } })
  })
})
