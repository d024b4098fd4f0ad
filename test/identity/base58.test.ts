import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { base58btc } from 'multiformats/bases/base58'
import { fromBase58, toBase58 } from '../../src/identity/base58.ts'

test('a number has the digits that its bytes have in multibase, and is read from them', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 320n }), (number) => {
      const hex = number.toString(16)
      const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
      assert.equal(toBase58(number), base58btc.baseEncode(bytes))
      assert.equal(fromBase58(toBase58(number)), number)
    }),
  )
})
