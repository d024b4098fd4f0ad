import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import {
  document,
  end,
  error,
  fedSingly,
  nil,
  openLens,
  openSetLens,
  streamed,
  values,
} from './support/fed-lens.ts'

const documents = [{ to: 'a' }, { to: 'A' }, { to: null }, { to: 'a', n: 1 }]

test('filter_transaction keeps the documents whose field has exactly the value', () => {
  const args = { src: 'to', value: 'a' }
  const expected = [documents[0], documents[3]]
  assert.deepEqual(values(streamed(openSetLens('filter_transaction', args), documents)), expected)
  assert.deepEqual(values(fedSingly(openSetLens('filter_transaction', args), documents)), expected)
})

test('filter_transaction skips 100,000 documents in one call, with the memory that it had', () => {
  const lens = openSetLens('filter_transaction', { src: 'to', value: { b: [1] } })
  const wrong = document({ to: { b: [2] } })
  const right = document({ to: { b: [1] } })
  const before = lens.memoryBytes()
  const source = [...Array.from({ length: 100_000 }, () => wrong), right]
  assert.deepEqual(lens.transform(source), right)
  assert.equal(lens.memoryBytes(), before)
})

test('filter_transaction answers an error to a document without the field', () => {
  const lens = openSetLens('filter_transaction', { src: 'to', value: 1 })
  const missing = error('The requested property was not found. Requested: to')
  assert.deepEqual(lens.transform([document({ TO: 1 })]), missing)
  assert.deepEqual(lens.transform([document([])]), error('the document is no JSON object'))
  assert.deepEqual(lens.transform([document({ to: 1 })]), document({ to: 1 }))
})

test('filter_transaction hands on nil and errors, and answers each end of a stream', () => {
  const lens = openSetLens('filter_transaction', { src: 'to', value: 1 })
  const source = [nil, error('gone'), end, end, document({ to: 1 })]
  assert.deepEqual(
    source.map((item) => lens.transform([item])),
    source,
  )
})

test('filter_transaction refuses arguments without a field or a value', () => {
  const lens = openLens('filter_transaction')
  assert.deepEqual(lens.set('{"value":1}'), error("missing required argument 'src'"))
  assert.deepEqual(lens.set('{"src":"a"}'), error("missing required argument 'value'"))
  assert.deepEqual(lens.set('[]'), error('the arguments are no JSON object'))
  assert.deepEqual(lens.transform([]), error('set_param must be called before transform'))
})

test('filter_transaction goes by what JSON says, not by how it is written', () => {
  const value = { 'a"b': [1, { c: 'é\n' }, true, null, -1.5], d: {}, e: [] }
  const lens = openSetLens('filter_transaction', { src: 'x', value })
  const text =
    ' {"x": { "e" : [ ] , "d":{ }, "a\\u0022b" :[1 , {"c":"\\u00e9\\u000a"},true , null,-1.5] } } '
  assert.deepEqual(lens.transform([{ type: 'document', text }]), { type: 'document', text })
})

/** Values of few kinds, so that equal ones occur, with zero in one way. */
const small = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom<unknown>(0, 1, 'a', '', 'é', true, false, null),
    fc.array(tie('any'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('any'), { noNullPrototype: true }),
  ),
})).any

test('filter_transaction agrees with deep equality on which values are the same', () => {
  let same = 0
  fc.assert(
    fc.property(small, small, fc.boolean(), (value, other, isSame) => {
      const x = isSame ? structuredClone(value) : other
      const lens = openSetLens('filter_transaction', { src: 'x', value })
      const isKept = streamed(lens, [{ x }]).length === 1
      assert.equal(isKept, isDeepStrictEqual(value, x))
      if (isKept) same += 1
    }),
    { numRuns: 1_000 },
  )
  assert.ok(same > 300 && same < 900, `${same} same`)
})
