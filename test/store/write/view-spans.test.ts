/** The index of a View's rows, whose tables are merged for spans of 64 blocks once these are 64 blocks below the head. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { open } from 'lmdb'
import { pino } from 'pino'
import { eachHeight } from '../../../src/primitives/height-ranges.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter, type StoreWriterOptions } from '../../../src/store/write/writer.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'
import { type RowDocument, viewBlock } from '../../support/view-rows.ts'

const slot = 3

function openAt(path: string, options: Partial<StoreWriterOptions> = {}): Promise<StoreWriter> {
  return openWriter(
    { path, network: opaqueNetwork, retainBlocks: null, ...options },
    { log: pino({ enabled: false }) },
  )
}

const between = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Rows of a block in up to three chunks, none of every eleventh; the last one is named after the block. */
function rowsOf(height: number, branch: string): readonly RowDocument[] {
  if (height % 11 === 0) return []
  const others = Array.from({ length: (height % 3) * 64 }, () => ({ name: `other ${height % 5}` }))
  return [...others, { name: `${branch} ${height}`, counts: [height % 5] }]
}

const namesOf = (height: number, branch: string): readonly string[] => [
  `${branch} ${height}`,
  `other ${height % 5}`,
]

/** Chunks of the rows of a block that have a value, lowest first. */
function chunksWith(height: number, branch: string, name: string): number[] {
  const chunks = rowsOf(height, branch).flatMap((row, place) =>
    row['name'] === name ? [Math.floor(place / 64)] : [],
  )
  return [...new Set(chunks)]
}

async function putChain(
  store: StoreWriter,
  heights: readonly number[],
  branch = 'main',
): Promise<void> {
  await Promise.all(heights.map((height) => store.putSealedBlock(opaqueBlock(height, 50, branch))))
}

const madeOf = (heights: readonly number[], branch = 'main') =>
  heights.map((height) => viewBlock(opaqueBlock(height, 50, branch).header, rowsOf(height, branch)))

async function putRows(
  store: StoreWriter,
  heights: readonly number[],
  branch = 'main',
): Promise<void> {
  await store.putViewRows(slot, madeOf(heights, branch))
}

/** What is found of some values is what the rows of each height, given their branch, have of them. */
function assertFound(store: StoreWriter, branches: ReadonlyMap<number, string>): void {
  const heights = [...branches.keys()].sort((a, b) => a - b)
  const some = heights.filter((_, index) => index % 17 === 0)
  const names = new Set(some.flatMap((height) => namesOf(height, branches.get(height) ?? '')))
  store.reader.read((snapshot) => {
    assert.deepEqual([...eachHeight(snapshot.viewRanges(slot))], heights)
    for (const name of [...names, 'nowhere'])
      for (const [from, to] of [
        [0, 1e9],
        [70, 190],
      ] as const) {
        const expected = heights
          .filter((height) => height >= from && height <= to)
          .flatMap((height) =>
            chunksWith(height, branches.get(height) ?? '', name).map((chunk) => ({
              height,
              chunk,
            })),
          )
        const find = (descending: boolean) => [
          ...snapshot.viewCandidates(slot, 0, rowTermValue(name), from, to, descending),
        ]
        assert.deepEqual(find(false), expected, name)
        assert.deepEqual(find(true), expected.toReversed(), name)
      }
  })
}

interface Stored {
  /** First heights of merged tables, and heights of single ones. */
  readonly spans: readonly number[]
  readonly single: readonly number[]
  readonly bytes: number
}

/** The index tables of all slots, as they lie in the file. */
async function indexOf(path: string): Promise<Stored> {
  const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
  const options = { encoding: 'binary', keyEncoding: 'binary' } as const
  const entries = [...root.openDB<Buffer, Buffer>('viewIndex', options).getRange({})]
  await root.close()
  const heightsOf = (length: number): number[] => [
    ...new Set(entries.flatMap(({ key }) => (key.length === length ? [key.readUIntBE(4, 6)] : []))),
  ]
  const bytes = entries.reduce((sum, { value }) => sum + value.length, 0)
  return { spans: heightsOf(13), single: heightsOf(12), bytes }
}

/** Closes the store; what its tables take is what the slot counts. */
async function closed(store: StoreWriter, path: string, rowBytes: number): Promise<Stored> {
  await store.flushed()
  const { bytes } = store.reader.read((snapshot) => snapshot.viewSize(slot))
  await store.close()
  const stored = await indexOf(path)
  assert.equal(bytes - rowBytes, stored.bytes)
  return stored
}

const packedBytes = (branches: ReadonlyMap<number, string>): number =>
  [...branches].reduce((sum, [height, branch]) => {
    const block = viewBlock(opaqueBlock(height, 50, branch).header, rowsOf(height, branch))
    return sum + ('rows' in block ? block.rows.bytes.length : 0)
  }, 0)

const onBranch = (heights: readonly number[], branch = 'main'): Map<number, string> =>
  new Map(heights.map((height) => [height, branch]))

