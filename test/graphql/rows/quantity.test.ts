import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareQuantities, parseHexQuantity } from '../../../src/graphql/rows/quantity.ts'

const widest = 2n ** 256n - 1n
const hexOf = (value: bigint): string => `0x${value.toString(16)}`

test('a quantity is minimal hex, whether it was written as hex, as decimal text or as a number', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, widest), (value) => {
      const padded = value.toString(16).toUpperCase().padStart(64, '0')
      for (const text of [`${value}`, hexOf(value), `0X${padded}`, ` 0x${padded}\n`])
        assert.equal(parseHexQuantity(text), hexOf(value), text)
    }),
  )
  for (const number of [0, 255, Number.MAX_SAFE_INTEGER])
    assert.equal(parseHexQuantity(number), hexOf(BigInt(number)))
})

test('what is no whole number from 0 to 256 bits is no quantity', () => {
  for (const text of [hexOf(widest), `${widest}`])
    assert.equal(parseHexQuantity(text), hexOf(widest))
  const tooLong = [hexOf(widest + 1n), `${widest + 1n}`, `0x${'0'.repeat(65)}`, '0'.repeat(79)]
  const others = ['', ' ', '0x', '-1', '1.5', '1e3', '0xg', 'x1', '1 2', `1${'0'.repeat(78)}`]
  const numbers = [-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]
  for (const value of [...tooLong, ...others, ...numbers, null, undefined, true, [1], 5n])
    assert.equal(parseHexQuantity(value), undefined, String(value))
})

test('quantities are ordered as the numbers that they are', () => {
  const small = fc.bigInt(0n, 300n)
  fc.assert(
    fc.property(fc.oneof(small, fc.bigInt(0n, widest)), small, (a, b) => {
      const order = Math.sign(compareQuantities(hexOf(a), hexOf(b)))
      assert.deepEqual([order < 0, order === 0, order > 0], [a < b, a === b, a > b])
    }),
  )
})
