import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { toJsonText } from '../../../../operator/runtime/client/json-text.ts'

const texts = fc.string({ unit: 'binary' })

test('what is read as JSON or as YAML is what was written', () => {
  const values = fc.dictionary(fc.string(), fc.oneof(texts, fc.integer(), fc.array(texts)))
  fc.assert(
    fc.property(values, (value) => {
      const text = toJsonText(value)
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      assert.deepEqual(parse(text), JSON.parse(text))
    }),
  )
})

test('no character is as it is that YAML refuses or takes for the end of a line', () => {
  const characters = '\u0000\u007f\u0080\u0085\u009f\u2028\u2029\ufeff\ufffe\uffff'
  const text = toJsonText({ message: characters })
  assert.match(text, /^[\x20-\x7e]+$/)
  assert.deepEqual(JSON.parse(text), { message: characters })
})

test('half of a surrogate pair is replaced, and a whole one is kept', () => {
  assert.equal(toJsonText(['a\ud800b', '\udc00', '\u{1f600}']), '["a\ufffdb","\ufffd","\u{1f600}"]')
})