async function storeWith(
  t: TestContext,
  head: number,
): Promise<{ path: string; store: StoreWriter }> {
  const path = testDirectory(t)
  const store = await openAt(path)
  await putChain(store, between(1, head))
  return { path, store }
}

describe('the index of rows', () => {
  it('is merged for spans that are deep enough, and finds the same', async (t) => {
    const { path, store } = await storeWith(t, 300)
    await putRows(store, between(1, 255).toReversed())
    for (const height of between(256, 300)) await putRows(store, [height])
    const branches = onBranch(between(1, 300))
    await store.flushed()
    assertFound(store, branches)
    const { spans, single } = await closed(store, path, packedBytes(branches))
    assert.deepEqual(spans, [0, 64, 128])
    assert.deepEqual(
      single,
      between(192, 300).filter((height) => height % 11 !== 0),
    )
  })

  it('of a span is merged once its last block is 64 blocks below the head', async (t) => {
    const { path, store } = await storeWith(t, 126)
    await putRows(store, between(1, 126))
    await store.close()
    assert.deepEqual((await indexOf(path)).spans, [])
    const again = await openAt(path)
    await putChain(again, [127])
    await again.flushed()
    assert.equal((await closed(again, path, packedBytes(onBranch(between(1, 126))))).spans[0], 0)
  })

  it('of a span waits until the View has done each of its blocks, or failed there', async (t) => {
    const { path, store } = await storeWith(t, 200)
    await putRows(store, between(1, 62))
    await store.flushed()
    const { hash: blockHash } = opaqueBlock(63, 50).header
    await store.putViewRows(slot, [{ height: 63, blockHash, failure: Buffer.from('why') }])
    await store.flushed()
    assertFound(store, onBranch(between(1, 62)))
    // The failed one is tried again, and goes well.
    await putRows(store, [63])
    const branches = onBranch(between(1, 63))
    await store.flushed()
    assertFound(store, branches)
    const { spans, single } = await closed(store, path, packedBytes(branches))
    assert.deepEqual([spans, single], [[0], []])
  })

  it('of a span is merged also where the View has no rows of its last block', async (t) => {
    const { path, store } = await storeWith(t, 200)
    await putRows(store, between(1, 62))
    await store.flushed()
    const { hash: blockHash } = opaqueBlock(63, 50).header
    await store.putEmptyViewBlocks([{ height: 63, blockHash, slots: [slot] }])
    await store.flushed()
    const { spans, single } = await closed(store, path, packedBytes(onBranch(between(1, 62))))
    assert.deepEqual([spans, single], [[0], []])
  })

  it('that a program left when it was closed is merged by the next one', async (t) => {
    const { path, store } = await storeWith(t, 200)
    void putRows(store, between(1, 200))
    await store.close()
    assert.deepEqual((await indexOf(path)).spans, [])
    const again = await openAt(path)
    await again.flushed()
    const branches = onBranch(between(1, 200))
    assertFound(again, branches)
    assert.deepEqual((await closed(again, path, packedBytes(branches))).spans, [0, 64])
  })

  it('has nothing left of blocks that are replaced deep below, pruned, or of a removed View', async (t) => {
    const path = testDirectory(t)
    let store = await openAt(path, { retainBlocks: 250 })
    await putChain(store, between(1, 300))
    await putRows(store, between(51, 300))
    await store.flushed()
    await store.replaceBlocks(100, 300, [])
    assertFound(store, onBranch(between(51, 99)))
    await putChain(store, between(100, 400), 'other')
    await store.prune()
    await putRows(store, between(151, 400), 'other')
    const branches = onBranch(between(151, 400), 'other')
    await store.flushed()
    assertFound(store, branches)
    await store.prune()
    const { spans } = await closed(store, path, packedBytes(branchesFrom(branches, 144)))
    assert.deepEqual(spans, [128, 192, 256])
    store = await openAt(path, { retainBlocks: 250 })
    await store.clearView(slot)
    await store.close()
    assert.equal((await indexOf(path)).bytes, 0)
  })

  it('takes no more with its rows than they may, whatever of it is merged', async (t) => {
    const path = testDirectory(t)
    const maxViewBytes = 40_000
    const store = await openAt(path, { maxViewBytes })
    for (const height of between(1, 400)) {
      await putChain(store, [height])
      await putRows(store, [height])
      const size = store.reader.read((snapshot) => snapshot.viewSize(slot))
      assert.ok(size.bytes <= maxViewBytes, `${size.bytes} at ${height}`)
    }
    await store.flushed()
    const from = store.reader.read((snapshot) => snapshot.viewFrom(slot))
    assert.ok(from > 64)
    const branches = onBranch(between(from, 400))
    assertFound(store, branches)
    const { spans } = await closed(store, path, packedBytes(branches))
    assert.equal(spans[0], from - (from % 64))
  })

  it('lets the lowest rows go where merging takes a byte that there is no room for', async (t) => {
    const rows = (height: number, count: number) =>
      viewBlock(
        opaqueBlock(height, 50).header,
        Array.from({ length: count }, (_, place) => ({ name: `${height} ${place}` })),
      )
    const mergeWithin = async (maxViewBytes: number) => {
      const path = testDirectory(t)
      const store = await openAt(path, { maxViewBytes })
      const sizeOf = () => store.reader.read((snapshot) => snapshot.viewSize(slot))
      await putChain(store, between(1, 126))
      // As many as fill a page; with one more they take two, and a directory.
      const others = between(1, 126).filter((height) => height !== 5 && height !== 6)
      const empty = others.map((height) => rows(height, 0))
      await store.putViewRows(slot, [rows(5, 581), rows(6, 1), ...empty])
      const { bytes: singly } = sizeOf()
      await putChain(store, [127])
      await store.flushed()
      const find = (name: string) =>
        store.reader.read((snapshot) => [
          ...snapshot.viewCandidates(slot, 0, rowTermValue(name), 0, 1e9, false),
        ])
      const found = [find('5 7').length, find('6 0').length]
      const from = store.reader.read((snapshot) => snapshot.viewFrom(slot))
      const size = sizeOf()
      await store.close()
      assert.deepEqual((await indexOf(path)).spans, [0])
      return { singly, ...size, from, found }
    }
    const whole = await mergeWithin(Number.POSITIVE_INFINITY)
    assert.ok(whole.bytes > whole.singly)
    assert.deepEqual(await mergeWithin(whole.bytes), whole)
    for (const maxViewBytes of [whole.bytes - 1, whole.singly]) {
      const { rows: left, from, found } = await mergeWithin(maxViewBytes)
      assert.deepEqual([left, from, found], [1, 6, [0, 1]])
    }
  })

  it('is merged in the same way where no documents are kept', async (t) => {
    const path = testDirectory(t)
    const store = await openAt(path, { program: 'app' })
    const blocksAt = (heights: readonly number[]) =>
      heights.map((height) => opaqueBlock(height, 50))
    await store.putRowBlocks(blocksAt(between(200, 300)))
    await putRows(store, between(200, 300))
    const lower = between(60, 199)
    await store.putRowBlocks(blocksAt(lower), { slot, blocks: madeOf(lower) })
    await store.flushed()
    const branches = onBranch(between(60, 300))
    assertFound(store, branches)
    assert.deepEqual((await closed(store, path, packedBytes(branches))).spans, [0, 64, 128])
  })

  it('is merged where what lies below the rows that are kept was never done', async (t) => {
    const path = testDirectory(t)
    const store = await openAt(path, { program: 'app' })
    await store.putRowBlocks(between(130, 300).map((height) => opaqueBlock(height, 50)))
    await store.pruneRowsBelow(150)
    await putRows(store, between(150, 300))
    await store.flushed()
    const branches = onBranch(between(150, 300))
    assertFound(store, branches)
    assert.deepEqual((await closed(store, path, packedBytes(branches))).spans, [128])
  })
})

