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

/** Any words under any prefix, with their checksum, as BIP-173 has it in Python. */
function encoded(prefix: string, words: readonly number[]): string {
  const characters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
  const codes = [...prefix].map((letter) => letter.charCodeAt(0))
  const all = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...words]
  let sum = 1
  for (const word of [...all, 0, 0, 0, 0, 0, 0]) {
    const top = sum >>> 25
    sum = ((sum & 0x1ffffff) << 5) ^ word
    for (const [bit, generator] of [
      0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3,
    ].entries())
      if ((top >> bit) & 1) sum ^= generator
  }
  const last = [25, 20, 15, 10, 5, 0].map((shift) => ((sum ^ 1) >> shift) & 31)
  return `${prefix}1${[...words, ...last].map((word) => characters[word]).join('')}`
}

test('an address has a prefix, 90 characters at most, and no words beyond its 20 bytes', () => {
  const words = Array.from({ length: 32 }, () => 0)
  const account = `0x${'00'.repeat(20)}`
  assert.equal(encoded('shinzo', words), accounts[2]?.[0])
  assert.equal(fromBech32(encoded('a', words)), account)
  assert.equal(encoded('a'.repeat(51), words).length, 90)
  assert.equal(fromBech32(encoded('a'.repeat(51), words)), account)
  const others = [
    encoded('', words),
    encoded('a'.repeat(52), words),
    encoded('shinzo', [...words, 0]),
    encoded('shinzo', words.slice(1)),
    encoded('shinzo', []),
    encoded('shin zo', words),
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
