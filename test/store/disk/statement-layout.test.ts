import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeRowStatement } from '../../../src/row-votes/row-statement.ts'
import {
  encodeStatementExcerpt,
  excerptOf,
  maxExcerptBytes,
} from '../../../src/row-votes/statement-excerpt.ts'
import { pieceBytes } from '../../../src/store/disk/layout.ts'
import {
  isExcerpt,
  keyOfStatement,
  splitStatementKey,
  statementKey,
  statementPieces,
} from '../../../src/store/disk/statement-layout.ts'
import { anyStatement } from '../../row-votes/arbitrary-statement.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'

describe('the layout of statements about rows', () => {
  it('has keys that sort by height, and say of which statement they are', () => {
    fc.assert(
      fc.property(anyStatement, anyStatement, (statement, other) => {
        const { blockNumber, blockHash, runtime, root, signatureIdentity } = statement
        const key = statementKey(statement)
        const place = { blockNumber, blockHash, runtime, root, signatureIdentity }
        assert.deepEqual(splitStatementKey(key), place)
        assert.deepEqual(keyOfStatement(key), key)
        if (blockNumber !== other.blockNumber)
          assert.equal(
            Buffer.compare(key, statementKey(other)),
            blockNumber < other.blockNumber ? -1 : 1,
          )
      }),
    )
  })

  it('cuts a statement into pieces that fill a page, in the order of their keys', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.constantFrom(33, 32), (count, keyBytes) => {
        const views = Array.from({ length: count }, (_, view) => `View ${view}`)
        const host = 'ab'.repeat(keyBytes)
        const statement = opaqueStatement(5, namedHash('block'), { views, host })
        const pieces = statementPieces(statement)
        const bytes = Buffer.from(encodeRowStatement(statement))
        const values = pieces.map(({ value }) => value ?? assert.fail('a piece is missing'))
        assert.deepEqual(Buffer.concat(values), bytes)
        assert.ok(!isExcerpt(bytes))
        assert.ok(values.slice(0, -1).every(({ length }) => length === pieceBytes))
        assert.ok(values.every(({ length }) => length > 0 && length <= pieceBytes))
        const keys = pieces.map(({ key }) => key)
        assert.deepEqual(keys.toSorted(Buffer.compare), keys)
        assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, keys.length)
        for (const key of keys) assert.deepEqual(keyOfStatement(key), statementKey(statement))
      }),
      { numRuns: 40 },
    )
  })

  it('names every piece that an excerpt could have, so that a longer one leaves nothing behind', () => {
    fc.assert(
      fc.property(anyStatement, (statement) => {
        const views = new Set(statement.leaves.slice(0, 3).map(({ view }) => view))
        const excerpt = excerptOf(statement, views) ?? assert.fail('the statement has leaves')
        const bytes = Buffer.from(encodeStatementExcerpt(excerpt))
        assert.ok(isExcerpt(bytes))
        const pieces = statementPieces(excerpt)
        assert.equal(pieces.length, Math.ceil(maxExcerptBytes / pieceBytes))
        const values = pieces.flatMap(({ value }) => value ?? [])
        assert.deepEqual(Buffer.concat(values), bytes)
        const own = Math.ceil(bytes.length / pieceBytes)
        assert.ok(pieces.slice(own).every(({ value }) => value === null))
        const keys = pieces.map(({ key }) => key)
        assert.deepEqual(keys[0], statementKey(statement))
        assert.deepEqual(keys.toSorted(Buffer.compare), keys)
      }),
    )
  })
})
