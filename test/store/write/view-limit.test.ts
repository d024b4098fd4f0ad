import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { eachHeight, toHeightRanges } from '../../../src/primitives/height-ranges.ts'
import type { Snapshot, StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { testDirectory } from '../../support/test-store.ts'
import { storedRows, viewBlock } from '../../support/view-rows.ts'
import { assertNothingLeftOver } from '../support/stored-keys.ts'

const slot = 3
const maxViewBytes = 100_000

const between = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const doneOf = (snapshot: Snapshot): number[] => [...eachHeight(snapshot.viewRanges(slot))]

function openAt(path: string, maxBytes = maxViewBytes): Promise<StoreWriter> {
  const options = { path, network: opaqueNetwork, retainBlocks: null, maxViewBytes: maxBytes }
  return openWriter(options, { log: pino({ enabled: false }) })
}

async function openStore(t: TestContext): Promise<StoreWriter> {
  const store = await openAt(testDirectory(t))
  t.after(() => store.close())
  return store
}

/** One row of a block that takes about so many bytes, and is found by the height. */
function rowsOf(height: number, bytes: number, branch = 'main') {
  const { header } = opaqueBlock(height, 50, branch)
  const text = createSeededRandom(`${height}`).bytes(bytes).toString('base64').slice(0, bytes)
  return viewBlock(header, bytes === 0 ? [] : [{ name: `${height}`, data: { text } }])
}

async function putChain(store: StoreWriter, from: number, to: number, branch = 'main') {
  for (const height of between(from, to)) void store.putBlock(opaqueBlock(height, 50, branch))
  await store.flushed()
}

const put = (store: StoreWriter, heights: readonly number[], bytes = 10_000, branch = 'main') =>
  store.putViewRows(
    slot,
    heights.map((height) => rowsOf(height, bytes, branch)),
  )

/** The rows that are there, and nothing else of the slot, which takes no more than it may. */
function assertSound(store: StoreWriter, heights: readonly number[]): void {
  store.reader.read((snapshot) => {
    assert.deepEqual(doneOf(snapshot), heights)
    assert.equal(snapshot.viewSize(slot).rows, heights.length)
    assert.ok(snapshot.viewSize(slot).bytes <= maxViewBytes)
    for (const height of between(0, 60)) {
      const isThere = heights.includes(height)
      assert.equal(storedRows(snapshot, slot, height)?.length, isThere ? 1 : undefined)
      const value = rowTermValue(`${height}`)
      const found = [...snapshot.viewCandidates(slot, 0, value, 0, 1e9, false)]
      assert.deepEqual(found, isThere ? [{ height, chunk: 0 }] : [])
    }
  })
}

describe('a View whose rows take more than they may', () => {
  it('loses those of the oldest blocks as new ones come', async (t) => {
    const store = await openStore(t)
    await putChain(store, 1, 60)
    for (const height of between(1, 60)) await put(store, [height])
    const [first = 0] = store.reader.read(doneOf)
    assert.ok(first > 45 && first < 55, `${first}`)
    assertSound(store, between(first, 60))
    assert.equal(
      store.reader.read((snapshot) => snapshot.viewFrom(slot)),
      first,
    )
  })

  it('is not computed any further back, where it is computed backwards', async (t) => {
    const store = await openStore(t)
    await putChain(store, 1, 60)
    for (const height of between(1, 30)) await put(store, [61 - 2 * height, 60 - 2 * height])
    const [first = 0] = store.reader.read(doneOf)
    assert.ok(first > 45 && first < 55, `${first}`)
    assertSound(store, between(first, 59))
  })

  it('does so also where one write has more than it may have', async (t) => {
    const store = await openStore(t)
    await putChain(store, 1, 60)
    await Promise.all([put(store, between(1, 30)), put(store, between(31, 60).reverse())])
    const [first = 0] = store.reader.read(doneOf)
    assertSound(store, between(first, 60))
  })

  it('keeps its newest block, whatever that takes', async (t) => {
    const store = await openStore(t)
    await putChain(store, 1, 3)
    for (const height of [1, 2, 3]) await put(store, [height], 2 * maxViewBytes)
    store.reader.read((snapshot) => {
      assert.deepEqual(doneOf(snapshot), [3])
      assert.equal(snapshot.viewFrom(slot), 3)
    })
  })

  it('takes up to the last byte of it with its index, and loses a block for one more', async (t) => {
    const doneWithin = async (maxBytes: number): Promise<[done: number[], bytes: number]> => {
      const store = await openAt(testDirectory(t), maxBytes)
      t.after(() => store.close())
      await putChain(store, 0, 2)
      await put(store, [0, 1], 0)
      const manyTerms = Array.from({ length: 40 }, (_, index) => ({ name: `${index}` }))
      await store.putViewRows(slot, [viewBlock(opaqueBlock(1, 50).header, manyTerms)])
      await store.putViewRows(slot, [viewBlock(opaqueBlock(2, 50).header, manyTerms)])
      return store.reader.read((snapshot) => [doneOf(snapshot), snapshot.viewSize(slot).bytes])
    }
    const [, bytes] = await doneWithin(Number.POSITIVE_INFINITY)
    assert.deepEqual(await doneWithin(bytes), [[0, 1, 2], bytes])
    assert.deepEqual(await doneWithin(bytes - 1), [[2], bytes / 2])
  })

  it('loses block 0 alone where that is enough', async (t) => {
    const store = await openStore(t)
    await putChain(store, 0, 2)
    for (const height of [0, 1, 2]) await put(store, [height], maxViewBytes / 2)
    store.reader.read((snapshot) => {
      assert.deepEqual(doneOf(snapshot), [1, 2])
      assert.equal(snapshot.viewFrom(slot), 1)
      assert.equal(storedRows(snapshot, slot, 0), null)
    })
  })

  it('leaves other Views and blocks without rows alone, and forgets old failures', async (t) => {
    const store = await openStore(t)
    await putChain(store, 1, 40)
    await store.putViewRows(4, [rowsOf(1, 10_000)])
    const { hash: blockHash } = opaqueBlock(2).header
    await store.putViewRows(slot, [{ height: 2, blockHash, failure: Buffer.from('why') }])
    await put(store, between(3, 20))
    await put(store, between(21, 40), 0)
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.viewRanges(4), [[1, 1]])
      assert.deepEqual(snapshot.viewFailures(slot), [])
      assert.deepEqual(snapshot.viewRanges(slot), [[snapshot.viewFrom(slot), 40]])
    })
  })

  it('forgets the failures below the lowest rows that it keeps, and no others', async (t) => {
    const store = await openStore(t)
    await putChain(store, 0, 7)
    const fail = (height: number) => {
      const { hash: blockHash } = opaqueBlock(height).header
      return store.putViewRows(slot, [{ height, blockHash, failure: Buffer.from('why') }])
    }
    for (const height of [0, 2, 4, 6]) await fail(height)
    const failed = () => store.reader.read((snapshot) => snapshot.viewFailures(slot))
    for (const height of [1, 3, 5]) await put(store, [height], maxViewBytes / 2)
    assert.deepEqual(failed(), toHeightRanges([2, 4, 6]))
    await put(store, [7], 2 * maxViewBytes)
    assert.deepEqual([failed(), store.reader.read(doneOf)], [[], [7]])
  })

  it('begins again after a reorganisation that leaves none of its blocks', async (t) => {
    const store = await openStore(t)
    await putChain(store, 1, 60)
    await put(store, between(1, 60))
    await store.truncateAbove(30)
    await putChain(store, 31, 35, 'other')
    await put(store, between(31, 35), 10_000, 'other')
    store.reader.read((snapshot) => {
      assert.equal(snapshot.viewFrom(slot), 0)
      assert.deepEqual(doneOf(snapshot), between(31, 35))
    })
  })

  it('may be computed further back again after a restart with a higher bound', async (t) => {
    const path = testDirectory(t)
    const before = await openAt(path)
    await putChain(before, 1, 60)
    await put(before, between(1, 60))
    await before.close()
    const same = await openAt(path)
    await same.flushed()
    assert.ok(same.reader.read((snapshot) => snapshot.viewFrom(slot)) > 0)
    await same.close()
    const store = await openAt(path, 10 * maxViewBytes)
    t.after(() => store.close())
    await put(store, between(1, 60))
    store.reader.read((snapshot) => {
      assert.equal(snapshot.viewFrom(slot), 0)
      assert.deepEqual(doneOf(snapshot), between(1, 60))
    })
  })

  it('never takes more, in whichever order blocks come, go and are computed again', async (t) => {
    const path = testDirectory(t)
    const anyPut = fc.record({
      heights: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }),
      bytes: fc.constantFrom(0, 100, 10_000, 30_000),
    })
    const anyStep = fc.oneof(
      { weight: 6, arbitrary: anyPut },
      fc.record({ truncate: fc.nat(30) }),
      fc.record({ failed: fc.integer({ min: 1, max: 30 }) }),
    )
    let run = 0
    const property = fc.asyncProperty(
      fc.array(anyStep, { maxLength: 30, size: 'max' }),
      async (steps) => {
        const place = `${path}/${run++}`
        const store = await openAt(place)
        await putChain(store, 1, 30)
        const done: Promise<unknown>[] = []
        for (const step of steps) {
          if ('heights' in step) done.push(put(store, step.heights, step.bytes))
          else if ('truncate' in step) {
            done.push(store.truncateAbove(step.truncate))
            done.push(putChain(store, step.truncate + 1, 30))
          } else {
            const { hash: blockHash } = opaqueBlock(step.failed).header
            const failure = Buffer.from('why')
            done.push(store.putViewRows(slot, [{ height: step.failed, blockHash, failure }]))
          }
        }
        await Promise.all(done)
        store.reader.read((snapshot) => {
          const rows = doneOf(snapshot).map((height) => storedRows(snapshot, slot, height)?.length)
          const { rows: counted, bytes } = snapshot.viewSize(slot)
          assert.equal(
            counted,
            rows.reduce<number>((sum, each) => sum + (each ?? 0), 0),
          )
          assert.ok(bytes <= maxViewBytes)
          for (const height of doneOf(snapshot)) assert.ok(height >= snapshot.viewFrom(slot))
        })
        await store.close()
        await assertNothingLeftOver(place)
        const again = await openAt(place)
        await again.clearView(slot)
        assert.deepEqual(
          again.reader.read((snapshot) => snapshot.viewSize(slot)),
          { rows: 0, bytes: 0 },
        )
        await again.close()
        await assertNothingLeftOver(place)
      },
    )
    await fc.assert(property, { numRuns: 25 })
  })
})
