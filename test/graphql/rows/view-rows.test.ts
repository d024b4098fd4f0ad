import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { type BlockView, emptyMemo } from '../../../src/graphql/rows/block-view.ts'
import { rowAt } from '../../../src/graphql/rows/row.ts'
import {
  hasRows,
  putViewValue,
  viewChunkSpan,
  viewPositions,
  viewRowCount,
  viewSource,
  viewTextTest,
  viewValue,
} from '../../../src/graphql/rows/view-rows.ts'
import { type Chunk, openRawChunk, packChunk } from '../../../src/primitives/body/chunk.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { writeRow } from '../../../src/views/rows/row-codec.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'

const rows = { name: 'Counted', slot: 3 }
const perChunk = 4

type Broken = 'amid a value' | 'from the start'

/** A chunk of rows with their position as text and as number. */
function chunkOf(first: number, broken: Broken | null): Chunk {
  const out = createByteWriter()
  const lengths = Array.from({ length: perChunk }, (_, index) => {
    const start = out.at
    writeRow(out, [`text ${first + index}`, first + index], 10 * (first + index))
    if (broken === 'amid a value') out.at -= 3
    if (broken === 'from the start') out.bytes[start] = 0
    return out.at - start
  })
  const raw = createByteWriter()
  packChunk(lengths, out.bytes.subarray(0, out.at), raw)
  const bytes = Buffer.from(raw.bytes.subarray(0, raw.at))
  const span = { first, length: perChunk, rawBytes: raw.at }
  return openRawChunk(bytes, { ...span, start: 0, storedBytes: 0 })
}

/** Three chunks of a block, which chunks were opened, and how many bytes were noted. */
function openView({ broken = null as Broken | null, isStored = true } = {}) {
  const chunks = [0, 4, 8].map((first) => chunkOf(first, broken))
  const opened: number[] = []
  const noted: number[] = []
  let lookups = 0
  const stored = {
    ...{ root: 'ab', count: chunks.length * perChunk },
    chunkOf: (position: number) => Math.floor(position / perChunk),
    openChunk(index: number) {
      opened.push(index)
      return chunks[index]
    },
  }
  const snapshot = {
    viewRows(slot: number, height: number) {
      assert.deepEqual([slot, height], [rows.slot, 7])
      lookups++
      return isStored ? stored : undefined
    },
  }
  const session = { snapshot, opened: { note: (_: BlockView, bytes: number) => noted.push(bytes) } }
  const view = { session, height: 7, memo: emptyMemo() } as unknown as BlockView
  return { view, opened, noted, chunks, lookups: () => lookups }
}

test('a chunk is opened once for neighbours, and its bytes count until another is', () => {
  const { view, opened, noted, chunks, lookups } = openView()
  const positions = [0, 3, 4, 7, 5, 4, 8, 11, 1]
  const found = positions.map((at) => viewValue(rowAt(view, at), rows, 1))
  assert.deepEqual(found, positions)
  assert.deepEqual(opened, [0, 1, 2, 0])
  const bytes = chunks.map(({ rawBytes }) => rawBytes)
  const [first = 0, second = 0, third = 0] = bytes
  assert.deepEqual(noted.slice(1), [first, second - first, third - second, first - third])
  assert.equal(lookups(), 1)
})

test('a row has values, a source, and nothing where it has no such field', () => {
  const row = rowAt(openView().view, 6)
  assert.equal(viewValue(row, rows, 0), 'text 6')
  assert.equal(viewSource(row, rows), 60)
  assert.equal(viewValue(row, rows, 2), null)
  assert.equal(viewTextTest(rows, 0, 'text 6')(row), true)
  assert.equal(viewTextTest(rows, 0, 'text 7')(row), false)
  assert.equal(viewTextTest(rows, 2, 'text 6')(row), false)
})

test('a value is written as JSON, and null where the row has no such field', () => {
  const row = rowAt(openView().view, 6)
  const out = createByteWriter()
  for (const field of [0, 1, 2]) putViewValue(out, row, rows, field)
  assert.equal(out.bytes.toString('utf8', 0, out.at), '"text 6"6null')
})

test('rows of a chunk are found by its place in the block', () => {
  const { view, noted } = openView()
  assert.deepEqual(viewChunkSpan(view, rows, 1), [4, 8])
  const search = { chunk: 1, field: 1, value: rowTermValue(6) }
  assert.deepEqual(viewPositions(view, rows, search), [6])
  assert.equal(noted.length, 2, 'the chunk once')
})

test('a View has rows of a root and a number only where both are right', () => {
  const { view } = openView()
  assert.equal(viewRowCount(view, rows), 12)
  assert.equal(hasRows(view, rows, { rowsRoot: 'ab', count: 12 }), true)
  assert.equal(hasRows(view, rows, { rowsRoot: 'ab', count: 11 }), false)
  assert.equal(hasRows(view, rows, { rowsRoot: 'cd', count: 12 }), false)
  const without = openView({ isStored: false })
  assert.equal(viewRowCount(without.view, rows), 0)
  assert.equal(hasRows(without.view, rows, { rowsRoot: 'ab', count: 0 }), false)
})

test('rows that cannot be read say whose they are, each time', () => {
  const isOfView = (error: unknown): boolean => {
    assert.ok(error instanceof ServiceError)
    const { code, message, facts, remedy } = error
    assert.equal(code, 'VIEWS_ROW_MALFORMED')
    assert.match(message, /^The View Counted, block 7: /)
    assert.match(remedy ?? '', /^The store is damaged/)
    assert.deepEqual([facts['view'], facts['height']], ['Counted', 7])
    return true
  }
  const search = { chunk: 0, field: 1, value: rowTermValue(0) }
  for (const broken of ['amid a value', 'from the start'] as const) {
    const { view } = openView({ broken })
    const row = rowAt(view, 0)
    for (let time = 0; time < 2; time++) assert.throws(() => viewValue(row, rows, 2), isOfView)
    assert.throws(() => viewPositions(view, rows, search), isOfView)
  }
})
