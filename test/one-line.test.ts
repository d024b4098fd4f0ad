import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { onOneLine } from '../src/one-line.ts'

test('a text is cut where it is longer than the bound', () => {
  for (const [text, shown] of [
    ['', ''],
    ['abcd', 'abcd'],
    ['abcde', 'abcde'],
    ['abcdef', 'abcde…'],
    ['abcd😀', 'abcd\ufffd…'],
  ] as const)
    assert.equal(onOneLine(text, 5), shown)
})

test('lines, control characters and changes of direction become single spaces', () => {
  const text = ' a\r\n\tb\u0000\u001b[31mc\u009b2Jd\u2028e\u202ef\u200eg '
  assert.equal(onOneLine(text, 100), 'a b [31mc 2Jd e f g')
})

test('any text becomes one well-formed line within the bound', () => {
  const text = fc.string({ unit: 'binary', maxLength: 50, size: 'max' })
  fc.assert(
    fc.property(text, fc.nat(50), (found, most) => {
      const line = onOneLine(found, most)
      assert.ok(line.length <= most + 1)
      assert.ok(line.isWellFormed())
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    }),
  )
})
