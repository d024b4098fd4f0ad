/** Checks who a peer proves to be: its key signed the peer ID that the connection proves. */
import { ServiceError } from '../errors.ts'
import { isValidSignature } from '../identity/signature.ts'
import { decodeIdentityProof, identityDigest, type NodeRole } from '../primitives/identity-proof.ts'

export interface PeerIdentity {
  readonly role: NodeRole
  /** Public key in hex, as in seals. */
  readonly identity: string
}

/** Null for an answer that proves nothing of this peer on this network. */
export function provenIdentity(
  answer: Uint8Array,
  { network, peer }: { readonly network: string; readonly peer: string },
): PeerIdentity | null {
  const proof = decode(answer)
  if (proof === null || proof.network !== network) return null
  const { role, signatureType, signatureIdentity: identity, signatureValue } = proof
  const digest = identityDigest({ network, role, peerId: peer })
  return isValidSignature(signatureType, identity, digest, signatureValue)
    ? { role, identity }
    : null
}

function decode(answer: Uint8Array): ReturnType<typeof decodeIdentityProof> | null {
  try {
    return decodeIdentityProof(answer)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
