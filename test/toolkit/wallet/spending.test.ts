import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireAffordable } from '../../../src/toolkit/wallet/spending.ts'

const limits = { chainId: null, maxFee: 10n }
const afford = (fee: bigint, balance: bigint) => (): void =>
  requireAffordable({ fee, balance }, '0x12', limits)

test('a fee may be as high as the limit, and take the whole balance', () => {
  assert.doesNotThrow(afford(10n, 10n))
})

test('a fee above the limit is refused, whatever the balance', () => {
  assert.throws(afford(11n, 10n ** 18n), {
    code: 'TOOLKIT_FEE_HIGH',
    message:
      'registering may cost 0.000000000000000011 SHNZ, and at most 0.00000000000000001 SHNZ may be spent',
  })
})

test('a fee above the balance is refused with the account', () => {
  assert.throws(afford(10n, 9n), {
    code: 'TOOLKIT_BALANCE_LOW',
    message:
      '0x12 has 0.000000000000000009 SHNZ, and registering may cost 0.00000000000000001 SHNZ',
  })
})
