import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { eachHeight } from '../../src/primitives/height-ranges.ts'
import type { Snapshot } from '../../src/store/store.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import {
  everywhere,
  namedHash,
  opaqueBlock,
  opaqueNetwork,
} from '../support/chain/opaque-blocks.ts'
import { startChild } from '../support/child-program.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { testDirectory } from '../support/test-store.ts'
import { storedRows } from '../support/view-rows.ts'
import {
  emptySlot,
  keptRowBlocks,
  reorgDepth,
  writtenBranches,
  writtenBytes,
  writtenExcerpt,
  writtenRetainBlocks,
  writtenRetainRows,
  writtenRowBlock,
  writtenRows,
  writtenSlot,
  writtenStatement,
} from './support/store-program.ts'

const rounds = 10

/** Starts the writing program, kills it some time after its first block, and returns the last height it acknowledged. */
async function writeAndKill(mode: string, path: string, delayMs: number): Promise<number> {
  const child = startChild('test/store/support/store-program.ts', { args: [mode, path] })
  await child.says('acknowledged')
  await setTimeout(delayMs)
  child.process.kill('SIGKILL')
  const { stdout, signal } = await child.ended()
  assert.equal(signal, 'SIGKILL')
  const heights = [...stdout.matchAll(/^acknowledged (\d+)$/gm)].map((match) => Number(match[1]))
  return Math.max(...heights)
}

/** The block is one that was written, with all its bytes and its seal. */
function assertWhole(snapshot: Snapshot, height: number, mayLackSeal: boolean): void {
  const header = snapshot.header(height)
  const branch = writtenBranches(height).find(
    (name) => namedHash(`${name}:${height}`) === header?.hash,
  )
  assert.ok(branch !== undefined, `height ${height} has one of the written blocks`)
  const block = opaqueBlock(height, writtenBytes(height), branch)
  assert.deepEqual(header, block.header)
  assert.deepEqual(Buffer.from(snapshot.body(height) ?? []), block.body)
  assert.equal(snapshot.heightOf(block.header.hash), height)
  if (!mayLackSeal) assert.deepEqual(snapshot.sealsOf(block.header.hash), block.seals)
  const [term] = block.terms
  const found = [...snapshot.candidates('blockHash', term?.value ?? everywhere, 0, 1e9, true)]
  assert.deepEqual(found, [{ height, section: 'Block', chunk: 0 }])
}

/** Rows are there for each acknowledged block of the main branch, also where it was pruned, and for no other one. */
function assertRows(snapshot: Snapshot, head: number, acknowledged: number): void {
  const { rowBlocks } = snapshot
  const heights = [...rowBlocks.heights(0, 1e9, false)]
  assert.equal(heights.length, Math.min(head, writtenRetainRows))
  for (const height of heights) {
    const hash = rowBlocks.header(height)?.hash ?? ''
    const isMain = hash === namedHash(`main:${height}`)
    assert.ok(height > acknowledged || snapshot.sealsOf(hash).length === 1)
    assert.equal(rowBlocks.heightOf(hash), height)
    const rows = storedRows(snapshot, writtenSlot, height)
    const statements = snapshot.rowStatements(height)
    if (height <= acknowledged || statements.length > 0)
      assert.deepEqual(statements, [writtenStatement(height)])
    if (rows === null && (!isMain || height > acknowledged)) continue
    assert.ok(isMain && rows !== null, `height ${height} has rows of its block`)
    assert.deepEqual(
      rows.map(({ values }) => values),
      writtenRows(height).map(({ name, counts }) => [name, counts, null]),
    )
  }
  const done = [...eachHeight(snapshot.viewRanges(writtenSlot))]
  assert.deepEqual(
    done.filter((height) => !heights.includes(height)),
    [],
  )
}

/** The View without rows is done with all blocks, those of other branches included. */
function assertEmpty(snapshot: Snapshot): void {
  assert.deepEqual(
    [...eachHeight(snapshot.viewRanges(emptySlot))],
    [...snapshot.rowBlocks.heights(0, 1e9, false)],
  )
}

function assertSound(snapshot: Snapshot, acknowledged: number): void {
  const range = snapshot.range()
  assert.ok(range)
  assert.ok(range.head >= acknowledged, `${acknowledged} was acknowledged, ${range.head} is there`)
  assert.ok(range.head - range.tail < writtenRetainBlocks)
  const heights = [...snapshot.heights(0, 1e9, false)]
  assert.equal(heights.length, range.head - range.tail + 1)
  for (const height of heights) assertWhole(snapshot, height, height > acknowledged)
  assertRows(snapshot, range.head, acknowledged)
  assertEmpty(snapshot)
  const found = [...snapshot.candidates('logAddress', everywhere, 0, 1e9, false)]
  assert.deepEqual(
    found.map(({ height }) => height),
    heights,
  )
}

/**
 * Blocks without documents that are done follow each other, up to those acknowledged but for a reorganisation under
 * way, and each has what was written before its rows.
 */
function assertRowBlocks(snapshot: Snapshot, acknowledged: number): void {
  const { rowBlocks } = snapshot
  assert.equal(snapshot.range(), null)
  const done = [...eachHeight(snapshot.viewRanges(writtenSlot))]
  const head = done.at(-1) ?? 0
  assert.ok(head > acknowledged - reorgDepth, `${acknowledged} was acknowledged, ${head} is there`)
  assert.deepEqual(
    done,
    done.map((_, index) => head - done.length + 1 + index),
  )
  assert.ok(done.length > Math.min(head, keptRowBlocks) - reorgDepth)
  for (const height of done) {
    const { header, seals } = writtenRowBlock(height)
    const { number, hash, parentHash, root, timestamp } = rowBlocks.header(height) ?? assert.fail()
    assert.deepEqual({ number, hash, parentHash, root, timestamp }, header)
    assert.equal(rowBlocks.heightOf(hash), height)
    assert.deepEqual(
      storedRows(snapshot, writtenSlot, height)?.map(({ values }) => values),
      writtenRows(height).map(({ name, counts }) => [name, counts, null]),
    )
    assert.deepEqual(snapshot.sealsOf(header.hash), seals)
    assert.deepEqual(snapshot.statementExcerpts(height), [writtenExcerpt(height)])
  }
}

describe('kill -9 at any moment', () => {
  it(`leaves blocks without documents whole, with rows where they are done (${rounds} rounds)`, async (t) => {
    const path = testDirectory(t)
    const random = createSeededRandom('kill rows')
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await writeAndKill('write-rows', path, random.int(400))
      const options = { path, network: opaqueNetwork, retainBlocks: null, program: 'app' } as const
      const store = await openWriter(options, { log: pino({ enabled: false }) })
      store.reader.read((snapshot) => assertRowBlocks(snapshot, acknowledged))
      await store.close()
    }
  })

  it(`leaves no half block, keeps acknowledged ones and the index whole (${rounds} rounds)`, async (t) => {
    const path = testDirectory(t)
    const random = createSeededRandom('kill')
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await writeAndKill('write', path, random.int(120))
      const retain = { retainBlocks: writtenRetainBlocks, retainRows: writtenRetainRows }
      const options = { path, network: opaqueNetwork, ...retain }
      const store = await openWriter(options, { log: pino({ enabled: false }) })
      const snapshot = store.reader.snapshot()
      assertSound(snapshot, acknowledged)
      snapshot.release()
      await store.close()
    }
  })
})
