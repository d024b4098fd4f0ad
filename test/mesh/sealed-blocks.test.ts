/** Which seals are over a stored block, and when the newest block was sealed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestSealMs, sealsOver } from '../../src/mesh/sealed-blocks.ts'
import { opaqueBlock, opaqueSeal } from '../support/chain/opaque-blocks.ts'
import { openTestStore } from '../support/test-store.ts'

test('a seal over another block of the height is none over the stored one, though its root is', async (t) => {
  const store = await openTestStore(t)
  const block = opaqueBlock(1)
  const other = opaqueSeal(1, 'other', '03'.repeat(33))
  await store.putSealedBlock(block)
  await store.putSeals(1, [{ ...other, merkleRoot: block.header.root }])
  const { reader } = store
  assert.equal(
    reader.read((snapshot) => snapshot.seals(1).length),
    2,
  )
  assert.deepEqual(
    reader.read((snapshot) => sealsOver(snapshot, 1)),
    block.seals,
  )
  assert.deepEqual(
    reader.read((snapshot) => sealsOver(snapshot, 2)),
    [],
  )
})

test('the newest block was sealed when its seal says, and at no time before it has one', async (t) => {
  const store = await openTestStore(t)
  const newest = (): number | null => store.reader.read(newestSealMs)
  assert.equal(newest(), null)
  await store.putSealedBlock(opaqueBlock(1))
  assert.equal(newest(), Date.parse('2026-01-01T00:00:00Z'))
  await store.putSealedBlock({ ...opaqueBlock(2), seals: [] })
  assert.equal(newest(), null)
})
