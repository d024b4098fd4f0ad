import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { resultPieces, resultText } from '../../../src/graphql/http/result-text.ts'

test('the joined pieces are the answer’s JSON', () => {
  const pieces = fc.array(fc.string({ unit: 'binary', maxLength: 200, size: 'max' }))
  fc.assert(
    fc.property(pieces, (data) => {
      assert.equal(resultText({ data }), `{"data":${data.join('')}}`)
    }),
    { numRuns: 100 },
  )
})

test('failed answers show data null, then the errors', () => {
  const errors = [new GraphQLError('No.', { extensions: { code: 'X' } })]
  assert.equal(
    resultText({ data: null, errors }),
    '{"data":null,"errors":[{"message":"No.","extensions":{"code":"X"}}]}',
  )
})

test('what an answer says beside its data comes after it, the errors last', () => {
  const extensions = { views: [] }
  assert.equal(resultText({ data: ['{}'], extensions }), '{"data":{},"extensions":{"views":[]}}')
  const errors = [new GraphQLError('No.')]
  assert.equal(
    resultText({ data: null, extensions, errors }),
    '{"data":null,"extensions":{"views":[]},"errors":[{"message":"No."}]}',
  )
})

test('the length of each piece is reported once the next one is asked for', () => {
  const taken: number[] = []
  const pieces = resultPieces({ data: ['x'.repeat(64 * 1024 + 1)] }, (length) => taken.push(length))
  pieces.next()
  assert.deepEqual(taken, [])
  assert.equal(pieces.next().value?.length, 64 * 1024)
  assert.deepEqual(taken, ['{"data":'.length])
  assert.deepEqual([...pieces], ['x', '}'])
  assert.deepEqual(taken, [8, 64 * 1024, 1, 1])
})

test('no piece of a large answer is longer than 64 KiB, or empty', () => {
  const data = ['{"Log":[', 'x'.repeat(5_000_000), ',', 'x'.repeat(64 * 1024), ']}']
  const pieces = [...resultPieces({ data })]
  assert.equal(pieces.join(''), `{"data":${data.join('')}}`)
  assert.ok(pieces.every(({ length }) => length > 0 && length <= 64 * 1024))
})
