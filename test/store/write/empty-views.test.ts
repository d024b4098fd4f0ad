import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { eachHeight } from '../../../src/primitives/height-ranges.ts'
import type { NeededTerms } from '../../../src/store/needed-terms.ts'
import type { SealedBlockToStore, StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { emptyRowsRoot } from '../../../src/views/rows/rows.ts'
import {
  bytesOf,
  everywhere,
  opaqueBlock,
  opaqueNetwork,
} from '../../support/chain/opaque-blocks.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'
import { storedRows, viewBlock } from '../../support/view-rows.ts'

const slot = 3
const nowhere: NeededTerms = {
  type: 'term',
  term: { kind: 'logAddress', value: Buffer.alloc(20, 1) },
}
const inAll: NeededTerms = { type: 'term', term: { kind: 'logAddress', value: everywhere } }

const doneOf = (store: StoreWriter, of = slot): number[] =>
  store.reader.read((snapshot) => [...eachHeight(snapshot.viewRanges(of))])

/** Puts a block, and returns the slots that are done with it by that. */
async function putDone(store: StoreWriter, block: SealedBlockToStore): Promise<number[]> {
  const done = await store.putSealedBlock(block)
  return done.flatMap(({ height, slots }) => (height === block.header.number ? slots : []))
}

describe('a View that has nothing in a new block', () => {
  it('is done with it in the transaction of its documents, and others are not', async (t) => {
    const store = await openTestStore(t, null)
    const hash = bytesOf(opaqueBlock(2).header.hash)
    await store.setViewNeeds(1, nowhere)
    await store.setViewNeeds(2, { type: 'all', parts: [inAll, nowhere] })
    await store.setViewNeeds(3, { type: 'any', parts: [inAll, nowhere] })
    await store.setViewNeeds(4, { type: 'term', term: { kind: 'blockHash', value: hash } })
    await store.setViewNeeds(5, { type: 'term', term: { kind: 'topic', value: everywhere } })
    assert.deepEqual(await putDone(store, opaqueBlock(1)), [1, 2, 4, 5])
    assert.deepEqual(await putDone(store, opaqueBlock(2)), [1, 2, 5])
    await store.putBlock(opaqueBlock(3))
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((of) => doneOf(store, of)),
      [[1, 2, 3], [1, 2, 3], [], [1, 3], [1, 2, 3]],
    )
    store.reader.read((snapshot) => {
      const { blockHash, count, root } = snapshot.viewRows(1, 2) ?? assert.fail()
      const { header } = opaqueBlock(2)
      assert.deepEqual([blockHash, count, root], [header.hash, 0, emptyRowsRoot])
      assert.deepEqual(snapshot.viewSize(1), { rows: 0, bytes: 0 })
    })
  })

  it('is seen to be done with it by whoever sees the block', async (t) => {
    const store = await openTestStore(t, null)
    await store.setViewNeeds(slot, nowhere)
    const seen: [number | undefined, number | undefined][] = []
    const looking = setInterval(() => {
      const head = store.reader.read((snapshot) => snapshot.range()?.head)
      seen.push([head, doneOf(store).at(-1)])
    }, 1)
    for (let height = 1; height <= 40; height++) await store.putSealedBlock(opaqueBlock(height))
    clearInterval(looking)
    assert.ok(seen.length > 0)
    // What is read later has the same or more.
    for (const [head, done] of seen) assert.ok((done ?? 0) >= (head ?? 0))
  })

  it('is not where the block fills a gap, comes again or takes the place of one below others', async (t) => {
    const store = await openTestStore(t, null)
    await store.putSealedBlock(opaqueBlock(5))
    await store.setViewNeeds(slot, nowhere)
    assert.deepEqual(await putDone(store, opaqueBlock(3)), [])
    assert.deepEqual(await putDone(store, opaqueBlock(5)), [])
    assert.deepEqual(await putDone(store, opaqueBlock(7)), [slot])
    assert.deepEqual(await putDone(store, opaqueBlock(7)), [])
    assert.deepEqual(await putDone(store, opaqueBlock(6)), [])
    assert.deepEqual(await putDone(store, opaqueBlock(5, 200, 'b')), [])
    assert.deepEqual(await store.replaceBlocks(3, 6, [opaqueBlock(4), opaqueBlock(5)]), [])
    assert.deepEqual(doneOf(store), [7])
  })

  it('is done with blocks that take the place of the highest, in the transaction of those', async (t) => {
    const store = await openTestStore(t, null)
    const hashOf = (height: number) =>
      store.reader.read((snapshot) => snapshot.viewRows(slot, height)?.blockHash)
    const [six, seven, eight] = [6, 7, 8].map((height) => opaqueBlock(height, 200, 'b'))
    assert.ok(six && seven && eight)
    for (const height of [5, 6, 7]) await store.putSealedBlock(opaqueBlock(height))
    await store.setViewNeeds(slot, nowhere)
    const value = bytesOf(seven.header.hash)
    await store.setViewNeeds(4, { type: 'term', term: { kind: 'blockHash', value } })
    assert.deepEqual(await putDone(store, seven), [slot])
    assert.equal(hashOf(7), seven.header.hash)
    const replaced = await store.replaceBlocks(6, 9, [six, seven, eight])
    const epoch = store.reader.read((snapshot) => snapshot.epoch)
    assert.deepEqual(replaced, [
      { height: 6, epoch, slots: [slot, 4] },
      { height: 7, epoch, slots: [slot] },
      { height: 8, epoch, slots: [slot, 4] },
    ])
    assert.deepEqual(
      [doneOf(store), doneOf(store, 4)],
      [
        [6, 7, 8],
        [6, 8],
      ],
    )
    assert.deepEqual(
      [6, 7, 8].map(hashOf),
      [six, seven, eight].map(({ header }) => header.hash),
    )
    await store.truncateAbove(6)
    assert.deepEqual(doneOf(store), [6])
    assert.deepEqual(await putDone(store, opaqueBlock(7)), [slot, 4])
  })

  it('has no rows of a block whose place another one took after its rows were read', async (t) => {
    const store = await openTestStore(t, null)
    const rowsOf = (height: number) =>
      store.reader.read((snapshot) => storedRows(snapshot, slot, height)?.length)
    const before = opaqueBlock(5)
    await store.putSealedBlock(before)
    await store.putViewRows(slot, [viewBlock(before.header, [{ name: 'before' }])])
    const old = store.reader.snapshot()
    assert.equal(rowsOf(5), 1)
    await store.setViewNeeds(slot, nowhere)
    assert.deepEqual(await putDone(store, opaqueBlock(5, 200, 'b')), [slot])
    assert.equal(rowsOf(5), 0)
    assert.equal(storedRows(old, slot, 5)?.length, 1)
    assert.equal(rowsOf(5), 0)
    old.release()
  })

  it('is done with nothing while what an earlier View had in its place is removed', async (t) => {
    const store = await openTestStore(t, null)
    const cleared = store.clearView(slot)
    const known = store.setViewNeeds(slot, nowhere)
    assert.deepEqual(await putDone(store, opaqueBlock(1)), [])
    await Promise.all([cleared, known])
    assert.deepEqual(await putDone(store, opaqueBlock(2)), [slot])
    assert.deepEqual(doneOf(store), [2])
  })

  it('is done with no more once that was taken back, whatever waits to be written', async (t) => {
    const store = await openTestStore(t, null)
    await store.setViewNeeds(slot, nowhere)
    const puts = [putDone(store, opaqueBlock(1))]
    const taken = store.setViewNeeds(slot, null)
    puts.push(putDone(store, opaqueBlock(2)))
    const given = store.setViewNeeds(slot, nowhere)
    puts.push(putDone(store, opaqueBlock(3)))
    await Promise.all([taken, given])
    assert.deepEqual(await Promise.all(puts), [[slot], [], [slot]])
    assert.deepEqual(doneOf(store), [1, 3])
    await store.setViewNeeds(slot, inAll)
    assert.deepEqual(await store.putSealedBlock(opaqueBlock(4)), [])
  })

  it('never gets its slot back that is cleared while blocks come', async (t) => {
    const path = testDirectory(t)
    const options = { path, network: opaqueNetwork, retainBlocks: null }
    const open = () => openWriter(options, { log: pino({ enabled: false }) })
    const store = await open()
    const puts: Promise<readonly number[]>[] = []
    const put = (from: number, to: number): void => {
      for (let height = from; height <= to; height++) puts.push(putDone(store, opaqueBlock(height)))
    }
    await store.setViewNeeds(slot, nowhere)
    await store.setViewNeeds(slot + 1, nowhere)
    put(1, 20)
    const cleared = store.clearView(slot)
    put(21, 40)
    await cleared
    put(41, 60)
    const done = (await Promise.all(puts)).flatMap((slots, index) =>
      slots.includes(slot) ? [index + 1] : [],
    )
    assert.deepEqual(
      done,
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
    assert.deepEqual(doneOf(store), [])
    assert.equal(doneOf(store, slot + 1).length, 60)
    await store.close()
    const again = await open()
    assert.deepEqual(doneOf(again), [])
    assert.deepEqual(await putDone(again, opaqueBlock(61)), [], 'it is forgotten with the program')
    await again.close()
  })

  it('is done with it up to the last byte that its rows may take', async (t) => {
    const doneWithin = async (maxViewBytes: number): Promise<[done: number[], bytes: number]> => {
      const store = await openTestStore(t, null, { maxViewBytes })
      await store.putSealedBlock(opaqueBlock(1))
      await store.putViewRows(slot, [viewBlock(opaqueBlock(1).header, [{ name: 'a row' }])])
      await store.setViewNeeds(slot, nowhere)
      const done = await putDone(store, opaqueBlock(2))
      return [done, store.reader.read((snapshot) => snapshot.viewSize(slot).bytes)]
    }
    const [, bytes] = await doneWithin(Number.POSITIVE_INFINITY)
    assert.deepEqual(await doneWithin(bytes), [[slot], bytes])
    assert.deepEqual(await doneWithin(bytes - 1), [[], bytes])
  })

  it('is left alone where its rows already take more than they may', async (t) => {
    const store = await openTestStore(t, null, { maxViewBytes: 1_000 })
    const [one, two, three] = [1, 2, 3].map((height) => opaqueBlock(height))
    assert.ok(one && two && three)
    await store.putSealedBlock(one)
    const text = Buffer.alloc(2_000, opaqueBlock(9, 2_000).body).toString('base64')
    await store.putViewRows(slot, [viewBlock(one.header, [{ data: text }])])
    await store.setViewNeeds(slot, nowhere)
    assert.deepEqual(await putDone(store, two), [])
    assert.deepEqual(doneOf(store), [1])
    const { hash } = two.header
    await store.putEmptyViewBlocks([{ height: 2, blockHash: hash, slots: [slot] }])
    assert.deepEqual(await putDone(store, three), [slot])
    assert.deepEqual(doneOf(store), [2, 3])
    const from = () => store.reader.read((snapshot) => snapshot.viewFrom(slot))
    assert.equal(from(), 2)
    await store.truncateAbove(0)
    assert.deepEqual(await putDone(store, opaqueBlock(1, 200, 'b')), [slot])
    assert.deepEqual([doneOf(store), from()], [[1], 0])
  })
})
