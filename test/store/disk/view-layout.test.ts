import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { spanBlocks } from '../../../src/store/disk/layout.ts'
import {
  decodeSlot,
  decodeViewBlock,
  emptySlot,
  encodeSlot,
  encodeViewBlock,
  heightOfViewKey,
  lowestKept,
  serialOf,
  slotKey,
  slotOfKey,
  type ViewSlot,
  viewBlockKey,
  viewPieceKey,
  viewTableKey,
} from '../../../src/store/disk/view-layout.ts'

const height = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const slot = fc.nat(0xffffffff)
const page = fc.nat(0xffff)
const hex = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))

describe('the layout of rows', () => {
  it('has keys that sort by slot, height and number, and tell the first two', () => {
    fc.assert(
      fc.property(slot, height, page, slot, height, page, (slotA, a, first, slotB, b, second) => {
        const bySlot = Math.sign(slotA - slotB)
        const byHeight = bySlot || Math.sign(a - b)
        const all = byHeight || Math.sign(first - second)
        assert.equal(Buffer.compare(slotKey(slotA), slotKey(slotB)), bySlot)
        assert.equal(Buffer.compare(viewBlockKey(slotA, a), viewBlockKey(slotB, b)), byHeight)
        const keys = [viewPieceKey(slotA, a, first), viewPieceKey(slotB, b, second)] as const
        assert.equal(Buffer.compare(...keys), all)
        for (const key of [viewBlockKey(slotA, a), keys[0]])
          assert.deepEqual([slotOfKey(key), heightOfViewKey(key)], [slotA, a])
        assert.equal(slotOfKey(slotKey(slotA)), slotA)
        assert.deepEqual(slotKey(slotA), viewBlockKey(slotA, a).subarray(0, 4))
        assert.deepEqual(viewBlockKey(slotA, a), keys[0].subarray(0, 10))
        const again = Buffer.alloc(10)
        assert.equal(viewBlockKey(slotA, a, again), again)
        assert.deepEqual(again, keys[0].subarray(0, 10))
      }),
    )
  })

  it('has the table of a span behind that of its first block', () => {
    const span = fc.nat(2 ** 41)
    fc.assert(
      fc.property(slot, span, page, (of, number, at) => {
        const height = number * spanBlocks
        const block = viewTableKey(of, { height }, at)
        const whole = viewTableKey(of, { span: number }, at)
        assert.deepEqual(block, viewPieceKey(of, height, at))
        assert.deepEqual(whole, Buffer.concat([block, Buffer.of(1)]))
      }),
    )
  })

  it('gives back what was stored of a block, with the root of its rows or without', () => {
    const number = fc.nat(0xffffffff)
    const root = fc.option(hex, { nil: null })
    fc.assert(
      fc.property(height, number, number, hex, root, (serial, count, bytes, hash, root) => {
        const block = { serial, count, bytes, blockHash: `0x${hash}`, root }
        const stored = encodeViewBlock(block)
        assert.deepEqual(decodeViewBlock(stored), block)
        assert.equal(serialOf(stored), serial)
      }),
    )
  })

  it('gives back what was stored of a slot, and takes what an older program left out as empty', () => {
    const full: ViewSlot = {
      ...{ done: [[1, 9]], failed: [[4, 4]], merged: [[1, 3]], rows: 7, bytes: 8, indexBytes: 9 },
      ...{ limited: { from: 1, maxBytes: 5 }, isClearing: true },
    }
    assert.deepEqual(decodeSlot(encodeSlot(full)), full)
    const { merged: _, ...older } = full
    assert.deepEqual(decodeSlot(Buffer.from(JSON.stringify(older))), { ...full, merged: [] })
    assert.deepEqual(decodeSlot(Buffer.from('{}')), emptySlot)
  })

  it('keeps rows from where a limit of bytes says, and all of them once none are left', () => {
    const limited = { from: 20, maxBytes: 5 }
    assert.equal(lowestKept({ ...emptySlot, done: [[20, 30]] }), 0)
    assert.equal(lowestKept({ ...emptySlot, done: [[20, 30]], limited }), 20)
    assert.equal(lowestKept({ ...emptySlot, done: [], limited }), 0)
  })
})
