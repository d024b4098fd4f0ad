import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsThatMayHave } from '../../../src/graphql/rows/row-search.ts'
import { type Chunk, openRawChunk, packChunk } from '../../../src/primitives/body/chunk.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { writeRow } from '../../../src/views/row-codec.ts'
import type { JsonValue } from '../../../src/views/row-values.ts'
import { rowTermValue } from '../../../src/views/rows.ts'

/** A chunk of rows whose first row has the position 64. */
function chunkOf(rows: readonly (readonly JsonValue[])[]): Chunk {
  const out = createByteWriter()
  const lengths = rows.map((values, source) => {
    const start = out.at
    writeRow(out, values, source)
    return out.at - start
  })
  const raw = createByteWriter()
  packChunk(lengths, out.bytes.subarray(0, out.at), raw)
  const bytes = Buffer.from(raw.bytes.subarray(0, raw.at))
  const length = rows.length
  return openRawChunk(bytes, { first: 64, length, rawBytes: raw.at, start: 0, storedBytes: 0 })
}

test('of a chunk the rows with a value are found, whatever the other fields hold', () => {
  const chunk = chunkOf([
    ['same', 'same', 1],
    ['other', { same: 'same' }, 2],
    ['other', 'same', 3],
    [null, 'same longer', 4],
  ])
  assert.deepEqual(rowsThatMayHave(chunk, 0, rowTermValue('same')), [64])
  assert.deepEqual(rowsThatMayHave(chunk, 1, rowTermValue('same')), [64, 66])
  assert.deepEqual(rowsThatMayHave(chunk, 2, rowTermValue(3)), [66])
  assert.deepEqual(rowsThatMayHave(chunk, 0, rowTermValue('same longer')), [])
})

test('hex is found in any case, and lists always', () => {
  const chunk = chunkOf([['0xAB'], ['0xab'], ['0xac'], [['0xac', 'x']], [[]]])
  assert.deepEqual(rowsThatMayHave(chunk, 0, rowTermValue('0xaB')), [64, 65, 67, 68])
})

test('a row without the field has no value', () => {
  const chunk = chunkOf([['a'], ['a', 'b']])
  assert.deepEqual(rowsThatMayHave(chunk, 1, rowTermValue('b')), [65])
})
