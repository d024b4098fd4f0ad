import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { test } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { createSigner, isValidSignature } from '../../src/identity/signature.ts'

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))
const text = (words: string): Uint8Array => new TextEncoder().encode(words)
const key32 = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((key) => key.some((byte) => byte !== 0) && key[0] !== 0xff)
const digest32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

/**
 * Deterministic ECDSA on secp256k1 with SHA-256, as published with the first implementations of
 * RFC 6979 for that curve and used by Bitcoin libraries since; r and s, S in the lower half.
 */
const es256kVectors = [
  {
    key: '0000000000000000000000000000000000000000000000000000000000000001',
    message: 'Satoshi Nakamoto',
    r: '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8',
    s: '2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
  },
  {
    key: '0000000000000000000000000000000000000000000000000000000000000001',
    message: 'All those moments will be lost in time, like tears in rain. Time to die...',
    r: '8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b',
    s: '547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21',
  },
  {
    key: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140',
    message: 'Satoshi Nakamoto',
    r: 'fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d0',
    s: '6b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5',
  },
  {
    key: 'f8b8af8ce3c7cca5e300d33939540c10d45ce001b8f252bfbc57ba0342904181',
    message: 'Alan Turing',
    r: '7063ae83e7f62bbb171798131b4a0564b956930092b33b07b395615d9ec7e15c',
    s: '58dfcc1e00a35e1572f366ffe34ba0fc47db1e7189759b9fb233c5b05ab388ea',
  },
]

for (const { key, message, r, s } of es256kVectors) {
  test(`ES256K gives the RFC 6979 signature of "${message.slice(0, 9)}" under ${key.slice(0, 4)}...`, () => {
    const signer = createSigner({ type: 'ES256K', privateKey: bytes(key) })
    assert.equal(signer.sign(text(message)), derHex(r, s))
    assert.ok(isValidSignature('ES256K', signer.identity, text(message), derHex(r, s)))
  })
}

test('an ES256K identity is the compressed public key (SEC 2, generator point for key 1)', () => {
  const privateKey = bytes('00'.repeat(31).concat('01'))
  const { identity, type } = createSigner({ type: 'ES256K', privateKey })
  assert.equal(identity, '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')
  assert.equal(type, 'ES256K')
})

