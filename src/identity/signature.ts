/**
 * Signatures over 32-byte digests: ES256K (RFC 8812: ECDSA on secp256k1 with SHA-256, nonce by
 * RFC 6979, low S, strict DER) and Ed25519 (RFC 8032). Both algorithms sign the digest as a
 * message, so ES256K hashes it once more and any standard library can verify it.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { SignatureType } from '../primitives/signature.ts'
import { isStrictDer } from './der.ts'

/** A private key as plain data: structured-cloneable, so that a worker can sign. */
export interface SignerKey {
  readonly type: SignatureType
  /** 32 bytes. */
  readonly privateKey: Uint8Array
}

export interface DigestSigner {
  readonly type: SignatureType
  /** Public key in lower-case hex without 0x: 33 bytes (ES256K, compressed) or 32 (Ed25519). */
  readonly identity: string
  /** Signature in lower-case hex without 0x: DER (ES256K) or 64 bytes (Ed25519). */
  sign(digest: Uint8Array): string
}

/** DER in front of the raw key: RFC 5480 with the curve of SEC 2 2.4.1, and RFC 8410. */
const derPrefixes = {
  secp256k1PublicKey: Buffer.from('3036301006072a8648ce3d020106052b8104000a032200', 'hex'),
  ed25519PublicKey: Buffer.from('302a300506032b6570032100', 'hex'),
  ed25519PrivateKey: Buffer.from('302e020100300506032b657004220420', 'hex'),
}

/** A signer for this key; the same digest always gives the same signature. */
export function createSigner(key: SignerKey): DigestSigner {
  return key.type === 'ES256K' ? es256kSigner(key.privateKey) : ed25519Signer(key.privateKey)
}

function es256kSigner(privateKey: Uint8Array): DigestSigner {
  const identity = Buffer.from(secp256k1.getPublicKey(privateKey, true)).toString('hex')
  return {
    type: 'ES256K',
    identity,
    sign: (digest) =>
      Buffer.from(secp256k1.sign(digest, privateKey, { format: 'der' })).toString('hex'),
  }
}

function ed25519Signer(privateKey: Uint8Array): DigestSigner {
  const key = createPrivateKey({
    key: Buffer.concat([derPrefixes.ed25519PrivateKey, privateKey]),
    format: 'der',
    type: 'pkcs8',
  })
  return {
    type: 'Ed25519',
    identity: Buffer.from(ed25519.getPublicKey(privateKey)).toString('hex'),
    sign: (digest) => sign(null, digest, key).toString('hex'),
  }
}

/**
 * Whether the signature is this identity's over this digest. False for every deviation in form
 * (upper-case hex, loose DER, high S, a key that is no point or of small order).
 */
export function isValidSignature(
  type: string,
  identity: string,
  digest: Uint8Array,
  signature: string,
): boolean {
  if (type === 'ES256K') return verifyEs256k(identity, digest, signature)
  return type === 'Ed25519' && verifyEd25519(identity, digest, signature)
}

function verifyEs256k(identity: string, digest: Uint8Array, signature: string): boolean {
  if (!/^0[23][0-9a-f]{64}$/.test(identity) || !/^(?:[0-9a-f]{2}){8,72}$/.test(signature))
    return false
  const der = Buffer.from(signature, 'hex')
  if (!isStrictDer(der)) return false
  const key = publicKey(derPrefixes.secp256k1PublicKey, identity)
  return key !== null && verify('sha256', digest, key, der)
}

function verifyEd25519(identity: string, digest: Uint8Array, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(identity) || !/^[0-9a-f]{128}$/.test(signature)) return false
  if (!isFullOrderPoint(Buffer.from(identity, 'hex'))) return false
  const key = publicKey(derPrefixes.ed25519PublicKey, identity)
  return key !== null && verify(null, digest, key, Buffer.from(signature, 'hex'))
}

function publicKey(prefix: Buffer, identity: string): KeyObject | null {
  try {
    const key = Buffer.concat([prefix, Buffer.from(identity, 'hex')])
    return createPublicKey({ key, format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

/** Canonically encoded and not of small order: under such a key anyone can sign (RFC 8032 5.1.7). */
function isFullOrderPoint(bytes: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(bytes).isSmallOrder()
  } catch {
    return false
  }
}
