/** Signs the root over a block's documents; the same block is never signed twice. */
import type { DigestSigner } from '../../identity/signature.ts'
import { type Seal, sealDigest } from '../../primitives/seal.ts'
import type { BlockHeader } from '../../store/store.ts'

interface SealerParts {
  readonly signer: DigestSigner
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

/**
 * A function that seals blocks of `network`. Where `known` holds this identity's seal of the same
 * block and root, as after an abandoned branch came back, it returns that seal.
 */
export function createSealer(
  network: string,
  { signer, nowMs }: SealerParts,
): (header: BlockHeader, known: readonly Seal[]) => Seal {
  return (header, known) => {
    const { number: blockNumber, hash: blockHash, root: merkleRoot, count: cidCount } = header
    const old = known.find(
      (seal) =>
        seal.signatureIdentity === signer.identity &&
        seal.blockHash === blockHash &&
        seal.merkleRoot === merkleRoot,
    )
    if (old !== undefined) return old
    const statement = { network, blockNumber, blockHash, merkleRoot, cidCount }
    return {
      ...statement,
      signatureType: signer.type,
      signatureIdentity: signer.identity,
      signatureValue: signer.sign(sealDigest(statement)),
      createdAt: wholeSeconds(nowMs()),
    }
  }
}

/** RFC 3339 in UTC without a fraction, as in `2026-05-11T10:59:54Z`. */
function wholeSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
