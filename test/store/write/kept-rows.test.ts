import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { eachHeight } from '../../../src/primitives/height-ranges.ts'
import type { SeenBlocks, Snapshot, StoreWriter } from '../../../src/store/store.ts'
import { openWriter, type StoreWriterOptions } from '../../../src/store/write/writer.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import {
  everywhere,
  opaqueBlock,
  opaqueNetwork,
  opaqueSeal,
} from '../../support/chain/opaque-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'
import { storedRows, viewBlock } from '../../support/view-rows.ts'

type Retained = Pick<StoreWriterOptions, 'retainBlocks' | 'retainRows'>

const slot = 3
const heightsOf = (blocks: SeenBlocks): number[] => [...blocks.heights(0, 1e9, false)]
const doneOf = (snapshot: Snapshot): number[] => [...eachHeight(snapshot.viewRanges(slot))]
const between = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const hashAt = (height: number, branch = 'main'): string =>
  opaqueBlock(height, 50, branch).header.hash

async function open(path: string, retained: Retained): Promise<StoreWriter> {
  const log = pino({ enabled: false })
  return openWriter({ path, network: opaqueNetwork, ...retained }, { log })
}

/** Stores sealed blocks, each with one row that has its hash. */
async function put(store: StoreWriter, from: number, to: number, branch = 'main'): Promise<void> {
  for (const height of between(from, to)) {
    const block = opaqueBlock(height, 50, branch)
    void store.putSealedBlock(block)
    void store.putViewRows(slot, [viewBlock(block.header, [{ name: block.header.hash }])])
  }
  await store.flushed()
  await store.prune()
}

async function storeWith(t: TestContext, retained: Retained, head: number): Promise<StoreWriter> {
  const store = await open(testDirectory(t), retained)
  t.after(() => store.close())
  await put(store, 1, head)
  return store
}