/** Blocks are pruned by sixteen: those from here on are kept. */
function branchesFrom(branches: ReadonlyMap<number, string>, from: number): Map<number, string> {
  return new Map([...branches].filter(([height]) => height >= from))
}

/** Changes the store, and says which branch it then has rows of at each height. */
type Step = (store: StoreWriter, has: Map<number, string>) => Promise<void>

const head = 230
const anyHeight = fc.integer({ min: 1, max: head })
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(anyHeight, fc.constantFrom('main', 'b')).map(([from, branch]): Step => {
    return async (store, has) => {
      await store.truncateAbove(from)
      await putChain(store, between(from + 1, head), branch)
      await putRows(store, between(from + 1, head), branch)
      for (const height of between(from + 1, head)) has.set(height, branch)
    }
  }),
  fc.array(anyHeight, { minLength: 1, maxLength: 3 }).map((heights): Step => {
    return async (store, has) => {
      for (const height of new Set(heights)) {
        const { hash } = opaqueBlock(height, 50, has.get(height) ?? 'main').header
        await store.putViewRows(slot, [{ height, blockHash: hash, failure: Buffer.from('why') }])
        await store.flushed()
        await putRows(store, [height], has.get(height))
      }
    }
  }),
  fc.constant<Step>(async (store, has) => {
    await store.clearView(slot)
    for (const branch of ['main', 'b'])
      await putRows(
        store,
        [...has].flatMap(([height, of]) => (of === branch ? [height] : [])),
        branch,
      )
  }),
)

it('whatever happens to blocks and rows, values are found where they are, and nothing stays', async (t) => {
  const home = testDirectory(t)
  let run = 0
  const property = fc.asyncProperty(fc.array(anyStep, { maxLength: 5 }), async (steps) => {
    const path = `${home}/${run++}`
    let store = await openAt(path)
    await putChain(store, between(1, head))
    await putRows(store, between(1, head))
    const has = onBranch(between(1, head))
    for (const step of steps) {
      await step(store, has)
      assertFound(store, has)
      await store.close()
      store = await openAt(path)
      await store.flushed()
      assertFound(store, has)
    }
    const { spans } = await closed(store, path, packedBytes(has))
    assert.deepEqual(spans, [0, 64])
  })
  await fc.assert(property, { numRuns: 8 })
})
