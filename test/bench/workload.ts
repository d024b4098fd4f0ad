/**
 * The benchmark's chain: seeded blocks written once as the JSON text a node would answer, kept in a
 * cache folder, so that a run neither generates nor serialises anything while it measures.
 *
 * A block file holds one JSON text a line: the block, then its receipts in transaction order.
 */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type ChainBlock, chainBlocks, shapes } from '../support/chain/block-factory.ts'

type WorkloadShape = 'full' | 'sparse'

export interface Workload {
  /** Folder of `<number>.jsonl` files, numbers 0 to `blocks`. */
  readonly folder: string
  /** Height of the newest block; block 0 is the genesis block. */
  readonly blocks: number
  /** Bytes of JSON of one block with its receipts, as answered. */
  readonly jsonBytes: number
  /** What gzip makes of those bytes: shows that the data is not unnaturally regular. */
  readonly gzipBytes: number
}

/** Raised whenever the block factory makes other blocks for the same seed. */
const workloadVersion = 1

/** The workload of this shape and length, from the cache or made now. */
export function openWorkload(shape: WorkloadShape, blocks: number): Workload {
  const folder = join(
    homedir(),
    '.cache',
    'viewmesh',
    'bench',
    `${shape}-${blocks}-v${workloadVersion}`,
  )
  if (!existsSync(folder)) makeWorkload(shape, blocks, folder)
  const sample = blockLines(sampleBlock(shape)).join('')
  return {
    folder,
    blocks,
    jsonBytes: Buffer.byteLength(sample),
    gzipBytes: gzipSync(sample).byteLength,
  }
}

function makeWorkload(shape: WorkloadShape, blocks: number, folder: string): void {
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const options = { seed: 'bench', from: 0, count: blocks + 1, shape: shapes[shape] }
  for (const block of chainBlocks(options)) writeBlock(unfinished, block)
  renameSync(unfinished, folder)
}

function sampleBlock(shape: WorkloadShape): ChainBlock {
  const [block] = chainBlocks({ seed: 'sample', count: 1, shape: shapes[shape] })
  if (block === undefined) throw new Error('the block factory made no block')
  return block
}

function blockLines(made: ChainBlock): string[] {
  return [JSON.stringify(made.block), ...made.receipts.map((receipt) => JSON.stringify(receipt))]
}

function writeBlock(folder: string, made: ChainBlock): void {
  const file = openSync(join(folder, `${made.number}.jsonl`), 'w')
  writeSync(file, blockLines(made).join('\n'))
  closeSync(file)
}