describe('rows that are kept for longer than their documents', () => {
  it('keep header and seals of their block, and nothing else of it', async (t) => {
    const store = await storeWith(t, { retainBlocks: 40, retainRows: 100 }, 200)
    store.reader.read((snapshot) => {
      assert.deepEqual(heightsOf(snapshot), between(161, 200))
      assert.deepEqual(heightsOf(snapshot.rowBlocks), between(101, 200))
      assert.deepEqual(snapshot.rowBlocks.range(), { tail: 101, head: 200 })
      assert.deepEqual(snapshot.rowBlocks.header(110), opaqueBlock(110, 50).header)
      assert.equal(snapshot.rowBlocks.heightOf(hashAt(110)), 110)
      assert.deepEqual(snapshot.seals(110), [opaqueSeal(110)])
      assert.deepEqual(
        [snapshot.header(110), snapshot.heightOf(hashAt(110)), snapshot.body(110)],
        [undefined, undefined, undefined],
      )
      const documents = [...snapshot.candidates('logAddress', everywhere, 0, 1e9, false)]
      assert.equal(documents.length, 40)
    })
  })

  it('are read, listed and found by value like others, and counted', async (t) => {
    const store = await storeWith(t, { retainBlocks: 40, retainRows: 100 }, 200)
    store.reader.read((snapshot) => {
      assert.deepEqual(doneOf(snapshot), between(101, 200))
      assert.deepEqual([...snapshot.viewHeights(slot, 0, 1e9, false)], between(101, 200))
      assert.equal(storedRows(snapshot, slot, 120)?.[0]?.values[0], hashAt(120))
      const find = (height: number) =>
        snapshot.viewCandidates(slot, 0, rowTermValue(hashAt(height)), 0, 1e9, true)
      assert.deepEqual([...find(120)], [{ height: 120, chunk: 0 }])
      assert.deepEqual([[...find(100)], storedRows(snapshot, slot, 100)], [[], null])
      assert.equal(snapshot.viewSize(slot).rows, 100)
      assert.deepEqual(snapshot.seals(100), [])
      assert.deepEqual(snapshot.sealsOf(hashAt(100)), [])
    })
  })

  it('go with their documents where fewer of them are to be kept than documents', async (t) => {
    const store = await storeWith(t, { retainBlocks: 40, retainRows: 10 }, 100)
    store.reader.read((snapshot) => {
      assert.deepEqual(heightsOf(snapshot.rowBlocks), between(61, 100))
      assert.deepEqual(doneOf(snapshot), between(61, 100))
    })
  })

  it('go with the next write to a store that kept more of them', async (t) => {
    const path = testDirectory(t)
    const more = await open(path, { retainBlocks: 20, retainRows: 60 })
    await put(more, 1, 70)
    await more.close()
    const fewer = await open(path, { retainBlocks: 20, retainRows: 30 })
    t.after(() => fewer.close())
    const kept = (): number[] => fewer.reader.read((snapshot) => heightsOf(snapshot.rowBlocks))
    assert.deepEqual(kept(), between(11, 70))
    await fewer.putBlock(opaqueBlock(70, 50))
    assert.deepEqual(kept(), between(41, 70))
  })

  it('go with their block where a reorganisation reaches below the tail', async (t) => {
    const store = await storeWith(t, { retainBlocks: 20, retainRows: 100 }, 100)
    await store.truncateAbove(70)
    store.reader.read((snapshot) => {
      assert.equal(snapshot.range(), null)
      assert.deepEqual(heightsOf(snapshot.rowBlocks), between(1, 70))
      assert.deepEqual(doneOf(snapshot), between(1, 70))
      assert.equal(snapshot.viewSize(slot).rows, 70)
      assert.equal(snapshot.rowBlocks.heightOf(hashAt(75)), undefined)
    })
    await put(store, 81, 130, 'other')
    store.reader.read((snapshot) => {
      assert.deepEqual(heightsOf(snapshot.rowBlocks), [...between(31, 70), ...between(81, 130)])
      assert.deepEqual(snapshot.rowBlocks.gaps(9), [{ from: 71, to: 80 }])
      assert.equal(snapshot.rowBlocks.header(90)?.hash, hashAt(90, 'other'))
    })
  })

  it('are stored where the documents went while they were computed', async (t) => {
    const store = await storeWith(t, { retainBlocks: 20, retainRows: 100 }, 100)
    await store.clearView(slot)
    const put = (height: number, branch?: string) =>
      store.putViewRows(slot, [viewBlock(opaqueBlock(height, 50, branch).header, [])])
    assert.deepEqual([await put(50), await put(50, 'other'), await put(90)], [[50], [], [90]])
  })

  it('keep their failures, which only those of stored blocks leave to be tried again', async (t) => {
    const store = await storeWith(t, { retainBlocks: 20, retainRows: 100 }, 50)
    const failure = Buffer.from('why')
    for (const height of [10, 45])
      await store.putViewRows(slot, [{ height, blockHash: hashAt(height), failure }])
    await store.clearViewFailures(slot)
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.viewFailures(slot), [[10, 10]])
      assert.equal(String(snapshot.viewFailure(slot, 10)), 'why')
    })
  })

  it('keep a failure as long as other blocks keep their rows', async (t) => {
    const store = await storeWith(t, { retainBlocks: 20, retainRows: 100 }, 50)
    const failure = Buffer.from('why')
    await store.putViewRows(slot, [{ height: 10, blockHash: hashAt(10), failure }])
    const failed = () =>
      store.reader.read((snapshot) => {
        const text = snapshot.viewFailure(slot, 10)
        return [snapshot.viewFailures(slot), text && String(text)]
      })
    await put(store, 51, 109)
    assert.deepEqual(failed(), [[[10, 10]], 'why'])
    await store.putSealedBlock(opaqueBlock(110, 50))
    assert.deepEqual(failed(), [[], undefined])
  })

  const restarts: readonly [string, Retained, number][] = [
    ['fewer, when fewer are to be kept', { retainBlocks: 20, retainRows: 60 }, 142],
    ['as many documents as there are, when nothing is said', { retainBlocks: 20 }, 182],
    ['all that are left, when more are to be kept', { retainBlocks: 20, retainRows: 500 }, 101],
    ['all of the range, when documents stay', { retainBlocks: null, retainRows: 100 }, 102],
    ['no more than documents, when those stay', { retainBlocks: null }, 181],
  ]
  for (const [what, retained, first] of restarts) {
    it(`are ${what} after the next block of a restart`, async (t) => {
      const path = testDirectory(t)
      const before = await open(path, { retainBlocks: 20, retainRows: 100 })
      await put(before, 1, 200)
      await before.close()
      const store = await open(path, retained)
      t.after(() => store.close())
      await put(store, 201, 201)
      store.reader.read((snapshot) => {
        assert.deepEqual(heightsOf(snapshot.rowBlocks), between(first, 201))
        assert.deepEqual(doneOf(snapshot), between(first, 201))
      })
    })
  }

  it('are those of a model, whatever happens to blocks', async (t) => {
    const path = testDirectory(t)
    let run = 0
    const property = fc.asyncProperty(
      fc.array(anyStep, { maxLength: 40, size: 'max' }),
      async (steps) => {
        const store = await open(`${path}/${run++}`, { retainBlocks: 10, retainRows: 30 })
        const model: Model = { kept: new Map(), tail: 0, rowTail: 0 }
        for (const step of steps) {
          if ('truncate' in step) await store.truncateAbove(step.truncate)
          else await put(store, step.height, step.height, step.branch)
          follow(model, step)
        }
        assertAsModel(store, model)
        await store.close()
      },
    )
    await fc.assert(property, { numRuns: 40 })
  })
})

