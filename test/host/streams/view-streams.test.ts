import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, it, test } from 'node:test'
import { Registry } from 'prom-client'
import { openViewStreams } from '../../../src/host/streams/view-streams.ts'
import { createLensMetrics } from '../../../src/lens/process/metrics.ts'
import { buildLens, terminal } from '../../lens/support/lens.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { metricValue } from '../../support/metric-value.ts'
import { engineChain, hostedView } from '../views/engine/support/engine-room.ts'
import { openStreamRoom } from './support/stream-room.ts'

const identity = buildLens()
const streaming = buildLens({ transform: terminal })
const sdl = (name: string, materialized: boolean): string =>
  `type ${name} @materialized(if: ${materialized}) { address: String @index logIndex: Int transaction: JSON }`

describe('“`@materialized(if: false)` computes at query time (slower queries, lower storage)”', () => {
  for (const [feed, lenses] of [
    ['single', [identity]],
    ['stream', [streaming]],
    ['no lens', []],
    ['two lenses', [streaming, identity]],
  ] as const)
    it(`gives the rows of its materialised twin, ${feed}`, async (t) => {
      const { room, serve, query } = await openStreamRoom(t)
      await room.put(engineChain(30))
      const kept = hostedView({ lenses, sdl: sdl('Kept', true) })
      const made = hostedView({ lenses, sdl: sdl('Made', false), slot: 2 })
      serve(kept, made)
      await room.until(kept, ({ name }) => name === 'live')
      const fields = 'address logIndex transaction _blockNumber _source _attestations'
      const data = await query(`{ Kept { ${fields} } Made { ${fields} } }`)
      assert.equal(data.Made.length, 90)
      assert.deepEqual(data.Made, data.Kept)
      const more = `(filter: {_blockNumber: {_geq: 103, _leq: 120}, logIndex: {_gt: 0}}, order: {address: DESC}, limit: 7)`
      const again = await query(`{ Kept${more} { ${fields} } Made${more} { ${fields} } }`)
      assert.equal(again.Made.length, 7)
      assert.deepEqual(again.Made, again.Kept)
      assert.equal(room.engine.states().get(made.id)?.name, 'live')
      assert.equal(room.engine.state(made.id)?.name, 'live')
      assert.equal(room.store.reader.read((snapshot) => snapshot.viewSize(2)).rows, 0)
    })
})

test('rows that are computed for queries are counted, and values that are of another type', async (t) => {
  const { room, serve, query } = await openStreamRoom(t)
  await room.put(engineChain(4))
  serve(hostedView({ sdl: 'type Made @materialized(if: false) { address: Int logIndex: Int }' }))
  const counted = (what: string): Promise<number> =>
    metricValue(room.registry, `viewmesh_host_view_stream_${what}_total`)
  for (const times of [1, 2]) {
    const { Made } = await query('{ Made { address logIndex } }')
    assert.deepEqual(Made.slice(0, 2), [
      { address: null, logIndex: 0 },
      { address: null, logIndex: 1 },
    ])
    assert.deepEqual([await counted('rows'), await counted('mismatches')], [12 * times, 12 * times])
  }
})

test('rows that come in many pieces are in the order of their documents, and all of them counted', async (t) => {
  const { room, serve, query } = await openStreamRoom(t)
  const shape = { transactions: 50, logs: 0, entries: 0, calldataBytes: 4_000 }
  await room.put(createChain({ count: 4, from: 100, shape }).map((block) => storableBlock(block)))
  const type =
    'type Made @materialized(if: false) { input: String transactionIndex: Int same: Int }'
  serve(hostedView({ query: 'Transaction { input transactionIndex }', sdl: type }))
  const { Made } = await query('{ Made(order: {same: ASC}) { input transactionIndex } }')
  const indexes = Made.map((row: { transactionIndex: number }) => row.transactionIndex)
  const ofEach = Array.from({ length: 50 }, (_, index) => index)
  assert.deepEqual(indexes, [ofEach, ofEach, ofEach, ofEach].flat())
  assert.ok(JSON.stringify(Made).length > 1024 * 1024)
  const rows = 'viewmesh_host_view_stream_rows_total'
  assert.equal(await metricValue(room.registry, rows), 200)
})

