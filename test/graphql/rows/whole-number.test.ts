import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareWholeNumbers, parseWholeNumber } from '../../../src/graphql/rows/whole-number.ts'
import { maxBigIntCharacters } from '../../../src/views/rows/row-values.ts'

const whole = fc.oneof(fc.bigInt(), fc.bigInt({ min: -200n, max: 200n }))

test('whole numbers of any size and sign compare as numbers', () => {
  fc.assert(
    fc.property(whole, whole, (a, b) => {
      const order = compareWholeNumbers(`${a}`, `${b}`)
      assert.equal(Math.sign(order), Number(a > b) - Number(a < b), `${a} and ${b}`)
      assert.equal(compareWholeNumbers(`${a}`, `${a}`), 0)
    }),
    { numRuns: 500 },
  )
})

test('a whole number is read from decimal text, hex and numbers, each in one spelling', () => {
  for (const [written, canonical] of [
    ['7', '7'],
    ['-007', '-7'],
    ['-0', '0'],
    ['0xFf', '255'],
    ['0X1f', '31'],
    [42, '42'],
    [-42, '-42'],
    [-0, '0'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['9'.repeat(maxBigIntCharacters), '9'.repeat(maxBigIntCharacters)],
  ] as const)
    assert.equal(parseWholeNumber(written), canonical)
})

test('text that is no whole number, or longer than a hundred characters, is none', () => {
  const others = ['', '-', '0x', '-0x1', '1.5', ' 1', '1n', '+1', '9'.repeat(101)]
  for (const other of [...others, 1.5, 2 ** 53, Number.NaN, null, undefined, true, 1n])
    assert.equal(parseWholeNumber(other), undefined, String(other))
})
