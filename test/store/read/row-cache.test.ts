import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptySlot, encodeSlot, encodeViewBlock } from '../../../src/store/disk/view-layout.ts'
import { createRowCache } from '../../../src/store/read/row-cache.ts'

test('slots with the same bytes are parsed once, and each has what it has once one changes', () => {
  const cache = createRowCache(1_000)
  const [before, after] = [
    { ...emptySlot, done: [[1, 2]] as const },
    { ...emptySlot, done: [[1, 3]] as const },
  ]
  // As of a store, which gives others the memory of a value.
  const shared = Buffer.alloc(1_000)
  const read = (slot: number, has: typeof before | typeof after) => {
    const bytes = encodeSlot(has)
    bytes.copy(shared)
    return cache.slot(slot, shared.subarray(0, bytes.length))
  }
  const [one, two] = [read(1, before), read(2, before)]
  assert.deepEqual(one, before)
  assert.equal(two, one)
  assert.deepEqual(read(1, after), after)
  assert.equal(read(2, before), one)
  assert.deepEqual(read(2, after), after)
  assert.deepEqual(read(1, before), before)
  assert.deepEqual(one, before)
})

test('a block is read once by its serial number, whatever becomes of the memory', () => {
  const cache = createRowCache(1_000_000)
  const block = {
    ...{ serial: 7, blockHash: `0x${'ab'.repeat(32)}`, count: 3, bytes: 90 },
    root: 'cd'.repeat(32),
  }
  const shared = encodeViewBlock(block)
  const first = cache.block(shared)
  shared.fill(0, 6)
  assert.deepEqual(first, block)
  assert.equal(cache.block(shared), first)
  assert.notEqual(cache.block(encodeViewBlock({ ...block, serial: 8 })), first)
})
