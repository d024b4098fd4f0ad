import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import { arrayItem, bytesItem, intItem, nullItem, textItem } from '../../src/verify/dag-cbor.ts'

test('each item has its shortest form, at every length at which that changes', () => {
  for (const border of [24, 2 ** 8, 2 ** 16])
    for (const size of [border - 1, border]) {
      assert.deepEqual(intItem(size), Uint8Array.from(encode(size)))
      const bytes = new Uint8Array(size)
      assert.deepEqual(bytesItem(bytes), Uint8Array.from(encode(bytes)))
      const text = 'x'.repeat(size)
      assert.deepEqual(textItem(text), Uint8Array.from(encode(text)))
      const items = Array<null>(size).fill(null)
      assert.deepEqual(arrayItem(items.map(() => nullItem)), Uint8Array.from(encode(items)))
    }
  assert.deepEqual(intItem(2 ** 32 - 1), Uint8Array.from(encode(2 ** 32 - 1)))
})
