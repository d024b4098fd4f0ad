import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptySlot, encodeSlot, type ViewBlock } from '../../../src/store/disk/view-layout.ts'
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

test('a block is read once by its serial number', () => {
  const cache = createRowCache(1_000_000)
  const block = (serial: number): ViewBlock => ({
    ...{ serial, blockHash: `0x${'ab'.repeat(32)}`, count: 3, bytes: 90, root: null },
  })
  const [first, second] = [block(7), block(8)]
  assert.equal(
    cache.block(7, () => first),
    first,
  )
  assert.equal(
    cache.block(7, () => second),
    first,
  )
  assert.equal(
    cache.block(8, () => second),
    second,
  )
})
