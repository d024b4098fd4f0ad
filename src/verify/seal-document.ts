/** A seal as a document: it is in no tree, and its own signature proves what it says. */
import type { DocID } from '../primitives/doc-id.ts'
import { typeName } from '../primitives/names.ts'
import type { ParsedAcceptance } from './acceptance.ts'
import type { AnsweredDocument } from './answered-document.ts'
import { type Failure, failure, isFailure } from './failure.ts'
import type { Proof, SealSignature } from './proof.ts'
import { findSigners } from './signers.ts'

/** A seal whose signature fits. */
interface CheckedSeal {
  /** Its signer, alone. */
  readonly signers: readonly string[]
  /** Names in the answer that the signature covers. */
  readonly fields: readonly string[]
}

/** Whether an accepted identity signed this seal; the minimum counts for blocks, not for a single seal. */
export function checkSeal(
  document: AnsweredDocument,
  { blockHash, identity }: Extract<DocID, { collection: 'BlockSignature' }>,
  proof: Proof,
  accepted: ParsedAcceptance,
): CheckedSeal | Failure {
  const seal = proof.seals.find((one) => one.identity === identity)
  if (seal === undefined || blockHash !== proof.block.hash) return differs('_docID')
  const found = findSigners({ ...proof, seals: [seal] }, { ...accepted, minimum: 1 })
  if (isFailure(found)) return found
  const signed = signedFields(proof, seal)
  const fields = Object.keys(document).filter((name) => Object.hasOwn(signed, name))
  const wrong = fields.find((name) => document[name] !== signed[name])
  return wrong === undefined ? { signers: found, fields } : differs(wrong)
}

function signedFields(
  { network, block, root, count }: Proof,
  { type, identity, value }: SealSignature,
): AnsweredDocument {
  return {
    __typename: typeName(network, 'BlockSignature'),
    blockNumber: block.number,
    blockHash: block.hash,
    merkleRoot: root,
    signatureType: type,
    signatureIdentity: identity,
    signatureValue: value,
    cidCount: count,
  }
}

function differs(name: string): Failure {
  return failure('seal-differs', `BlockSignature.${name} differs from what was signed.`)
}