test('nothing is computed for a client that is gone, and nothing of a stream stays with it', async (t) => {
  const registry = new Registry()
  const streams = openViewStreams(
    { storePath: '/nowhere', network: testNetwork, environment: {} },
    {
      ...{ log: captureLog().log, registry, lensMetrics: createLensMetrics(registry) },
      onEnded: () => assert.fail('no process is started'),
    },
  )
  t.after(() => streams.close())
  const open = streams.of({ id: 'a View', wire: new Uint8Array() })
  const request = { heights: [], withSource: false, maxMs: 60_000 }
  const begun = t.mock.method(globalThis, 'setTimeout')
  const ended = t.mock.method(globalThis, 'clearTimeout')
  const gone = open({ ...request, signal: AbortSignal.abort() })
  await assert.rejects(gone.next(), { name: 'AbortError' })
  const [deadline] = begun.mock.calls.filter(({ arguments: [, ms] }) => ms === request.maxMs)
  assert.ok(ended.mock.calls.some(({ arguments: [timer] }) => timer === deadline?.result))
  const seconds = 'viewmesh_host_view_stream_seconds_count'
  assert.equal(await metricValue(registry, seconds, { outcome: 'stopped' }), 1)

  const { signal } = new AbortController()
  const closed = open({ ...request, signal })
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  for (let again = 0; again < 2; again++) closed.close()
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
  await assert.rejects(closed.next(), { name: 'AbortError' })
})

describe('a lens that sums up', () => {
  const balances = (token: string, materialized: boolean, name: string, slot: number) =>
    hostedView({
      slot,
      lenses: [readFileSync(new URL('../../../src/lenses/erc20_balances.wasm', import.meta.url))],
      args: JSON.stringify({ tokenAddress: token }),
      query: 'Log { address topics data }',
      sdl: `type ${name} @materialized(if: ${materialized}) { account: String balance: BigInt txCount: Int }`,
    })

  it('does so over all blocks that a query names, and over each alone where it is materialised', async (t) => {
    const { room, serve, query } = await openStreamRoom(t)
    await room.put(engineChain(12))
    const { Log } = await query('{ Log { address } }')
    const token = mostFrequent(Log.map(({ address }: { address: string }) => address))
    const kept = balances(token, true, 'Kept', 1)
    serve(kept, balances(token, false, 'Made', 2))
    await room.until(kept, ({ name }) => name === 'live')
    const some = '{_blockNumber: {_geq: 102, _lt: 109}}'
    const data = await query(`{
      Kept(filter: ${some}) { account balance txCount _blockNumber }
      Made(filter: ${some}) { account balance txCount _blockNumber _source _attestations _docID }
      all: Made { account balance }
      received: Made(filter: {balance: {_gt: "0"}}, order: {balance: DESC}, limit: 3) { balance }
      SUM(Made: {field: balance})
    }`)
    assert.ok(data.Made.length > 2 && data.all.length > data.Made.length)
    for (const row of data.Made) {
      const { _blockNumber, _source, _attestations, _docID } = row
      assert.deepEqual([_blockNumber, _source, _attestations, _docID], [null, null, null, null])
    }
    assert.ok(data.Kept.every(({ _blockNumber }: { _blockNumber: number }) => _blockNumber >= 102))
    assert.deepEqual(sums(data.Made), sums(data.Kept))
    assert.equal(data.received.length, 3)
    assert.equal(Number(data.SUM), 0)
  })
})

/** The address that has most logs. */
function mostFrequent(addresses: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const address of addresses) counts.set(address, (counts.get(address) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}

interface Balance {
  readonly account: string
  readonly balance: string
}

function sums(rows: readonly Balance[]): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>()
  for (const { account, balance } of rows)
    found.set(account, (found.get(account) ?? 0n) + BigInt(balance))
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