type Step = { readonly height: number; readonly branch: string } | { readonly truncate: number }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ height: fc.nat(90), branch: fc.constantFrom('main', 'b') }),
  },
  fc.record({ truncate: fc.nat(90) }),
)

/** Branches of the blocks of which something is kept, and the lowest visible heights. */
interface Model {
  readonly kept: Map<number, string>
  tail: number
  rowTail: number
}

function follow(model: Model, step: Step): void {
  const { kept } = model
  if ('truncate' in step) {
    for (const height of kept.keys()) if (height > step.truncate) kept.delete(height)
    return
  }
  if (step.height >= model.tail) kept.set(step.height, step.branch)
  const head = Math.max(...[...kept.keys()].filter((height) => height >= model.tail))
  model.tail = Math.max(model.tail, head - 9)
  model.rowTail = Math.max(model.rowTail, head - 29)
  for (const height of kept.keys()) if (height < model.rowTail) kept.delete(height)
}

function assertAsModel(store: StoreWriter, { kept, tail }: Model): void {
  const expected = [...kept].sort(([a], [b]) => a - b)
  store.reader.read((snapshot) => {
    const found = heightsOf(snapshot.rowBlocks).map((height) => [
      height,
      storedRows(snapshot, slot, height)?.[0]?.values[0],
    ])
    assert.deepEqual(
      found,
      expected.map(([height, branch]) => [height, hashAt(height, branch)]),
    )
    const stored = expected.flatMap(([height]) => (height >= tail ? [height] : []))
    assert.deepEqual(heightsOf(snapshot), stored)
  })
}

describe('rows of pruned blocks', () => {
  it('are not seen, and count until their group of 16 blocks is removed', async (t) => {
    const store = await storeWith(t, { retainBlocks: 30, retainRows: null }, 140)
    const seen = () =>
      store.reader.read((snapshot) => [
        [...snapshot.viewHeights(slot, 0, 1e9, false)].length,
        snapshot.viewSize(slot).rows,
      ])
    assert.deepEqual(seen(), [30, 45])
    await put(store, 141, 141)
    assert.deepEqual(seen(), [30, 30])
  })
})
