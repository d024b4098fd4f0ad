import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { type ErrorCode, ServiceError } from '../../src/errors.ts'
import { prepareBlock } from '../../src/generator/ingest/prepare-block.ts'
import { encodeBlock } from '../../src/generator/read/encode-block.ts'
import { createGeneratorStatus, declareGauges } from '../../src/generator/status.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { sealBlock, testNetwork, testSigner } from '../support/chain/sealed-blocks.ts'
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
  const { ready, storeOpen, tail, head, sourceHead } = status.state()
  assert.deepEqual([ready, storeOpen, tail, head, sourceHead], [true, true, 1, 1, null])

  status.close()
  await store.close()
  const stopping = status.state()
  assert.deepEqual([stopping.ready, stopping.storeOpen], [false, false])
  assert.deepEqual([stopping.tail, stopping.head], [null, null])
})

test('health lists errors of the node, an identity, peers and the volume, in this order', async (t) => {
  const log = pino({ enabled: false })
  const options = { path: testDirectory(t), network: testNetwork, retainBlocks: null }
  const store = await openWriter(options, { log })
  t.after(() => store.close())
  const source = createChain({ count: 1 })[0] ?? assert.fail('one block')
  const { seal } = sealBlock(source, testSigner('former'))
  await store.putSealedBlock({
    ...prepareBlock(encodeBlock(testNetwork, source)),
    seals: [{ ...seal, createdAt: '2026-01-02T03:04:05Z' }],
  })
  const status = createGeneratorStatus({ chainName: 'Ethereum', chainNetwork: 'Mainnet' })
  assert.deepEqual(status.state().errors, [])
  assert.deepEqual(status.state().p2p, { self: null, peers: [] })
  const errorOf = (code: ErrorCode) => new ServiceError(code, `of ${code}`)
  const self = { id: 'us', addresses: ['/ip4/192.0.2.1/tcp/1'] }
  status.report({
    reader: store.reader,
    identity: 'own',
    former: { identity: seal.signatureIdentity, height: 1 },
    p2p: { self: () => self, peers: () => [], failures: () => [errorOf('P2P_OTHER_NETWORK')] },
    volume: { failure: () => errorOf('STORE_NEARLY_FULL') },
  })
  const error = { code: 'CHAIN_TIMEOUT', message: 'no answer' } as const
  status.onUpstream({ head: 9, headSinceMs: 7_500, mode: 'websocket', error })
  const { errors, p2p, upstreamMode, lastProcessedMs } = status.state()
  assert.deepEqual(
    errors.map(({ code }) => code),
    ['CHAIN_TIMEOUT', 'GENERATOR_IDENTITY_REPLACED', 'P2P_OTHER_NETWORK', 'STORE_NEARLY_FULL'],
  )
  assert.deepEqual([p2p, upstreamMode], [{ self, peers: [] }, 'websocket'])
  assert.equal(lastProcessedMs, Date.UTC(2026, 0, 2, 3, 4, 5), 'that of the newest stored block')
  status.report({ identity: null, volume: { failure: () => null } })
  status.onUpstream({ head: 9, headSinceMs: 7_500, mode: 'websocket', error: null })
  const left = status.state().errors
  assert.deepEqual(
    left.map(({ code }) => code),
    ['P2P_OTHER_NETWORK'],
  )
})

test('counters tell of what was sealed since the start, each by its kind', () => {
  let now = 1_000
  const status = createGeneratorStatus(
    { chainName: 'Ethereum', chainNetwork: 'Mainnet' },
    () => now,
  )
  assert.equal(status.state().lastProcessedMs, null)
  const { header } = prepareBlock(
    encodeBlock(testNetwork, createChain({ count: 1 })[0] ?? assert.fail()),
  )
  const sections = { ...header.sections, Transaction: 5, Log: 7, AccessListEntry: 11 }
  const seal = (ms: number): unknown => {
    now += ms
    status.onSealed({ ...header, sections })
    return status.counters().last_processing_time_ms
  }
  assert.deepEqual([seal(0), seal(60_000), seal(1)], [0, 60_000, 1])
  assert.equal(status.state().lastProcessedMs, 61_001)
  assert.deepEqual(status.counters(), {
    blocks_processed: 3,
    blocks_received: 3,
    blocks_per_minute: 2,
    unique_blocks: 3,
    transactions_processed: 15,
    unique_transactions: 15,
    logs_processed: 21,
    unique_logs: 21,
    access_lists_processed: 33,
    unique_access_lists: 33,
    block_signatures_processed: 3,
    batch_signatures_processed: 3,
    documents_processed: 72,
    last_processing_time_ms: 1,
  })
})

test('gauges show heights, lag and age of the head, and nothing before they are known', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 10_000 })
  const status = createGeneratorStatus({ chainName: 'Ethereum', chainNetwork: 'Mainnet' })
  const registry = new Registry()
  declareGauges(status, registry)
  const read = async (): Promise<Record<string, number | undefined>> =>
    Object.fromEntries(
      (await registry.getMetricsAsJSON()).map(({ name, values }) => [
        name.replace('viewmesh_generator_', ''),
        values[0]?.value,
      ]),
    )
  const none = { head_height: undefined, tail_height: undefined, lag_blocks: undefined }
  assert.deepEqual(await read(), { ...none, source_head_age_seconds: undefined })
  const upstream = { head: 9, headSinceMs: 7_500, mode: 'http', error: null } as const
  status.onUpstream(upstream)
  assert.deepEqual(await read(), { ...none, source_head_age_seconds: 2.5 })
  status.onUpstream({ ...upstream, headSinceMs: 10_001 })
  assert.deepEqual(await read(), { ...none, source_head_age_seconds: 0 })
})
