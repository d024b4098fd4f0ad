/** Addresses of the registry chain in the form of older generations, beside those of the EVM. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromBech32, toBech32 } from '../../src/registry/bech32.ts'

/** Made by another implementation, of cosmjs. */
const accounts: readonly [string, string][] = [
  ['shinzo1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg32xgktr', '11'.repeat(20)],
  ['cosmos1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3pahzj0', '11'.repeat(20)],
  ['shinzo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqcclt73', '00'.repeat(20)],
  ['shinzo1llllllllllllllllllllllllllllllll5f7yem', 'ff'.repeat(20)],
  // A vector of BIP-173.
  ['abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw', '00443214c74254b635cf84653a56d7c675be77df'],
  ['shinzo1qy352euf40x77qfrg4ncn27dauqjx3t8zahhwj', '0123456789abcdef0123456789abcdef01234567'],
]

test('an address in Bech32 is the account that its bytes are, in either case', () => {
  for (const [text, digits] of accounts) {
    assert.equal(fromBech32(text), `0x${digits}`)
    assert.equal(fromBech32(text.toUpperCase()), `0x${digits}`)
  }
})

test('an account is written as other implementations write it', () => {
  const own = accounts.filter(([text]) => text.startsWith('shinzo1'))
  for (const [text, digits] of own) assert.equal(toBech32(`0x${digits}`), text)
})

test('an address that is no Bech32 of 20 bytes is no account', () => {
  const others = [
    '',
    '1',
    'shinzo1',
    // 19 bytes.
    'shinzo1qy352euf40x77qfrg4ncn27dauqjx3geyffp9',
    'sHinzo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqcclt73',
    // Valid strings of BIP-173, none of which holds 20 bytes.
    'A12UEL5L',
    'split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w',
  ]
  for (const text of others) assert.equal(fromBech32(text), null, text)
})

test('one changed character of an address is noticed', () => {
  const valid = 'cosmos1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3pahzj0'
  const place = fc.integer({ min: 7, max: valid.length - 1 })
  fc.assert(
    fc.property(place, fc.constantFrom(...'qpzry9x8gf2tvdw0s3jn54khce6mua7l'), (at, other) => {
      fc.pre(valid[at] !== other)
      assert.equal(fromBech32(`${valid.slice(0, at)}${other}${valid.slice(at + 1)}`), null)
    }),
  )
})

test('any text is an account or none, without a failure', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.match(fromBech32(text) ?? `0x${'0'.repeat(40)}`, /^0x[0-9a-f]{40}$/)
    }),
  )
})
