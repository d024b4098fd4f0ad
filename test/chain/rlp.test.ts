import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toRlp } from 'viem/utils'
import { rlpList } from '../../src/chain/rlp.ts'

test('a list of byte strings has the RLP that viem gives it, whatever their lengths', () => {
  const length = fc.oneof(fc.integer({ max: 2 }), fc.constantFrom(54, 55, 56, 255, 256, 70_000))
  const item = length.chain((bytes) =>
    fc.uint8Array({ minLength: Math.max(0, bytes), maxLength: Math.max(0, bytes) }),
  )
  fc.assert(
    fc.property(fc.array(item, { maxLength: 4 }), (items) => {
      assert.deepEqual(Buffer.from(rlpList(items)), Buffer.from(toRlp(items, 'bytes')))
    }),
    { numRuns: 50 },
  )
})
