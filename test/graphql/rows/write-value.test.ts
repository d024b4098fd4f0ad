import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCatalog } from '../../../src/graphql/catalog/catalog.ts'
import { openBlockView } from '../../../src/graphql/rows/block-view.ts'
import { createOpenedViews } from '../../../src/graphql/rows/opened-views.ts'
import { rowAt } from '../../../src/graphql/rows/row.ts'
import { putStored, putText } from '../../../src/graphql/rows/write-value.ts'
import {
  createByteWriter,
  major,
  simple,
  writeHead,
  writeSimple,
  writeText,
} from '../../../src/primitives/cbor.ts'
import { blockSections } from '../../../src/primitives/collections.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { createTestBudget } from '../support/graphql-room.ts'

test('every stored field is written as the JSON of the value that is read', async (t) => {
  const shape = { transactions: 20, logs: 30, entries: 8, calldataBytes: 40 }
  const store = await openTestStore(t)
  for (const block of createChain({ count: 1, shape }))
    await store.putSealedBlock(storableBlock(block))
  const snapshot = store.reader.snapshot()
  t.after(() => snapshot.release())
  const opened = createOpenedViews(createTestBudget())
  const block = openBlockView({ snapshot, opened } as never, snapshot, 1)
  assert.ok(block)
  const out = createByteWriter(16)
  for (const entity of createCatalog(testNetwork, blockSections).values()) {
    for (const { name, read, write } of entity.attributes.values()) {
      for (let position = 0; write !== undefined && position < entity.rowsIn(block); position++) {
        out.at = 0
        write(out, rowAt(block, position))
        const text = out.bytes.toString('utf8', 0, out.at)
        const value = read(rowAt(block, position))
        assert.equal(text, JSON.stringify(value), `${entity.name}.${name}`)
      }
    }
  }
})

test('quantities of any size are written in minimal hex', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
      const hex = value === 0n ? '' : value.toString(16)
      const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
      const stored = createByteWriter(64)
      writeHead(stored, major.bytes, bytes.length)
      const item = Buffer.concat([stored.bytes.subarray(0, stored.at), bytes])
      const out = createByteWriter(1)
      putStored(out, { name: 'value', kind: 'quantity' }, item, 0)
      assert.equal(out.bytes.toString('utf8', 0, out.at), `"0x${value.toString(16)}"`)
    }),
  )
})

test('a boolean is written as what it is', () => {
  for (const value of [true, false]) {
    const stored = createByteWriter(1)
    writeSimple(stored, value ? simple.true : simple.false)
    const out = createByteWriter(1)
    putStored(out, { name: 'removed', kind: 'boolean' }, stored.bytes, 0)
    assert.equal(out.bytes.toString('utf8', 0, out.at), String(value))
  }
})

test('a list is written whole, whatever room there is', () => {
  const stored = createByteWriter(64)
  writeHead(stored, major.array, 3)
  for (const text of ['ab', '', 'cde']) writeText(stored, text)
  for (let room = 1; room < 50; room++) {
    const out = createByteWriter(room)
    out.at = room
    putStored(out, { name: 'list', kind: 'text', list: true }, stored.bytes, 0)
    assert.equal(out.bytes.toString('utf8', room, out.at), '["ab","","cde"]')
  }
})

test('text of any length and alphabet is written as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60, size: 'max' }), (text) => {
      const out = createByteWriter(1)
      putText(out, text)
      assert.equal(out.bytes.toString('utf8', 0, out.at), text)
    }),
  )
})
