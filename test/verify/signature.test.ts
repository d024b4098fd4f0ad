import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js'
import { sha512 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { createSigner, isValidSignature as verifyInNode } from '../../src/identity/signature.ts'
import { verifySealSignature } from '../../src/verify/signature.ts'

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))
const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length })
const key = bytes(32).filter((secret) => secret.some((byte) => byte !== 0) && secret[0] !== 0xff)
const digest = bytes(32)
const types = ['ES256K', 'Ed25519'] as const

/** Answers for both, which are the same. */
function verify(type: string, identity: string, message: Uint8Array, signature: string): boolean {
  const fits = verifySealSignature(type, identity, message, signature)
  assert.equal(verifyInNode(type, identity, message, signature), fits, signature)
  return fits
}

for (const type of types) {
  test(`${type}: a Generator’s signature is valid for its digest and identity alone`, () => {
    const property = fc.property(key, key, digest, digest, (secret, strange, message, other) => {
      fc.pre(toHex(secret) !== toHex(strange) && toHex(message) !== toHex(other))
      const { identity, sign } = createSigner({ type, privateKey: secret })
      const stranger = createSigner({ type, privateKey: strange })
      assert.equal(verify(type, identity, message, sign(message)), true)
      assert.equal(verify(type, identity, other, sign(message)), false)
      assert.equal(verify(type, stranger.identity, message, sign(message)), false)
      for (const foreign of ['ES256K', 'Ed25519', 'EdDSA', 'es256k'].filter(
        (one) => one !== type,
      )) {
        assert.equal(verify(foreign, identity, message, sign(message)), false)
      }
    })
    fc.assert(property, { numRuns: 20 })
  })

  test(`${type}: a signature with any byte, digit or length changed is invalid`, () => {
    const { identity, sign } = createSigner({ type, privateKey: fromHex('11'.repeat(32)) })
    const message = fromHex('22'.repeat(32))
    const change = (text: string, at: number, digit: string): string =>
      text.slice(0, at % text.length) + digit + text.slice((at % text.length) + 1)
    const digits = fc.constantFrom(...'0123456789abcdefABCDEFx ', '')
    const property = fc.property(fc.nat(), digits, (at, digit) => {
      const [signature, other] = [sign(message), change(sign(message), at, digit)]
      fc.pre(other !== signature)
      assert.equal(verify(type, identity, message, other), false)
      const stranger = change(identity, at, digit)
      if (stranger !== identity) assert.equal(verify(type, stranger, message, signature), false)
    })
    fc.assert(property, { numRuns: 150 })
  })

  test(`${type}: any text gets the verdict that a Host gives it, and nothing is thrown`, () => {
    const text = fc.oneof(
      fc.string(),
      bytes(32).map(toHex),
      bytes(33).map(toHex),
      bytes(64).map(toHex),
    )
    const property = fc.property(text, text, digest, (identity, signature, message) => {
      verify(type, identity, message, signature)
    })
    fc.assert(property, { numRuns: 300 })
  })
}

const order = secp256k1.Point.CURVE().n

test('ES256K: one spelling of a signature is valid, whatever others there are in DER', () => {
  const secret = fromHex('33'.repeat(32))
  const message = fromHex('44'.repeat(32))
  const { identity, sign } = createSigner({ type: 'ES256K', privateKey: secret })
  const good = secp256k1.Signature.fromBytes(fromHex(sign(message)), 'der')
  const edges = [
    0n,
    1n,
    good.r,
    good.s,
    order - good.s,
    order / 2n,
    order / 2n + 1n,
    order - 1n,
    order,
  ]
  const integer = fc
    .tuple(fc.constantFrom(...edges), fc.constantFrom('', '00', '0000', 'strict'))
    .map(([value, padding]) => derInteger(value, padding))
  const shape = fc.tuple(
    integer,
    integer,
    fc.constantFrom('', '81', '8200'),
    fc.constantFrom('', '00'),
  )
  const property = fc.property(shape, ([r, s, form, tail]) => {
    const length = ((r.length + s.length) / 2).toString(16).padStart(2, '0')
    verify('ES256K', identity, message, `30${form}${length}${r}${s}${tail}`)
  })
  fc.assert(property, { numRuns: 500 })
  const spelt = (s: bigint): string => {
    const both = derInteger(good.r, 'strict') + derInteger(s, 'strict')
    return `30${(both.length / 2).toString(16)}${both}`
  }
  assert.equal(spelt(good.s), sign(message))
  assert.equal(verify('ES256K', identity, message, spelt(good.s)), true)
  assert.equal(verify('ES256K', identity, message, spelt(order - good.s)), false)
})

/** An integer as it must be spelt, or with zeros in front of its bytes whether it needs them or not. */
function derInteger(value: bigint, padding: string): string {
  const digits = value.toString(16)
  const whole = digits.length % 2 === 0 ? digits : `0${digits}`
  const sign = Number.parseInt(whole.slice(0, 2), 16) >= 0x80 ? '00' : ''
  const content = (padding === 'strict' ? sign : padding) + whole
  return `02${(content.length / 2).toString(16).padStart(2, '0')}${content}`
}

/** Libraries differ here (https://eprint.iacr.org/2020/1244): with the cofactor these would all fit. */
test('Ed25519: keys and signatures with a small-order part are valid where a Host accepts them', () => {
  const { Point } = ed25519
  const parts = ED25519_TORSION_SUBGROUP.map((hex) => Point.fromHex(hex, true))
  let fitting = 0
  const anyPart = fc.constantFrom(...parts)
  const scalar = bytes(32).map((seed) => Point.Fn.create(bytesToNumberLE(seed)))
  const property = fc.property(
    scalar,
    scalar,
    anyPart,
    anyPart,
    digest,
    (a, b, inKey, inR, message) => {
      const identity = Point.BASE.multiplyUnsafe(a).add(inKey).toBytes()
      const r = Point.BASE.multiplyUnsafe(b).add(inR).toBytes()
      const hash = sha512(Buffer.concat([r, identity, message]))
      const s = Point.Fn.create(b + Point.Fn.create(bytesToNumberLE(hash)) * a)
      const signature = toHex(r) + toHex(numberToBytesLE(s, 32))
      if (verify('Ed25519', toHex(identity), message, signature)) fitting++
    },
  )
  fc.assert(property, { numRuns: 200 })
  assert.ok(fitting > 0)
})

test('Ed25519: a key of small order is valid for nothing, as signatures without a secret fit it', () => {
  const point = fc.constantFrom(...ED25519_TORSION_SUBGROUP)
  fc.assert(
    fc.property(point, point, digest, (identity, r, message) => {
      assert.equal(verify('Ed25519', identity, message, r + '00'.repeat(32)), false)
    }),
  )
})

test('Ed25519: numbers that are not reduced are invalid', () => {
  const { identity, sign } = createSigner({ type: 'Ed25519', privateKey: fromHex('55'.repeat(32)) })
  const message = fromHex('66'.repeat(32))
  const good = sign(message)
  const s = bytesToNumberLE(fromHex(good.slice(64))) + ed25519.Point.Fn.ORDER
  assert.equal(verify('Ed25519', identity, message, good), true)
  assert.equal(
    verify('Ed25519', identity, message, good.slice(0, 64) + toHex(numberToBytesLE(s, 32))),
    false,
  )
})