/** RFC 8032 7.1, tests 1 to 3. */
const ed25519Vectors = [
  {
    key: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    identity: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    key: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    identity: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
  {
    key: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    identity: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
]

for (const { key, identity, message, signature } of ed25519Vectors) {
  test(`Ed25519 gives the signature of RFC 8032 7.1 for "${message}"`, () => {
    const signer = createSigner({ type: 'Ed25519', privateKey: bytes(key) })
    assert.equal(signer.identity, identity)
    assert.equal(signer.sign(bytes(message)), signature)
    assert.ok(isValidSignature('Ed25519', identity, bytes(message), signature))
  })
}

for (const type of ['ES256K', 'Ed25519'] as const) {
  test(`${type}: a signature is deterministic and valid only for its digest and identity`, () => {
    const property = fc.property(key32, key32, digest32, digest32, (a, b, digest, other) => {
      fc.pre(Buffer.compare(a, b) !== 0 && Buffer.compare(digest, other) !== 0)
      const signer = createSigner({ type, privateKey: a })
      const stranger = createSigner({ type, privateKey: b })
      const signature = signer.sign(digest)
      assert.equal(signer.sign(digest), signature)
      assert.equal(isValidSignature(type, signer.identity, digest, signature), true)
      assert.equal(isValidSignature(type, signer.identity, other, signature), false)
      assert.equal(isValidSignature(type, stranger.identity, digest, signature), false)
    })
    fc.assert(property, { numRuns: 30 })
  })

  test(`${type}: a signature or identity with any byte changed is false and never throws`, () => {
    const signer = createSigner({ type, privateKey: bytes('11'.repeat(32)) })
    const digest = bytes('22'.repeat(32))
    const signature = signer.sign(digest)
    const change = (hex: string, at: number, by: number): string => {
      const changed = Buffer.from(hex, 'hex')
      changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ by
      return changed.toString('hex')
    }
    const property = fc.property(fc.nat(200), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const badSignature = change(signature, at, by)
      const badIdentity = change(signer.identity, at, by)
      assert.equal(isValidSignature(type, signer.identity, digest, badSignature), false)
      assert.equal(isValidSignature(type, badIdentity, digest, signature), false)
    })
    fc.assert(property, { numRuns: 100 })
  })

  test(`${type}: arbitrary text as identity or signature is false and never throws`, () => {
    const property = fc.property(fc.string(), fc.string(), (identity, signature) => {
      assert.equal(isValidSignature(type, identity, bytes('22'.repeat(32)), signature), false)
    })
    fc.assert(property, { numRuns: 100 })
  })
}

const signer = createSigner({ type: 'ES256K', privateKey: bytes('33'.repeat(32)) })
const digest = bytes('44'.repeat(32))
const good = signer.sign(digest)
const { r, s } = secp256k1.Signature.fromBytes(bytes(good), 'der')
const order = secp256k1.Point.CURVE().n
const hex32 = (value: bigint): string => value.toString(16).padStart(64, '0')

test('a signature with S in the upper half is refused, though plain ECDSA accepts it (BIP 146)', () => {
  const high = derHex(hex32(r), hex32(order - s))
  const spki = Buffer.from(
    `3036301006072a8648ce3d020106052b8104000a032200${signer.identity}`,
    'hex',
  )
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  assert.equal(verify('sha256', digest, key, bytes(high)), true)
  assert.equal(isValidSignature('ES256K', signer.identity, digest, high), false)
})

const looseForms: Readonly<Record<string, string>> = {
  'a length in long form': `3081${good.slice(2)}`,
  'bytes after the end': `${good}00`,
  'a needless zero before R': padInteger(good, 'r'),
  'a needless zero before S': padInteger(good, 's'),
  'the 64-byte compact form': `${hex32(r)}${hex32(s)}`,
  'upper-case hex': good.toUpperCase(),
  'a 0x prefix': `0x${good}`,
  'R of zero': derHex('00', hex32(s)),
  'S of zero': derHex(hex32(r), '00'),
  'R not below the order': derHex(hex32(order), hex32(s)),
  'a negative R': `3006${'020180'}${'020101'}`,
  'an empty integer': '30050200020101',
  nothing: '',
}

for (const [form, signature] of Object.entries(looseForms)) {
  test(`an ES256K signature with ${form} is refused: one signature has one spelling`, () => {
    assert.equal(isValidSignature('ES256K', signer.identity, digest, signature), false)
  })
}

test('an ES256K identity must be compressed, lower-case and a point of the curve', () => {
  const point = secp256k1.Point.fromHex(signer.identity)
  const notOnCurve = `02${hex32(5n)}`
  for (const identity of [point.toHex(false), signer.identity.toUpperCase(), notOnCurve]) {
    assert.equal(isValidSignature('ES256K', identity, digest, good), false)
  }
})

test('an Ed25519 identity of small order is refused: under it one signature fits every message', () => {
  const identity = `01${'00'.repeat(31)}`
  const universal = `${identity}${'00'.repeat(32)}`
  assert.equal(isValidSignature('Ed25519', identity, digest, universal), false)
})

test('an Ed25519 signature and its identity are lower-case hex of their length, and nothing else', () => {
  const { identity, sign } = createSigner({ type: 'Ed25519', privateKey: bytes('33'.repeat(32)) })
  const signature = sign(digest)
  const isValid = (key: string, value: string) => isValidSignature('Ed25519', key, digest, value)
  assert.ok(isValid(identity, signature))
  assert.ok(!isValid(identity.toUpperCase(), signature))
  assert.ok(!isValid(identity, signature.toUpperCase()))
  assert.ok(!isValid(`${identity} `, signature))
  assert.ok(!isValid(identity, `${signature} `))
})

test('an Ed25519 signature made by another library verifies', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const identity = Buffer.from(x, 'base64url').toString('hex')
  const signature = sign(null, digest, privateKey).toString('hex')
  assert.ok(isValidSignature('Ed25519', identity, digest, signature))
})

test('an unknown signature type is false', () => {
  for (const type of ['ES256K', 'Ed25519'] as const) {
    const signer = createSigner({ type, privateKey: bytes('33'.repeat(32)) })
    const signature = signer.sign(digest)
    assert.equal(isValidSignature(type, signer.identity, digest, signature), true)
    assert.equal(isValidSignature('EdDSA', signer.identity, digest, signature), false)
  }
})

test('a signer for another thread is made from cloned key data', () => {
  const key = structuredClone({ type: 'ES256K', privateKey: bytes('33'.repeat(32)) } as const)
  assert.equal(createSigner(key).sign(digest), good)
})

test('ES256K verifies with any library: the message is the digest, hashed by the algorithm', () => {
  const hashed = createHash('sha256').update(digest).digest()
  const options = { format: 'der', prehash: false } as const
  assert.ok(secp256k1.verify(bytes(good), hashed, bytes(signer.identity), options))
})

function derHex(rHex: string, sHex: string): string {
  const body = derInteger(rHex) + derInteger(sHex)
  return `30${byte(body.length / 2)}${body}`
}

function derInteger(hex: string): string {
  const minimal = hex.replace(/^(?:00)+(?=..)/, '')
  const positive = Number.parseInt(minimal.slice(0, 2), 16) >= 0x80 ? `00${minimal}` : minimal
  return `02${byte(positive.length / 2)}${positive}`
}

function padInteger(der: string, which: 'r' | 's'): string {
  const rEnd = 8 + Number.parseInt(der.slice(6, 8), 16) * 2
  const parts = { r: der.slice(8, rEnd), s: der.slice(rEnd + 4) }
  const padded = { ...parts, [which]: `00${parts[which]}` }
  const body = `02${byte(padded.r.length / 2)}${padded.r}02${byte(padded.s.length / 2)}${padded.s}`
  return `30${byte(body.length / 2)}${body}`
}

function byte(value: number): string {
  return value.toString(16).padStart(2, '0')
}
