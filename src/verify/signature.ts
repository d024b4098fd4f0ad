/**
 * Signatures over 32-byte digests without Node, as strict as `src/identity/signature.ts`: for each
 * there is one spelling, and both return the same for every input.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToNumberLE } from '@noble/curves/utils.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { isEqual } from './inclusion.ts'

/**
 * Whether the signature is this identity's over this digest: ES256K (RFC 8812, strict DER with S in the
 * lower half) or Ed25519 (RFC 8032). False for any other type and for every deviation in form.
 */
export function verifySealSignature(
  type: string,
  identity: string,
  digest: Uint8Array,
  signature: string,
): boolean {
  try {
    if (type === 'ES256K') return verifyEs256k(identity, digest, signature)
    return type === 'Ed25519' && verifyEd25519(identity, digest, signature)
  } catch {
    // What the curves throw at keys and signatures that are no points or numbers of theirs.
    return false
  }
}

function verifyEs256k(identity: string, digest: Uint8Array, signature: string): boolean {
  if (!/^0[23][0-9a-f]{64}$/.test(identity) || !/^(?:[0-9a-f]{2}){8,72}$/.test(signature))
    return false
  const options = { format: 'der', lowS: true, prehash: true } as const
  return secp256k1.verify(hexToBytes(signature), digest, hexToBytes(identity), options)
}

/**
 * The equation without the cofactor, as Node checks it: libraries that multiply by the cofactor accept
 * signatures that others refuse.
 */
function verifyEd25519(identity: string, digest: Uint8Array, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(identity) || !/^[0-9a-f]{128}$/.test(signature)) return false
  const { Point } = ed25519
  const key = hexToBytes(identity)
  const point = Point.fromBytes(key)
  if (point.isSmallOrder()) return false
  const [r, s] = [hexToBytes(signature.slice(0, 64)), hexToBytes(signature.slice(64))]
  const challenge = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(r, key, digest))))
  const left = Point.BASE.multiplyUnsafe(bytesToNumberLE(s))
  return isEqual(left.subtract(point.multiplyUnsafe(challenge)).toBytes(), r)
}
