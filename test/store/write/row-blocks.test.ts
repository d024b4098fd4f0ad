/** Blocks of which a store has no documents: what an application keeps of those whose rows it follows. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { eachHeight } from '../../../src/primitives/height-ranges.ts'
import type {
  RowBlockHeader,
  RowBlockToStore,
  SeenBlocks,
  Snapshot,
  StoreWriter,
} from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import { opaqueBlock, opaqueNetwork, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { testDirectory } from '../../support/test-store.ts'
import { storedRows, viewBlock } from '../../support/view-rows.ts'
import { assertNothingLeftOver } from '../support/stored-keys.ts'

const slot = 3
const unknown = '0'.repeat(64)
const between = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const heightsOf = (blocks: SeenBlocks): number[] => [...blocks.heights(0, 1e9, false)]
const doneOf = (snapshot: Snapshot): number[] => [...eachHeight(snapshot.viewRanges(slot))]

async function openAt(path: string): Promise<StoreWriter> {
  const options = { path, network: opaqueNetwork, retainBlocks: null, program: 'app' } as const
  return openWriter(options, { log: pino({ enabled: false }) })
}

async function openApp(t: TestContext): Promise<StoreWriter> {
  const store = await openAt(testDirectory(t))
  t.after(() => store.close())
  return store
}

function rowBlock(
  height: number,
  branch = 'main',
  changed: Partial<RowBlockHeader> = {},
): RowBlockToStore {
  const { header, seals } = opaqueBlock(height, 1, branch)
  const { number, hash, parentHash, root, timestamp } = header
  return { header: { number, hash, parentHash, root, timestamp, ...changed }, seals }
}

const none = { sections: { Block: 0, Transaction: 0, AccessListEntry: 0, Log: 0 }, bodyBytes: 0 }
const storedHeader = ({ header }: RowBlockToStore): object => ({ ...header, count: 0, ...none })

/** Stores blocks, each with one row that has its hash, in one call or in two. */
async function put(
  store: StoreWriter,
  from: number,
  to: number,
  { branch = 'main', isOneCall = false } = {},
): Promise<void> {
  const blocks = between(from, to).map((height) => rowBlock(height, branch))
  const rows = blocks.map(({ header }) => viewBlock(header, [{ name: header.hash }]))
  if (isOneCall) return await store.putRowBlocks(blocks, { slot, blocks: rows })
  await Promise.all([store.putRowBlocks(blocks), store.putViewRows(slot, rows)])
}

