import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import type { GraphqlResult } from '../../src/graphql/graphql.ts'
import { resultPieces } from '../../src/graphql/result-text.ts'

const text = (result: GraphqlResult): string => [...resultPieces(result)].join('')

test('the pieces joined are the answer’s JSON', () => {
  const row = fc.dictionary(fc.string(), fc.jsonValue({ depthSize: 'small' }))
  const value = fc.oneof(fc.array(row, { maxLength: 300 }), fc.jsonValue())
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value, { maxKeys: 4 }), (data) => {
      const result = { data: data as GraphqlResult['data'] }
      assert.equal(text(result), JSON.stringify(result))
    }),
    { numRuns: 100 },
  )
})

test('failed answers show data null, then the errors', () => {
  const errors = [new GraphQLError('No.', { extensions: { code: 'X' } })]
  assert.equal(
    text({ data: null, errors }),
    '{"data":null,"errors":[{"message":"No.","extensions":{"code":"X"}}]}',
  )
})

test('no piece of a large answer is much longer than 64 KiB', () => {
  const rows = Array.from({ length: 5_000 }, (_, index) => ({ text: 'x'.repeat(index % 2_000) }))
  const pieces = [...resultPieces({ data: { Log: rows } })]
  assert.ok(pieces.every((piece) => piece.length < 4 * 64 * 1024))
  assert.ok(pieces.length > 50)
})
