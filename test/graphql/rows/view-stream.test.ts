/** Rows that a View made for one request, as the request sees them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../../../src/graphql/rows/block-view.ts'
import { type Row, rowAt } from '../../../src/graphql/rows/row.ts'
import {
  putStreamedValue,
  streamedAttestations,
  streamedHeight,
  streamedSource,
  streamedValue,
  streamedView,
} from '../../../src/graphql/rows/view-stream.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'
import type { StreamedRows } from '../../../src/views/rows/streamed-rows.ts'
import { opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { rowChunk } from '../support/row-chunk.ts'

const { header } = opaqueBlock(5)
const ofBlock = { height: 5, blockHash: header.hash }

/** Rows numbered from 7 on, of a block or of the end of the stream, in a store with block 5 and two seals of it. */
function rowsOf(
  block: StreamedRows['block'],
  values: readonly (readonly JsonValue[])[],
): { rows: Row[]; lookups: number[] } {
  const chunk = rowChunk(values, 7)
  const lookups: number[] = []
  const snapshot = {
    header: (height: number) => {
      lookups.push(height)
      return height === 5 ? header : undefined
    },
    seals: () => ['02', '03'].map((byte) => opaqueSeal(5, 'main', byte.repeat(33))),
  }
  const view = streamedView({ snapshot } as unknown as Session, { block, chunk })
  return { rows: values.map((_, index) => rowAt(view, 7 + index)), lookups }
}

const one = (block: StreamedRows['block'], ...values: JsonValue[]) => {
  const { rows, lookups } = rowsOf(block, [values])
  return { row: rows[0] ?? assert.fail('there is a row'), lookups }
}

test('a row has its values, in any order, and null where it has no such field', () => {
  const { rows } = rowsOf(ofBlock, [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ])
  for (const index of [0, 2, 1, 1]) {
    const row = rows[index] ?? assert.fail('there is a row')
    const name = 'abc'.charAt(index)
    const found = [2, 1, 0].map((field) => streamedValue(row, field))
    assert.deepEqual(found, [null, index + 1, name])
    const out = createByteWriter()
    for (const field of [1, 0, 2]) putStreamedValue(out, row, field)
    assert.equal(out.bytes.toString('utf8', 0, out.at), `${index + 1}"${name}"null`)
  }
})

test('a row names the height of its block, and how many vouch for it, which is looked up once', () => {
  const { row, lookups } = one(ofBlock, 'a')
  assert.equal(streamedHeight(row), 5)
  assert.deepEqual([streamedAttestations(row), streamedAttestations(row)], [2, 2])
  assert.deepEqual(lookups, [5])
})

test('nobody is counted for a block that gave way or is gone, nor for the end of the stream', () => {
  const replaced = { height: 5, blockHash: `0x${'ab'.repeat(32)}` }
  const gone = { height: 6, blockHash: header.hash }
  for (const block of [replaced, gone, null]) {
    const { row, lookups } = one(block, 'a')
    assert.equal(streamedHeight(row), block?.height ?? null)
    assert.deepEqual([streamedAttestations(row), streamedAttestations(row)], [null, null])
    assert.deepEqual(lookups, block === null ? [] : [block.height])
  }
})

test('a row comes with the text of its document behind its fields, but for the end of the stream', () => {
  assert.equal(streamedSource(one(ofBlock, 'a', '{"n":1}').row, 1), '{"n":1}')
  assert.equal(streamedSource(one(ofBlock, 'a', 7).row, 1), null)
  assert.equal(streamedSource(one(ofBlock, 'a').row, 1), null)
  assert.equal(streamedSource(one(null, 'a', '{"n":1}').row, 1), null)
})

test('rows that are computed are in no stored block', () => {
  const { row } = one(ofBlock, 'a')
  assert.throws(() => row.block.header, /are in no stored block/)
  const { session, height, memo } = row.block
  const stored = rowAt({ session, height, header, memo }, 0)
  assert.throws(() => streamedHeight(stored), /has streamed rows/)
})
