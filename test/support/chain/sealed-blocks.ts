/** Seals generated blocks the way a Generator does, so that tests can play one or several of them. */
import { createSigner, type DigestSigner } from '../../../src/identity/signature.ts'
import { encodeBody } from '../../../src/primitives/body/body.ts'
import { type BlockDocuments, toDocuments } from '../../../src/primitives/documents.ts'
import { type Seal, sealDigest, sealRoot } from '../../../src/primitives/seal.ts'
import { encodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import type { SignatureType } from '../../../src/primitives/signature.ts'
import { createSeededRandom } from '../seeded-random.ts'
import type { ChainBlock } from './block-factory.ts'

/** A block as it travels, and what it was made from. */
export interface TestSealedBlock {
  readonly number: number
  readonly hash: string
  readonly source: ChainBlock
  readonly documents: BlockDocuments
  readonly body: Uint8Array
  readonly cids: readonly Uint8Array[]
  readonly seal: Seal
  /** The message with seal and body. */
  readonly bytes: Uint8Array
}

export const testNetwork = 'Ethereum__Mainnet'

/** A signer that is the same for the same name. */
export function testSigner(name: string, type: SignatureType = 'ES256K'): DigestSigner {
  return createSigner({ type, privateKey: createSeededRandom(`signer:${name}`).bytes(32) })
}

/** Seals one block. */
export function sealBlock(
  source: ChainBlock,
  signer: DigestSigner,
  network: string = testNetwork,
): TestSealedBlock {
  const documents = toDocuments(network, source.block, source.receipts)
  const { body, cids } = encodeBody(documents)
  const seal = signSeal({ network, number: source.number, hash: source.hash, cids }, signer)
  const bytes = new Uint8Array(encodeSealedBlock([seal], body))
  return { number: source.number, hash: source.hash, source, documents, body, cids, seal, bytes }
}

/** A validly signed seal over these CIDs, whatever they are. */
export function signSeal(
  block: { network: string; number: number; hash: string; cids: readonly Uint8Array[] },
  signer: DigestSigner,
): Seal {
  const { root, count } = sealRoot(block.cids)
  const statement = {
    network: block.network,
    blockNumber: block.number,
    blockHash: block.hash,
    merkleRoot: root,
    cidCount: count,
  }
  return {
    ...statement,
    signatureType: signer.type,
    signatureIdentity: signer.identity,
    signatureValue: signer.sign(sealDigest(statement)),
    createdAt: '2026-01-01T00:00:00Z',
  }
}