describe('blocks without documents', () => {
  it('are blocks of rows, with their seals and statements, and no others', async (t) => {
    const store = await openApp(t)
    await put(store, 5, 8)
    const { hash } = rowBlock(6).header
    await store.putRowStatements(6, [opaqueStatement(6, hash)])
    store.reader.countRowVotesOf({ hosts: new Set(['02'.repeat(33)]), runtime: 1 })
    store.reader.read((snapshot) => {
      assert.equal(snapshot.range(), null)
      assert.deepEqual([snapshot.header(6), snapshot.block(6)], [undefined, undefined])
      assert.deepEqual([snapshot.body(6), snapshot.heightOf(hash)], [undefined, undefined])
      assert.deepEqual(snapshot.rowBlocks.range(), { tail: 5, head: 8 })
      assert.deepEqual(snapshot.rowBlocks.header(6), storedHeader(rowBlock(6)))
      assert.equal(snapshot.rowBlocks.heightOf(hash), 6)
      assert.deepEqual(snapshot.seals(6), [opaqueSeal(6)])
      assert.deepEqual(snapshot.sealsOf(hash), [opaqueSeal(6)])
      assert.deepEqual([...snapshot.viewHeights(slot, 0, 1e9, true)], [8, 7, 6, 5])
      assert.deepEqual(doneOf(snapshot), [5, 6, 7, 8])
      assert.deepEqual(storedRows(snapshot, slot, 6)?.[0]?.values[0], hash)
      const found = snapshot.viewCandidates(slot, 0, rowTermValue(hash), 0, 1e9, false)
      assert.deepEqual([...found], [{ height: 6, chunk: 0 }])
      const [{ view } = assert.fail()] = opaqueStatement(6, hash).leaves
      assert.equal(snapshot.rowVotes(view, 6)?.votes[0]?.hosts.length, 1)
    })
  })

  it('are stored whole by one call, with rows and with what was signed of them', async (t) => {
    const store = await openApp(t)
    const blocks = between(5, 8).map((height) => {
      const block = rowBlock(height)
      return { ...block, statements: [opaqueStatement(height, block.header.hash)] }
    })
    const rows = blocks.map(({ header }) => viewBlock(header, [{ name: header.hash }]))
    await store.putRowBlocks(blocks, { slot, blocks: rows })
    store.reader.read((snapshot) => {
      assert.deepEqual(doneOf(snapshot), [5, 6, 7, 8])
      assert.deepEqual(snapshot.rowStatements(6), blocks[1]?.statements)
      assert.deepEqual(snapshot.seals(6), [opaqueSeal(6)])
    })
  })

  it('get further seals and what becomes known of them, without losing rows', async (t) => {
    const store = await openApp(t)
    const { root, timestamp } = rowBlock(5).header
    await store.putRowBlocks([
      { ...rowBlock(5, 'main', { root: unknown, timestamp: 0 }), seals: [] },
    ])
    await store.putViewRows(slot, [viewBlock(rowBlock(5).header, [{ name: 'a' }])])
    const headerOf = (): RowBlockHeader | undefined =>
      store.reader.read((snapshot) => snapshot.rowBlocks.header(5))
    assert.deepEqual([headerOf()?.root, headerOf()?.timestamp], [unknown, 0])
    const other = opaqueSeal(5, 'main', '03'.repeat(33))
    await store.putRowBlocks([rowBlock(5, 'main', { timestamp: 0 })])
    await store.putRowBlocks([{ ...rowBlock(5, 'main', { root: unknown }), seals: [other] }])
    assert.deepEqual([headerOf()?.root, headerOf()?.timestamp], [root, timestamp])
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.seals(5), [opaqueSeal(5), other])
      assert.equal(storedRows(snapshot, slot, 5)?.length, 1)
    })
    await store.putRowBlocks([rowBlock(5, 'main', { root: 'ab'.repeat(32) })])
    assert.equal(headerOf()?.root, 'ab'.repeat(32))
  })

  it('get each part of their header when it becomes known, and keep it', async (t) => {
    const store = await openApp(t)
    const { header } = rowBlock(5)
    const nothing = { root: unknown, parentHash: `0x${unknown}`, timestamp: 0 }
    await store.putRowBlocks([rowBlock(5, 'main', nothing)])
    for (const part of ['root', 'parentHash', 'timestamp'] as const) {
      const { epoch } = store.reader.read((snapshot) => snapshot)
      await store.putRowBlocks([rowBlock(5, 'main', { ...nothing, [part]: header[part] })])
      await store.putRowBlocks([rowBlock(5, 'main', nothing)])
      store.reader.read((snapshot) => {
        assert.equal(snapshot.rowBlocks.header(5)?.[part], header[part])
        assert.equal(snapshot.epoch, epoch + 1, 'readers look again once')
      })
    }
    store.reader.read((snapshot) =>
      assert.deepEqual(snapshot.rowBlocks.header(5), storedHeader(rowBlock(5))),
    )
  })

  it('give way to another block with their rows, and to none', async (t) => {
    const store = await openApp(t)
    await put(store, 1, 9)
    void store.putRowBlocks([rowBlock(10)])
    await store.putRowBlocks([rowBlock(8, 'other'), rowBlock(9), rowBlock(11)])
    store.reader.read((snapshot) => {
      assert.deepEqual(heightsOf(snapshot.rowBlocks), between(1, 11))
      assert.equal(snapshot.rowBlocks.header(8)?.hash, rowBlock(8, 'other').header.hash)
      assert.equal(snapshot.rowBlocks.heightOf(rowBlock(8).header.hash), undefined)
      assert.deepEqual(doneOf(snapshot), [...between(1, 7), 9])
      assert.equal(snapshot.viewSize(slot).rows, 8)
      assert.deepEqual(snapshot.seals(8).length, 2)
    })
    await store.truncateAbove(6)
    await store.replaceBlocks(2, 3, [])
    await put(store, 7, 7, { branch: 'other' })
    store.reader.read((snapshot) => {
      assert.deepEqual(heightsOf(snapshot.rowBlocks), [1, 4, 5, 6, 7])
      assert.deepEqual(doneOf(snapshot), [1, 4, 5, 6, 7])
      assert.equal(snapshot.rowBlocks.header(7)?.hash, rowBlock(7, 'other').header.hash)
    })
  })

  it('go below a height with rows, seals and statements, and leave their pages free', async (t) => {
    const store = await openApp(t)
    const text = 'x'.repeat(2_000)
    for (const height of between(1, 100)) {
      const { header, seals } = rowBlock(height)
      const rows = Array.from({ length: 9 }, (_, index) => ({
        name: `${header.hash} ${index} ${text}`,
      }))
      void store.putRowBlocks([{ header, seals }])
      void store.putViewRows(slot, [viewBlock(header, rows)])
      void store.putRowStatements(height, [opaqueStatement(height, header.hash)])
    }
    await store.flushed()
    const before = store.reader.usedBytes()
    await store.pruneRowsBelow(90)
    await store.pruneRowsBelow(20)
    // One that comes too late.
    await store.putRowBlocks([rowBlock(79)])
    store.reader.read((snapshot) => {
      assert.deepEqual(heightsOf(snapshot.rowBlocks), between(90, 100))
      assert.deepEqual(doneOf(snapshot), between(90, 100))
      // Heights 80 to 89 wait for the rest of their group.
      assert.equal(snapshot.viewSize(slot).rows, 9 * 21)
      assert.deepEqual([snapshot.seals(79), snapshot.seals(80).length], [[], 1])
      assert.deepEqual([snapshot.rowStatements(79), snapshot.rowStatements(80).length], [[], 1])
      assert.deepEqual(snapshot.sealsOf(rowBlock(20).header.hash), [])
    })
    assert.ok(store.reader.usedBytes() < before / 2)
    await put(store, 89, 90)
    await store.pruneRowsBelow(1_000)
    store.reader.read((snapshot) => assert.equal(snapshot.rowBlocks.range(), null))
    await put(store, 101, 101)
    store.reader.read((snapshot) => assert.deepEqual(doneOf(snapshot), [101]))
  })

  it('are not stored beside blocks with documents', async (t) => {
    const store = await openApp(t)
    await store.putSealedBlock(opaqueBlock(5))
    await assert.rejects(store.putRowBlocks([rowBlock(6)]), /has no other ones/)
    await assert.rejects(store.pruneRowsBelow(6), /go by their number/)
  })
})

