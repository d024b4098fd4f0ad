/** Amounts of coins are read as they are written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { amountText, parseAmount } from '../../../src/toolkit/wallet/coin-amount.ts'

test('an amount is read as it is written, with and without the symbol', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 36n - 1n }), (amount) => {
      const text = amountText(amount)
      assert.equal(parseAmount(text), amount)
      assert.equal(parseAmount(text.replace(' SHNZ', '')), amount)
    }),
  )
})

test('a whole amount is written without a fraction, and a fraction without zeros at its end', () => {
  assert.equal(amountText(2n * 10n ** 18n), '2 SHNZ')
  assert.equal(amountText(25n * 10n ** 17n), '2.5 SHNZ')
  assert.equal(amountText(0n), '0 SHNZ')
})

test('what is no amount, or finer than the smallest unit, is none', () => {
  for (const text of ['', '.5', '1.', '-1', '1e3', '0x1', '1,5', '1 ETH', `0.${'1'.repeat(19)}`])
    assert.equal(parseAmount(text), null, text)
  assert.equal(parseAmount(`0.${'0'.repeat(17)}1`), 1n)
  assert.equal(parseAmount('2'), 2n * 10n ** 18n)
})
