import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsePeerAddress } from '../../../src/p2p/peers/address.ts'
import { peerIdOf } from '../../../src/p2p/peers/peer-id.ts'
import { isPeerID } from '../../../src/service/settings/peer-id-text.ts'

const isTaken = (id: string): boolean => {
  try {
    parsePeerAddress(`/dns4/generator/tcp/9171/p2p/${id}`)
    return true
  } catch {
    return false
  }
}
const base58 = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
const textLike = (begin: string, length: number): fc.Arbitrary<string> =>
  fc
    .array(base58, { minLength: length, maxLength: length, size: 'max' })
    .map((digits) => `${begin}${digits.join('')}`)

/** IDs of secp256k1 keys and texts that look like some, as often as chance has them, are among these. */
const texts = fc.oneof(
  textLike('12D3KooW', 44),
  textLike('12D3KooWA', 43),
  textLike('16Uiu2HA', 45),
  textLike('16Uiu2HAm', 44),
  textLike('12D3KooW', 43),
  fc.string(),
)

test('what can be a peer ID is what libp2p takes for one that contains a key', () => {
  fc.assert(fc.property(texts, (text) => assert.equal(isPeerID(text), isTaken(text))))
})

test('the ID of every node is one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32, size: 'max' }), async (seed) => {
      assert.ok(isPeerID(await peerIdOf(seed)))
    }),
  )
})

test('the ID of a point of secp256k1 is one, and of no point none', () => {
  assert.ok(isPeerID('16Uiu2HAmK4SJARRMP68hzemT3njNxeYnGyidwk5ztWGUZQ8Nx7vN'))
  assert.ok(!isPeerID(`16Uiu2HA${'m'.repeat(45)}`))
  assert.ok(!isPeerID('116Uiu2HAmK4SJARRMP68hzemT3njNxeYnGyidwk5ztWGUZQ8Nx7vN'))
})
