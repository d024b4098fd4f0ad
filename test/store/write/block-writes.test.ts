/** What storing a block writes to the file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyState, pieceBytes, pieceKey } from '../../../src/store/disk/layout.ts'
import { blockEntries, putBlockChange } from '../../../src/store/write/block-writes.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'

const [source = assert.fail()] = createChain({
  count: 1,
  from: 7,
  shape: { ...shapes.tiny, transactions: 70, logs: 150 },
})
const block = storableBlock(source)
const { writes, state } = putBlockChange(emptyState, block, blockEntries(block, [1, 2]))

test('a body is written once, in pieces that fill a page of the disk each', () => {
  const pieces = writes.filter(({ database }) => database === 'bodies')
  const values = pieces.map(({ value }) => value ?? assert.fail())
  assert.ok(values.length > 2)
  assert.deepEqual(
    pieces.map(({ key }) => Buffer.from(key)),
    pieces.map((_, piece) => Buffer.from(pieceKey(7, piece))),
  )
  assert.ok(values.slice(0, -1).every(({ length }) => length === pieceBytes))
  assert.deepEqual(Buffer.concat(values), Buffer.from(block.body))
})

test('a put block is stored with an index of its own, and the next one has another serial', () => {
  const heights = [[7, 7]]
  assert.deepEqual(state, { ...emptyState, serial: 2, blocks: heights, unmerged: heights })
})
