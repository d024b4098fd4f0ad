import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { eachHeight } from '../../../src/primitives/height-ranges.ts'
import type { SealedBlockToStore, Snapshot, StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'
import { storedRows, viewBlock } from '../../support/view-rows.ts'
import { assertNothingLeftOver } from '../support/stored-keys.ts'

const blocks = (from: number, to: number, branch = 'main'): SealedBlockToStore[] =>
  Array.from({ length: to - from + 1 }, (_, index) => opaqueBlock(from + index, 50, branch))

/** The document of a height that tells it from others. */
const namedAfter = ({ header }: SealedBlockToStore) => ({
  name: header.hash,
  counts: [header.number % 3],
})

async function putRows(
  store: StoreWriter,
  slot: number,
  of: readonly SealedBlockToStore[],
): Promise<readonly number[]> {
  return store.putViewRows(
    slot,
    of.map((block) => viewBlock(block.header, [namedAfter(block)])),
  )
}

const doneHeights = (snapshot: Snapshot, slot: number): number[] => [
  ...eachHeight(snapshot.viewRanges(slot)),
]

const openAt = (path: string): Promise<StoreWriter> =>
  openWriter(
    { path, network: opaqueNetwork, retainBlocks: null },
    { log: pino({ enabled: false }) },
  )

async function storeWith(
  t: Parameters<typeof openTestStore>[0],
  chain: readonly SealedBlockToStore[],
  retainBlocks: number | null = null,
): Promise<StoreWriter> {
  const store = await openTestStore(t, retainBlocks)
  await Promise.all(chain.map((block) => store.putSealedBlock(block)))
  return store
}

describe('rows of a View', () => {
  it('are read as they were put, of any number, each slot for itself', async (t) => {
    const chain = blocks(1, 3)
    const store = await storeWith(t, chain)
    const [one, two, three] = chain
    assert.ok(one && two && three)
    const many = Array.from({ length: 5000 }, (_, count) => ({
      counts: [count],
      data: { text: `row ${count}`.repeat(9) },
    }))
    await store.putViewRows(7, [viewBlock(one.header, many), viewBlock(two.header, [])])
    await putRows(store, 8, [three])
    store.reader.read((snapshot) => {
      const rows = storedRows(snapshot, 7, 1) ?? []
      assert.deepEqual(
        rows.map(({ source, values }) => [source, values[1]]),
        many.map(({ counts }, index) => [index, counts]),
      )
      assert.equal(snapshot.viewRows(7, 1)?.count, 5000)
      assert.equal(snapshot.viewRows(7, 1)?.blockHash, one.header.hash)
      assert.deepEqual(storedRows(snapshot, 7, 2), [])
      assert.equal(storedRows(snapshot, 7, 3), null)
      assert.deepEqual(snapshot.viewRanges(7), [[1, 2]])
      assert.deepEqual([...snapshot.viewHeights(7, 0, 1e9, false)], [1])
      assert.deepEqual([...snapshot.viewHeights(8, 0, 1e9, true)], [3])
      assert.throws(() => snapshot.viewRows(7, 1)?.openChunk(79), RangeError)
    })
  })

  it('of many slots are marked as none at once, in the place of what is there or on its way', async (t) => {
    const chain = blocks(1, 3)
    const store = await storeWith(t, chain)
    const [one, two, three] = chain.map(({ header: { number, hash } }) => ({
      height: number,
      blockHash: hash,
    }))
    assert.ok(one && two && three)
    void putRows(store, 5, chain.slice(0, 1))
    void store.putViewRows(6, [{ ...two, failure: Buffer.from('why') }])
    const gone = { height: 3, blockHash: opaqueBlock(3, 50, 'b').header.hash }
    const stored = await store.putEmptyViewBlocks([
      { ...one, slots: [5, 6, 7] },
      { ...two, slots: [6] },
      { ...gone, slots: [5, 6, 7] },
    ])
    assert.deepEqual(stored, [1, 2])
    store.reader.read((snapshot) => {
      assert.deepEqual(
        [5, 6, 7].map((slot) => doneHeights(snapshot, slot)),
        [[1], [1, 2], [1]],
      )
      assert.deepEqual(storedRows(snapshot, 5, 1), [])
      assert.equal(snapshot.viewSize(5).rows, 0)
      assert.deepEqual(snapshot.viewFailures(6), [])
    })
    assert.deepEqual(await store.putEmptyViewBlocks([]), [])
  })

  it('are found by the values of their indexed fields, in either direction', async (t) => {
    const chain = blocks(1, 700)
    const store = await storeWith(t, chain)
    await putRows(store, 1, chain)
    store.reader.read((snapshot) => {
      const hash = chain[41]?.header.hash ?? ''
      const byName = snapshot.viewCandidates(1, 0, rowTermValue(hash), 0, 1e9, false)
      assert.deepEqual([...byName], [{ height: 42, chunk: 0 }])
      const thirds = [...snapshot.viewCandidates(1, 1, rowTermValue(0), 10, 650, false)]
      const expected = Array.from({ length: 214 }, (_, index) => 12 + index * 3)
      assert.deepEqual(
        thirds.map(({ height }) => height),
        expected.filter((height) => height <= 650),
      )
      const down = [...snapshot.viewCandidates(1, 1, rowTermValue(0), 10, 650, true)]
      assert.deepEqual(down, thirds.toReversed())
      assert.deepEqual([...snapshot.viewCandidates(1, 0, rowTermValue(0), 0, 1e9, false)], [])
      assert.deepEqual([...snapshot.viewHeights(1, 5, 600, true)].length, 596)
    })
  })

  it('are at the heights that have some, with gaps of any length, in either direction', async (t) => {
    const chain = blocks(1, 120)
    const store = await storeWith(t, chain)
    const isKept = (height: number): boolean => height % 7 < 4 && (height < 20 || height > 50)
    const heights = chain.map(({ header }) => header.number).filter(isKept)
    await putRows(
      store,
      1,
      chain.filter(({ header }) => isKept(header.number)),
    )
    store.reader.read((snapshot) => {
      for (const [from, to] of [
        [0, 1e9],
        [0, 3],
        [4, 6],
        [5, 52],
        [20, 50],
        [71, 71],
        [120, 130],
      ] as const) {
        const within = heights.filter((height) => height >= from && height <= to)
        assert.deepEqual([...snapshot.viewHeights(1, from, to, false)], within)
        assert.deepEqual([...snapshot.viewHeights(1, from, to, true)], within.toReversed())
      }
    })
  })

  it('are dropped where the height holds another block, or none', async (t) => {
    const store = await storeWith(t, blocks(1, 4))
    const other = blocks(4, 4, 'other')
    assert.deepEqual(await putRows(store, 1, [...blocks(3, 3), ...other, ...blocks(5, 5)]), [3])
    store.reader.read((snapshot) => assert.deepEqual(doneHeights(snapshot, 1), [3]))
  })

  it('of a block that is put while they are on their way are judged by that block', async (t) => {
    const store = await storeWith(t, blocks(1, 4))
    const [other] = blocks(4, 4, 'other')
    assert.ok(other)
    const replaced = store.replaceBlocks(4, 4, [other])
    const late = putRows(store, 1, blocks(4, 4))
    const fresh = putRows(store, 2, [other])
    await replaced
    assert.deepEqual([await late, await fresh], [[], [4]])
  })

  it('of a block that is cut off while they are on their way are dropped', async (t) => {
    const store = await storeWith(t, blocks(1, 4))
    const [, stored] = await Promise.all([store.truncateAbove(3), putRows(store, 1, blocks(3, 4))])
    assert.deepEqual(stored, [3])
  })

  it('of documents that gave way under the same hash are not stored, nor failures and marks', async (t) => {
    const [first] = blocks(1, 1)
    assert.ok(first)
    const { number: height, hash: blockHash, root: documentsRoot } = first.header
    const made = viewBlock(first.header, [namedAfter(first)])
    const store = await storeWith(t, [first])
    const second = { ...first, header: { ...first.header, root: 'ab'.repeat(32) } }
    await store.replaceBlocks(height, height, [second])
    const old = { height, blockHash, documentsRoot }
    assert.deepEqual(await store.putViewRows(1, [{ ...made, documentsRoot }]), [])
    assert.deepEqual(await store.putViewRows(1, [{ ...old, failure: Buffer.from('why') }]), [])
    assert.deepEqual(await store.putEmptyViewBlocks([{ ...old, slots: [1, 2] }]), [])
    const current = { ...old, documentsRoot: second.header.root }
    assert.deepEqual(await store.putViewRows(1, [{ ...made, ...current }]), [height])
    assert.deepEqual(await store.putEmptyViewBlocks([{ ...current, slots: [2] }]), [height])
  })

  it('take the place of what was put before, failures too, and leave nothing of it', async (t) => {
    const [block] = blocks(1, 1)
    assert.ok(block)
    const { number: height, hash: blockHash } = block.header
    const store = await storeWith(t, [block])
    await putRows(store, 1, [block])
    await store.putViewRows(1, [{ height, blockHash, failure: Buffer.from('why') }])
    store.reader.read((snapshot) => {
      assert.equal(snapshot.viewRows(1, 1), undefined)
      assert.deepEqual(snapshot.viewRanges(1), [])
      assert.deepEqual(snapshot.viewFailures(1), [[1, 1]])
      assert.equal(String(snapshot.viewFailure(1, 1)), 'why')
      assert.deepEqual([...snapshot.viewHeights(1, 0, 9, false)], [])
      const value = rowTermValue(blockHash)
      assert.deepEqual([...snapshot.viewCandidates(1, 0, value, 0, 9, false)], [])
    })
    await store.clearViewFailures(1)
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.viewFailures(1), [])
      assert.equal(snapshot.viewFailure(1, 1), undefined)
    })
    await putRows(store, 1, [block])
    store.reader.read((snapshot) => assert.equal(storedRows(snapshot, 1, 1)?.length, 1))
  })

  it('go with their block when it is replaced, truncated or pruned', async (t) => {
    const chain = blocks(1, 100)
    const store = await storeWith(t, chain, 60)
    await putRows(store, 1, chain.slice(20))
    await store.replaceBlocks(90, 95, blocks(90, 95, 'other'))
    await store.truncateAbove(97)
    store.reader.read((snapshot) => {
      const kept = Array.from({ length: 97 - 41 + 1 }, (_, index) => 41 + index)
      const left = kept.filter((height) => height < 90 || height > 95)
      assert.deepEqual(doneHeights(snapshot, 1), left)
      assert.deepEqual([...snapshot.viewHeights(1, 0, 1e9, false)], left)
    })
    const gone = chain[91]
    assert.ok(gone)
    const kept = (): number =>
      store.reader.read((snapshot) => [...snapshot.viewHeights(1, 0, 1e9, false)].length)
    const before = kept()
    assert.equal(before, 97 - 41 + 1 - 6)
    await store.replaceBlocks(90, 95, blocks(90, 95))
    store.reader.read((snapshot) => assert.equal(storedRows(snapshot, 1, 92), null))
    await store.prune()
    assert.equal(kept(), before)
    store.reader.read((snapshot) => assert.equal(snapshot.viewSize(1).rows, before))
  })

  it('are gone at once when their slot is cleared, which then is empty', async (t) => {
    const chain = blocks(1, 300)
    const store = await storeWith(t, chain)
    await Promise.all([putRows(store, 1, chain), putRows(store, 2, chain)])
    const cleared = store.clearView(1)
    const late = await putRows(store, 1, chain.slice(0, 5))
    await cleared
    assert.deepEqual(late, [])
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.viewRanges(1), [])
      assert.deepEqual(snapshot.viewSize(1), { rows: 0, bytes: 0 })
      assert.equal(snapshot.viewSize(2).rows, 300)
    })
    assert.deepEqual(await putRows(store, 1, chain.slice(0, 2)), [1, 2])
  })

  it('are gone also where they were still on their way when their slot was cleared', async (t) => {
    const path = testDirectory(t)
    const chain = blocks(1, 20)
    const store = await openAt(path)
    await Promise.all(chain.map((block) => store.putSealedBlock(block)))
    const [, cleared] = [chain.map((block) => putRows(store, 1, [block])), store.clearView(1)]
    await cleared
    await store.close()
    await assertNothingLeftOver(path)
  })

  it('are what they were in a snapshot from before, while all of that goes on', async (t) => {
    const chain = blocks(1, 80)
    const store = await storeWith(t, chain)
    await putRows(store, 1, chain)
    const snapshot = store.reader.snapshot()
    await store.truncateAbove(10)
    await store.clearView(1)
    assert.deepEqual(snapshot.viewRanges(1), [[1, 80]])
    assert.equal(storedRows(snapshot, 1, 77)?.[0]?.values[0], chain[76]?.header.hash)
    snapshot.release()
    assert.throws(() => snapshot.viewRanges(1), { code: 'STORE_SNAPSHOT_EXPIRED' })
  })
})

describe('a slot that is being cleared when the program ends', () => {
  it('is invisible after the next start, and cleared to the end', async (t) => {
    const path = testDirectory(t)
    const chain = blocks(1, 400)
    let store = await openAt(path)
    await Promise.all(chain.map((block) => store.putSealedBlock(block)))
    await putRows(store, 1, chain)
    void store.clearView(1).catch(() => undefined)
    await store.close()
    store = await openAt(path)
    t.after(() => store.close())
    assert.deepEqual(
      store.reader.read((snapshot) => snapshot.viewRanges(1)),
      [],
    )
    // Each call is one step of the clearing, which keeps the slot closed to its end.
    let steps = 0
    while ((await putRows(store, 1, chain.slice(0, 1))).length === 0) assert.ok(++steps < 50)
    assert.ok(steps > 1, 'closing did not wait for all of it')
    const left = store.reader.read((snapshot) => snapshot.viewSize(1).rows)
    assert.equal(left, 1)
  })
})
