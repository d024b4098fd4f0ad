/**
 * The Host that the examples in `docs` are asked of: a Host's API on loopback over a recorded development chain that
 * Generators with fixed keys signed. Every answer is the same each time.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { postTokenView } from '../../../src/devnet/token-view.ts'
import { openHostApi, openHostGraphql } from '../../../src/host/api.ts'
import { hostSettings } from '../../../src/host/config.ts'
import type { RowsWriter } from '../../../src/host/views/engine/engine.ts'
import { openHostViews } from '../../../src/host/views/host-views.ts'
import { openBody } from '../../../src/primitives/body/body.ts'
import { indexTerms } from '../../../src/primitives/index-terms.ts'
import type { RpcBlock, RpcReceipt } from '../../../src/primitives/rpc-block.ts'
import { loadSettings } from '../../../src/service/settings/settings.ts'
import type { SealedBlockToStore } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { decodeBlockRows } from '../../../src/views/rows/block-rows.ts'
import type { ChainBlock } from '../../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'

export interface ExampleHost {
  /** Where the API and the playground listen. */
  readonly apiOrigin: string
  readonly playgroundOrigin: string
  /** Block 7 arrives. */
  addLast(): Promise<void>
  /** Another block 7 takes its place. */
  replaceLast(): Promise<void>
  close(): Promise<void>
}

/** The network of `npm start`, so that a reader can paste what the pages ask. */
const network = 'Local__Devnet'
const adminToken = 'the token of this Host'
/** The token of that chain, whose View it posts. */
const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
/** The second Generator started later: from this block on there are two signatures. */
const secondFrom = 5

interface Recorded {
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
}

interface RecordedChain {
  readonly blocks: readonly Recorded[]
  /** What takes the place of the last one. */
  readonly replacement: Recorded
}

const recordedPath = new URL('../../fixtures/chain/development.json', import.meta.url)

/** Opens the Host with all blocks of the recorded chain but the last; `env` are settings beside the defaults. */
export async function openExampleHost(
  env: Readonly<Record<string, string>> = {},
): Promise<ExampleHost> {
  const { blocks, replacement }: RecordedChain = JSON.parse(readFileSync(recordedPath, 'utf8'))
  const path = mkdtempSync(join(tmpdir(), 'viewmesh-docs-'))
  const log = pino({ enabled: false })
  const store = await openWriter({ path, network, retainBlocks: null }, { log })
  const kept = blocks.slice(0, -1)
  for (const one of kept) void store.putSealedBlock(sealedBlock(one))
  await store.flushed()
  const settings = loadSettings(hostSettings, {
    argv: [],
    env: {
      DB_KEYRING_SECRET: 'not used here',
      DB_API_ADDR: '127.0.0.1:0',
      HOST_ADMIN_TOKEN: adminToken,
      ...env,
    },
  })
  const parts = { log, registry: new Registry(), reader: store.reader }
  const graphql = openHostGraphql({ settings, network }, parts)
  const listeners: Parameters<RowsWriter['onStored']>[0][] = []
  const writer: RowsWriter = {
    ...store,
    putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
    onStored: (listener) => void listeners.push(listener),
  }
  const onFatal = (error: unknown): never => {
    throw error
  }
  const views = openHostViews(
    { ...settings, storePath: path, network, environment: {} },
    { ...parts, writer, graphql, onFatal },
  )
  const api = await openHostApi(settings, {
    ...parts,
    graphql,
    views,
    folder: { report: () => null },
    hostRegistry: { report: () => null },
  })
  const apiOrigin = `http://127.0.0.1:${api.port}`
  const isComputed = (): boolean => views.list().every(({ blocks_left: left }) => left === 0)
  const add = async (one: Recorded): Promise<void> => {
    const block = sealedBlock(one)
    const viewsDone = await store.putSealedBlock(block)
    graphql.notify(block.header.number)
    for (const listener of listeners) listener({ viewsDone })
    await until(isComputed)
  }
  const hostUrl = apiOrigin
  const posting = { hostUrl, adminToken: settings.adminToken ?? adminToken, token }
  await postTokenView(posting, AbortSignal.timeout(30_000))
  await until(isComputed)
  return {
    apiOrigin,
    playgroundOrigin: `http://127.0.0.1:${api.playgroundPort}`,
    async addLast() {
      for (const one of blocks.slice(kept.length)) await add(one)
    },
    async replaceLast() {
      await store.truncateAbove(kept.length)
      await add(replacement)
    },
    async close() {
      await api.close()
      await views.close()
      await store.close()
      rmSync(path, { recursive: true })
    },
  }
}

/** A recorded block with the signatures of the Generators that had started by then. */
function sealedBlock({ block, receipts }: Recorded): SealedBlockToStore {
  const { hash, parentHash } = block as { hash: `0x${string}`; parentHash: `0x${string}` }
  const source: ChainBlock = { number: Number(block.number), hash, parentHash, block, receipts }
  const signers = source.number < secondFrom ? ['generator'] : ['generator', 'second']
  const sealed = signers.map((name) => sealBlock(source, testSigner(name), network))
  const [first] = sealed
  if (first === undefined) throw new Error('a block has a signer')
  const opened = openBody(first.body)
  const header = {
    number: source.number,
    hash,
    parentHash,
    root: first.seal.merkleRoot,
    count: first.seal.cidCount,
    timestamp: first.documents.timestamp,
    sections: opened.counts,
    bodyBytes: first.body.length,
  }
  const terms = indexTerms(opened, first.cids)
  return { header, body: first.body, terms, seals: sealed.map(({ seal }) => seal) }
}
