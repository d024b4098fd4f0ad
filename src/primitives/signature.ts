/** The signer of a statement and the signature, as messages carry them. Nothing here verifies it. */
import { type ByteReader, type ByteWriter, readText, writeText } from './cbor.ts'
import { malformedMessage, readHexBytes, writeHexBytes } from './wire.ts'

/** The two signature schemes a statement may carry. */
export type SignatureType = 'ES256K' | 'Ed25519'

export interface Signature {
  readonly signatureType: SignatureType
  /** The public key: lower-case hex without 0x, 33 bytes for ES256K, 32 for Ed25519. */
  readonly signatureIdentity: string
  /** Lower-case hex without 0x: DER for ES256K, 64 bytes for Ed25519. */
  readonly signatureValue: string
}

const identityBytes: Readonly<Record<SignatureType, number>> = { ES256K: 33, Ed25519: 32 }
const maxSignatureBytes = 80

/** Reads a public key; its length is that of one of the schemes. */
export function readPublicKey(reader: ByteReader): string {
  return readHexBytes(reader, 'an identity', identityBytes.Ed25519, identityBytes.ES256K)
}

/** Reads scheme, public key and signature. */
export function readSignature(reader: ByteReader): Signature {
  const signatureType = readText(reader)
  if (signatureType !== 'ES256K' && signatureType !== 'Ed25519')
    throw malformedMessage('a signature type is unknown')
  const keyBytes = identityBytes[signatureType]
  return {
    signatureType,
    signatureIdentity: readHexBytes(reader, 'an identity', keyBytes, keyBytes),
    signatureValue: readHexBytes(reader, 'a signature', 1, maxSignatureBytes),
  }
}

/** Writes what `readSignature` reads. */
export function writeSignature(out: ByteWriter, signature: Signature): void {
  writeText(out, signature.signatureType)
  writeHexBytes(out, signature.signatureIdentity)
  writeHexBytes(out, signature.signatureValue)
}
