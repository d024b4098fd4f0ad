import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRowID, rowID } from '../../../src/views/rows/row-id.ts'

const hash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const parts = fc.record(
  { view: hash, blockHash: hash, position: fc.maxSafeNat() },
  { noNullPrototype: true },
)
const [view, blockHash] = [`0x${'ab'.repeat(32)}`, `0x${'12'.repeat(32)}`]

test('the identity of a row names its View, its block and its place, and is parsed into them', () => {
  assert.equal(rowID({ view, blockHash, position: 7 }), `row-${view}-${blockHash}-7`)
  fc.assert(
    fc.property(parts, (given) => {
      assert.deepEqual(parseRowID(rowID(given)), given)
    }),
  )
  const last = { view, blockHash, position: Number.MAX_SAFE_INTEGER }
  assert.deepEqual(parseRowID(rowID(last)), last)
})

test('a text that is not exactly the identity of a row is none', () => {
  const near = [
    ...['', `row-${view}-${blockHash}`, `row-${view}-7`, ` row-${view}-${blockHash}-7`],
    ...['', '07', '-1', '1e3', '7\n', '9007199254740992', '9007199254740993'].map(
      (position) => `row-${view}-${blockHash}-${position}`,
    ),
    `row-${view.toUpperCase()}-${blockHash}-7`,
    `row-${view}0-${blockHash}-7`,
    `log-${view}-${blockHash}-7`,
  ]
  for (const text of near) assert.equal(parseRowID(text), null, text)
})
