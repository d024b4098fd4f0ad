import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CandidateChunk, SealedBlockToStore, StoreReader } from '../../../src/store/store.ts'
import {
  createChain,
  shapes,
  transferTopic,
  watchedAddresses,
} from '../../support/chain/block-factory.ts'
import { bytesOf, everywhere, opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

/** Candidates by a scan of every term. */
function expected(
  blocks: readonly SealedBlockToStore[],
  kind: string,
  value: Uint8Array,
): CandidateChunk[] {
  return blocks.flatMap(({ header, terms }) =>
    terms
      .filter((term) => term.kind === kind && Buffer.compare(term.value, value) === 0)
      .map(({ section, chunk }) => ({ height: header.number, section, chunk }))
      .sort((a, b) => a.chunk - b.chunk),
  )
}

function found(
  reader: StoreReader,
  value: Uint8Array,
  options: { kind?: 'topic' | 'logAddress'; from?: number; to?: number; descending?: boolean } = {},
): CandidateChunk[] {
  const { kind = 'logAddress', from = 0, to = 1e9, descending = false } = options
  return reader.read((snapshot) => [...snapshot.candidates(kind, value, from, to, descending)])
}

describe('looking up a value', () => {
  it('finds every term of every kind, in merged spans and in single blocks', async (t) => {
    const store = await openTestStore(t)
    const chain = createChain({ from: 58, count: 12, shape: { ...shapes.tiny, logs: 70 } })
    const deep = chain.map((block) => storableBlock(block))
    const [top] = createChain({ from: 205, count: 1 }).map((block) => storableBlock(block))
    assert.ok(top)
    const filling = Array.from({ length: 135 }, (_, index) => opaqueBlock(70 + index))
    const blocks = [...deep, ...filling, top]
    await Promise.all(blocks.map((block) => store.putBlock(block)))
    await store.flushed()
    store.reader.read((snapshot) => {
      for (const { header, terms } of [...deep, top]) {
        for (const { kind, value, section, chunk } of terms) {
          const there = [...snapshot.candidates(kind, value, header.number, header.number, false)]
          assert.ok(there.some((each) => each.section === section && each.chunk === chunk))
        }
      }
    })
    for (const [kind, hex] of [
      ['topic', transferTopic],
      ['logAddress', watchedAddresses[1] ?? '0x'],
    ] as const) {
      const all = expected(blocks, kind, bytesOf(hex))
      assert.ok(all.length >= 13)
      assert.deepEqual(found(store.reader, bytesOf(hex), { kind }), all)
      assert.deepEqual(found(store.reader, bytesOf(hex), { kind, descending: true }), all.reverse())
    }
  })

  it('keeps to the heights asked for, whichever spans they cut', async (t) => {
    const store = await openTestStore(t)
    const blocks = Array.from({ length: 260 }, (_, height) => opaqueBlock(height))
    await Promise.all(blocks.map((block) => store.putBlock(block)))
    await store.flushed()
    for (const [from, to] of [
      [0, 259],
      [63, 64],
      [10, 20],
      [100, 230],
      [128, 128],
      [250, 1e9],
      [300, 400],
    ] as const) {
      const wanted = expected(blocks, 'logAddress', everywhere).filter(
        ({ height }) => height >= from && height <= to,
      )
      assert.deepEqual(found(store.reader, everywhere, { from, to }), wanted)
      const reversed = found(store.reader, everywhere, { from, to, descending: true })
      assert.deepEqual(reversed, wanted.reverse())
    }
  })

  it('finds blocks that arrived late, in spans that were merged without them', async (t) => {
    const store = await openTestStore(t)
    const late = [3, 64, 70, 71, 72, 127]
    const blocks = Array.from({ length: 300 }, (_, height) => opaqueBlock(height))
    const early = blocks.filter(({ header }) => !late.includes(header.number))
    await Promise.all(early.map((block) => store.putBlock(block)))
    await store.flushed()
    const stored = [...early]
    for (const height of late) {
      const block = blocks[height]
      assert.ok(block)
      await store.putBlock(block)
      stored.push(block)
      stored.sort((a, b) => a.header.number - b.header.number)
      assert.deepEqual(found(store.reader, everywhere), expected(stored, 'logAddress', everywhere))
      await store.flushed()
      assert.deepEqual(found(store.reader, everywhere), expected(stored, 'logAddress', everywhere))
    }
  })

  it('stops where the caller has enough', async (t) => {
    const store = await openTestStore(t)
    await Promise.all(
      Array.from({ length: 200 }, (_, height) => store.putBlock(opaqueBlock(height))),
    )
    store.reader.read((snapshot) => {
      const heights: number[] = []
      for (const { height } of snapshot.candidates('logAddress', everywhere, 0, 1e9, true)) {
        heights.push(height)
        if (heights.length === 5) break
      }
      assert.deepEqual(heights, [199, 198, 197, 196, 195])
    })
  })
})
