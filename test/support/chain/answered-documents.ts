/** Documents as a Host answers them, with their proofs, made from blocks without a Host. */
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { encodeBody } from '../../../src/primitives/body/body.ts'
import { cidText } from '../../../src/primitives/cid-text.ts'
import { blockSections, storedFields } from '../../../src/primitives/collections.ts'
import type { BlockDocuments, Document } from '../../../src/primitives/documents.ts'
import { inclusionPath, merkleTree } from '../../../src/primitives/merkle.ts'
import { sealRoot } from '../../../src/primitives/seal.ts'
import type { Verdict } from '../../../src/verify/verify.ts'
import { createChain } from './block-factory.ts'
import { sealBlock, signSeal, testSigner } from './sealed-blocks.ts'

/** An answered `_proof`; tests change what they like. */
interface AnsweredProof {
  network: string
  cid: string
  index: number
  count: number
  path: string[]
  root: string
  block: { number: number; hash: string }
  seals: { type: string; identity: string; value: string }[]
}

/** An answered document. */
export interface Answered {
  [field: string]: unknown
  _docID: string
  _proof: AnsweredProof
}

/** A block by what its documents and seals are made of. */
interface SealableBlock {
  readonly network: string
  readonly number: number
  readonly hash: string
  readonly documents: readonly Document[]
  /** In the order of the documents. */
  readonly cids: readonly Uint8Array[]
}

/** A block whose documents were just built. */
export function sealableBlock(made: BlockDocuments): SealableBlock {
  const { network, number, hash } = made
  const documents = blockSections.flatMap((section): readonly Document[] => made.documents[section])
  return { network, number, hash, documents, cids: encodeBody(made).cids }
}

/** Every document with all its fields, sealed by these signers. */
export function answeredDocuments(
  block: SealableBlock,
  signers: readonly DigestSigner[],
): Answered[] {
  const { network, number, hash, documents, cids } = block
  const { root, count, sorted } = sealRoot(cids)
  const tree = merkleTree(sorted)
  const seals = signers.map((signer) => {
    const seal = signSeal(block, signer)
    return { type: seal.signatureType, identity: signer.identity, value: seal.signatureValue }
  })
  return documents.map(({ collection, docID, values }, position) => {
    const cid = cids[position] ?? new Uint8Array()
    const index = sorted.indexOf(cid)
    const path = inclusionPath(tree, index).map((node) => Buffer.from(node).toString('hex'))
    const proof = { network, cid: cidText(cid), index, count, path, root }
    const fields = storedFields(collection).map(({ name }, at) => [name, values[at]])
    return {
      ...Object.fromEntries(fields),
      _docID: docID,
      _proof: { ...proof, block: { number, hash }, seals: structuredClone(seals) },
    }
  })
}

export const alice: DigestSigner = testSigner('alice')
export const bob: DigestSigner = testSigner('bob', 'Ed25519')
export const carol: DigestSigner = testSigner('carol')

/** What a verdict says of a document, or why it says nothing. */
export function outcomeOf(verdict: Verdict): string {
  return verdict.proves === 'nothing' ? verdict.failure.code : verdict.proves
}

/** A document of a small block whose `_docID` begins so, sealed by Alice and Bob unless others are named. */
export function documentOf(
  prefix: string,
  signers: readonly DigestSigner[] = [alice, bob],
): Answered {
  const [source] = createChain({ count: 1, from: 7 })
  if (source === undefined) throw new Error('a chain has blocks')
  const documents = answeredDocuments(sealableBlock(sealBlock(source, alice).documents), signers)
  const found = documents.find(({ _docID }) => _docID.startsWith(prefix))
  if (found === undefined) throw new Error(`the block has no document ${prefix}`)
  return found
}