/** What is expected of a store. */
interface Model {
  /** Branch and root of the block at each height. */
  readonly blocks: Map<number, { readonly branch: string; readonly root: string }>
  lowest: number
  head: number
}

/** Does something to a store, and the same to the model. */
type Step = (store: StoreWriter, model: Model) => Promise<void>

function removeWhere({ blocks }: Model, isRemoved: (height: number) => boolean): void {
  for (const height of [...blocks.keys()]) if (isRemoved(height)) blocks.delete(height)
}

const putSome =
  (from: number, to: number, branch: string, isOneCall: boolean): Step =>
  async (store, model) => {
    await put(store, from, to, { branch, isOneCall })
    for (const height of between(Math.max(from, model.lowest), to)) {
      model.head = Math.max(model.head, height)
      model.blocks.set(height, { branch, root: rowBlock(height, branch).header.root })
    }
  }

const learn =
  (height: number): Step =>
  async (store, { blocks }) => {
    const { branch, root: known } = blocks.get(height) ?? {}
    if (branch === undefined || known === undefined) return
    const root = known.slice(1) + known.slice(0, 1)
    await store.putRowBlocks([rowBlock(height, branch, { root })])
    blocks.set(height, { branch, root })
  }

const truncate =
  (above: number): Step =>
  async (store, model) => {
    await store.truncateAbove(above)
    removeWhere(model, (height) => height > above)
  }

const prune =
  (below: number): Step =>
  async (store, model) => {
    await store.pruneRowsBelow(below)
    model.lowest = Math.max(model.lowest, Math.min(below, model.head + 1))
    removeWhere(model, (height) => height < model.lowest)
  }

const someHeight = fc.nat(60)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(someHeight, fc.nat(20), fc.constantFrom('main', 'other'), fc.boolean())
    .map(([from, length, branch, isOneCall]) => putSome(from, from + length, branch, isOneCall)),
  fc.tuple(fc.constantFrom(learn, truncate, prune), someHeight).map(([make, at]) => make(at)),
)

function assertIs({ reader }: StoreWriter, { blocks }: Model): void {
  const expected = [...blocks].sort(([a], [b]) => a - b)
  reader.read((snapshot) => {
    const { rowBlocks } = snapshot
    const found = heightsOf(rowBlocks).map((height) => [height, rowBlocks.header(height)?.root])
    assert.deepEqual(
      found,
      expected.map(([height, { root }]) => [height, root]),
    )
    assert.deepEqual(
      doneOf(snapshot),
      expected.map(([height]) => height),
    )
    assert.equal(snapshot.range(), null)
    for (const [height, { branch }] of expected) {
      const { hash } = rowBlock(height, branch).header
      assert.equal(storedRows(snapshot, slot, height)?.[0]?.values[0], hash)
      assert.equal(rowBlocks.heightOf(hash), height)
    }
  })
}

test('what is put, replaced, cut off and pruned leaves what a map of heights has', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 12, size: 'max' }), async (steps) => {
      const path = testDirectory(t)
      const store = await openAt(path)
      const model: Model = { blocks: new Map(), lowest: 0, head: -1 }
      for (const step of steps) {
        await step(store, model)
        assertIs(store, model)
      }
      await store.close()
      const again = await openAt(path)
      assertIs(again, model)
      await again.close()
      await assertNothingLeftOver(path)
    }),
    { numRuns: 25 },
  )
})
