/** What the store alone costs: writing as it grows, pruning, and the file after many windows. */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import pino from 'pino'
import { encodeBody, openBody } from '../../src/primitives/body/body.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import { indexTerms } from '../../src/primitives/index-terms.ts'
import { sealRoot } from '../../src/primitives/seal.ts'
import type { BlockToStore, StoreWriter } from '../../src/store/store.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { type ChainBlock, chainBlocks, shapes } from '../support/chain/block-factory.ts'
import { type Figure, show } from './figure.ts'
import { median, timed } from './statistics.ts'

const network = 'Ethereum__Mainnet'
const log = pino({ level: 'silent' })

/**
 * Time to write a block with 10,000 sparse blocks stored against 100 stored. Blocks go to a small and
 * a large store in turn, so that what else the disk and the machine do is the same for both.
 */
export async function growthFigure(): Promise<Figure> {
  const small = await openFilled(100)
  const large = await openFilled(10_000)
  const early: number[] = []
  const late: number[] = []
  for (let round = 0; round < growthRounds; round++) {
    early.push(await small.putNext())
    late.push(await large.putNext())
  }
  await Promise.all([small.remove(), large.remove()])
  const [earlyMs, lateMs] = [median(early), median(late)]
  return {
    name: 'Time to write a block with 10,000 sparse blocks stored / with 100 stored',
    value: lateMs / earlyMs,
    unit: 'x',
    goal: 1.3,
    stretch: 1.1,
    from: `${show(lateMs)} ms / ${show(earlyMs)} ms`,
  }
}

/** Blocks that each of the two stores is given while it is measured. */
const growthRounds = 200

interface FilledStore {
  /** Milliseconds until the next block was written. */
  putNext(): Promise<number>
  remove(): Promise<void>
}

/** A store of its own with so many sparse blocks, and blocks to come. */
async function openFilled(count: number): Promise<FilledStore> {
  const path = mkdtempSync(join(tmpdir(), 'viewmesh-bench-store-'))
  const writer = await openWriter({ path, network, retainBlocks: null }, { log })
  const { sparse: shape } = shapes
  for (const block of chainBlocks({ count, shape })) await writer.putBlock(toStore(block))
  await writer.flushed()
  const rest = [...chainBlocks({ from: count + 1, count: growthRounds, shape })].map(toStore)
  return {
    putNext: async () => {
      const block = rest.shift()
      if (block === undefined) throw new Error('no block')
      return await timed(() => writer.putBlock(block))
    },
    remove: async () => {
      await writer.close()
      rmSync(path, { recursive: true })
    },
  }
}

/** Ten pruning windows of full blocks: the file against its live content, pruning against ingest. */
export async function pruningFigures(): Promise<Figure[]> {
  const window = 1_000
  const path = mkdtempSync(join(tmpdir(), 'viewmesh-bench-store-'))
  const writer = await openWriter({ path, network, retainBlocks: window }, { log })
  const blocks = [...chainBlocks({ count: 64, shape: shapes.full })].map(toStore)
  let putMs = 0
  let pruneMs = 0
  let pruned = 0
  for (let height = 1; height <= 11 * window; height++) {
    const block = blocks[height % blocks.length]
    if (block === undefined) throw new Error('no block')
    const moved = { ...block, header: { ...block.header, number: height } }
    putMs += await timed(() => writer.putBlock(moved))
    pruneMs += await timed(async () => {
      pruned += await writer.prune()
    })
  }
  await writer.flushed()
  const file = fileBytes(path)
  const live = await liveBytes(path, writer)
  rmSync(path, { recursive: true })
  return [
    {
      name: 'File size after ten pruning windows / live size',
      value: file / live,
      unit: 'x',
      goal: 1.3,
      from: `${show(file / 1e6)} MB / ${show(live / 1e6)} MB`,
    },
    {
      name: 'Pruning / writing to the store, time per block',
      value: pruneMs / pruned / (putMs / (11 * window)),
      unit: 'x',
      goal: 0.25,
      stretch: 0.02,
      from: `${show(pruneMs / pruned)} ms / ${show(putMs / (11 * window))} ms`,
    },
  ]
}

function toStore(made: ChainBlock): BlockToStore {
  const documents = toDocuments(network, made.block, made.receipts)
  const { body, cids } = encodeBody(documents)
  const { root, count } = sealRoot(cids)
  const sections = {
    Block: documents.documents.Block.length,
    Transaction: documents.documents.Transaction.length,
    AccessListEntry: documents.documents.AccessListEntry.length,
    Log: documents.documents.Log.length,
  }
  const { number, hash, parentHash, timestamp } = documents
  const header = {
    number,
    hash,
    parentHash,
    root,
    count,
    timestamp,
    sections,
    bodyBytes: body.byteLength,
  }
  return { header, body, terms: indexTerms(openBody(body), cids) }
}

const dataFileName = 'data.mdb'

function fileBytes(path: string): number {
  return statSync(join(path, dataFileName)).size
}

/** Bytes of a copy without free pages. */
async function liveBytes(path: string, writer: StoreWriter): Promise<number> {
  await writer.close()
  const copy = join(path, 'copy')
  mkdirSync(copy)
  const environment = open({ path, readOnly: true })
  await environment.backup(copy, true)
  await environment.close()
  return fileBytes(copy)
}
