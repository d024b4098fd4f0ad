/** The ingest loop on a real store, against whatever answers at a URL. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import type { WholeBlock } from '../../../src/chain/block-reader.ts'
import { type NodeClientOptions, openNodeClient } from '../../../src/chain/node-client.ts'
import { systemClock } from '../../../src/generator/head/clock.ts'
import { defaultHeadTiming, type HeadTiming } from '../../../src/generator/head/timing.ts'
import { type IngestOptions, startIngest } from '../../../src/generator/ingest/ingest.ts'
import { createIngestMetrics } from '../../../src/generator/ingest/ingest-metrics.ts'
import { prepareBlock } from '../../../src/generator/ingest/prepare-block.ts'
import { createBlockFeed } from '../../../src/generator/read/block-feed.ts'
import { encodeBlock } from '../../../src/generator/read/encode-block.ts'
import { decodeHead, type Head } from '../../../src/primitives/head.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import type { ChainBlock } from '../../support/chain/block-factory.ts'
import { type GeneratedNode, startGeneratedNode } from '../../support/chain/generated-node.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { metricValue } from '../../support/metric-value.ts'
import { openTestStore, storedChain } from '../../support/test-store.ts'
import { createCollection } from './collection.ts'

const signer = testSigner('ingest')

interface IngestTestOptions extends Omit<Partial<IngestOptions>, 'timing'> {
  readonly timing?: Partial<HeadTiming>
}

interface RunningIngest {
  readonly log: CapturedLog
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  /** Waits until the block with this hash is sealed. */
  sealed(hash: string | undefined): Promise<void>
  /** The hash of block 0, once the store has it. */
  readonly genesis: Promise<string>
  /** What it handed out, in order: `sealed 5`, `head 5`. */
  readonly reported: readonly string[]
  /** The heads it signed. */
  readonly heads: readonly Head[]
  /** The first head that is so, now or later. */
  head(isSo: (head: Head) => boolean): Promise<Head>
  /** Shows it a head that a peer has. */
  foundHead(head: Head): void
  /** Ends it and waits for the end. */
  stop(): Promise<void>
  /** Resolves or rejects as the loop ends. */
  readonly ended: Promise<void>
}

/** Starts it at height 1 of an empty store. */
export function runIngestOn(
  store: StoreWriter,
  upstream: Partial<NodeClientOptions> & Pick<NodeClientOptions, 'rpcUrls'>,
  options: IngestTestOptions = {},
): RunningIngest {
  const log = captureLog()
  const registry = new Registry()
  const backoff = { minMs: 2, maxMs: 8 }
  const parts = { log: log.log, registry }
  const nodeClient = openNodeClient({ backoff, pollIntervalMs: 5, ...upstream }, parts)
  const encodeSeconds = new Histogram({ name: 'encode_seconds', help: 's', registers: [registry] })
  const feedParts = { node: nodeClient, log: log.log, encodeSeconds, onUnusable: () => undefined }
  const feed = createBlockFeed({ network: testNetwork, backoff }, feedParts)
  const genesis = Promise.withResolvers<string>()
  const stop = new AbortController()
  const reported: string[] = []
  const seals = createCollection<string>()
  const heads = createCollection<Head>()
  const metrics = createIngestMetrics(registry)
  const ingest = startIngest(
    {
      network: testNetwork,
      requiredChainId: null,
      startHeight: { kind: 'at', height: 1 },
      fetchAhead: 3,
      maxWrites: 4,
      backoff,
      recheckMs: 5,
      ...options,
      timing: { ...defaultHeadTiming, ...options.timing },
    },
    {
      feed,
      store,
      log: log.log,
      signer,
      clock: systemClock,
      metrics,
      onChainId: () => undefined,
      onGenesis: genesis.resolve,
      onHead({ bytes }) {
        const head = decodeHead(bytes)
        assertServed(store, head)
        reported.push(`head ${head.number}`)
        heads.add(head)
      },
      onSealed({ number, hash }) {
        reported.push(`sealed ${number}`)
        seals.add(hash)
      },
    },
    stop.signal,
  )
  const ended = ingest.ended.finally(() => nodeClient.close())
  ended.catch(() => undefined)
  return {
    log,
    metric: (name, labels) => metricValue(registry, name, labels),
    ended,
    genesis: genesis.promise,
    reported,
    heads: heads.items,
    head: heads.first,
    foundHead: ingest.foundHead,
    async sealed(wanted) {
      await seals.first((hash) => hash === wanted)
    },
    async stop() {
      stop.abort()
      await ended
    },
  }
}

/** The block of a head is stored and sealed when the head is handed out. */
function assertServed({ reader }: StoreWriter, { number, hash, signatureIdentity }: Head): void {
  reader.read((snapshot) => {
    assert.equal(snapshot.header(number)?.hash, hash)
    const signers = snapshot.sealsOf(hash).map((seal) => seal.signatureIdentity)
    assert.deepEqual(signers, [signatureIdentity])
  })
}

/** A store, a node that shows generated blocks, and ingest from one to the other. */
interface IngestSetting {
  readonly store: StoreWriter
  readonly node: GeneratedNode
  run(options?: IngestTestOptions, upstream?: Partial<NodeClientOptions>): RunningIngest
}

/** An empty store beside a node with this chain; all of it is closed after the test, ingest first. */
export async function ingestSetting(
  t: TestContext,
  chain: readonly ChainBlock[],
  retainBlocks: number | null = 1_000,
): Promise<IngestSetting> {
  const started: RunningIngest[] = []
  t.after(() => Promise.allSettled(started.map((running) => running.stop())))
  const store = await openTestStore(t, retainBlocks)
  const node = await startGeneratedNode(chain)
  t.after(() => node.close())
  return {
    store,
    node,
    run(options = {}, upstream = {}) {
      const running = runIngestOn(store, { rpcUrls: [node.url], ...upstream }, options)
      started.push(running)
      return running
    },
  }
}

/** Every stored block is, byte for byte, what its answers make, under exactly one seal. */
export function assertStored(store: StoreWriter, chain: readonly WholeBlock[]): void {
  const expected = chain.map((source) => prepareBlock(encodeBlock(testNetwork, source)))
  assert.deepEqual(
    storedChain(store.reader),
    expected.map(({ header }) => [header.number, header.hash]),
  )
  for (const { header, body } of expected) {
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.header(header.number), header)
      assert.deepEqual(Buffer.from(snapshot.body(header.number) ?? []), Buffer.from(body))
      const seals = snapshot.sealsOf(header.hash)
      assert.deepEqual(
        seals.map(({ merkleRoot, signatureIdentity }) => [merkleRoot, signatureIdentity]),
        [[header.root, signer.identity]],
      )
    })
  }
}
