/** Proves to peers who a node is: its signing key vouches for the peer ID that its connections prove. */
import type { DigestSigner } from '../identity/signature.ts'
import {
  encodeIdentityProof,
  type IdentityStatement,
  identityDigest,
} from '../primitives/identity-proof.ts'

/** The message of the proof. */
export function proveIdentity(
  { type, identity, sign }: DigestSigner,
  statement: IdentityStatement,
): Uint8Array {
  return encodeIdentityProof({
    network: statement.network,
    role: statement.role,
    signatureType: type,
    signatureIdentity: identity,
    signatureValue: sign(identityDigest(statement)),
  })
}
