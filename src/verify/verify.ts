/**
 * Start here for proofs: checks a Host's answers against the identities of Generators, without
 * trusting the Host. Exported as `viewmesh/verify`; runs wherever JavaScript does, without a store, a
 * network or anything of Node.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import { isObject } from '../json-object.ts'
import type { CollectionName } from '../primitives/collections.ts'
import { type DocID, parseDocID } from '../primitives/doc-id.ts'
import { type Acceptance, type ParsedAcceptance, parseAcceptance } from './acceptance.ts'
import type { AnsweredDocument } from './answered-document.ts'
import { coveredNames, missingFields, uncoveredNames } from './answered-fields.ts'
import { answeredBytes } from './canonical-bytes.ts'
import { type Failure, failure, isFailure } from './failure.ts'
import { type AnswerPath, findDocuments } from './find-documents.ts'
import { isEqual, verifyInclusion } from './inclusion.ts'
import { type Leaf, type Proof, type ProvenBlock, readProof } from './proof.ts'
import { checkSeal } from './seal-document.ts'
import { findSigners } from './signers.ts'

export type { Acceptance } from './acceptance.ts'

/** What stands before the digest in a CID. */
const prefixBytes = 4

/** What a proof shows of one document. */
export type Verdict = DocumentProven | CidProven | NothingProven

/** What accepted identities signed. */
export interface Sealed {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly block: ProvenBlock
  /** The accepted identities that signed, each once. */
  readonly signers: readonly string[]
}

/** The document is in the block, with exactly these fields. */
export interface DocumentProven extends Sealed {
  readonly proves: 'document'
  readonly docID: string
  readonly collection: CollectionName
  /** Null for a seal, which is signed itself. */
  readonly cid: string | null
  /** Names in the answer whose values are proven. */
  readonly fields: readonly string[]
  /** Names in the answer whose values nothing proves: aliases, votes, what no signature covers. */
  readonly unproven: readonly string[]
}

/** A document with this CID is in the block; whether it is this one cannot be known without its other fields. */
export interface CidProven extends Sealed {
  readonly proves: 'cid'
  readonly cid: string
  /** What the query has to ask for as well, under these very names. */
  readonly missing: readonly string[]
  /** Names in the answer whose values nothing proves. */
  readonly unproven: readonly string[]
}

/** Nothing in the answer may be believed. */
export interface NothingProven {
  readonly proves: 'nothing'
  readonly failure: Failure
}

/** A document of an answer with what its proof shows. */
export interface AnsweredVerdict {
  /** From the top of the answer, as in `['data', 'Block', 0]`. */
  readonly path: AnswerPath
  readonly verdict: Verdict
}

/**
 * Checks one document as a Host returns it: all fields of its collection under their own names, with
 * `_docID` and `_proof`. Never throws for anything in the document.
 * @throws ServiceError `VERIFY_ACCEPTANCE_INVALID` where `acceptance` cannot be met by any document.
 */
export function verifyDocument(document: unknown, acceptance: Acceptance): Verdict {
  return verdictOf(document, parseAcceptance(acceptance))
}

/**
 * Checks every object with a `_proof` in an answer or in a part of one, the outer ones first. None is
 * an empty list. Never throws for anything in the answer.
 * @throws ServiceError `VERIFY_ACCEPTANCE_INVALID` where `acceptance` cannot be met by any document.
 */
export function verifyAnswer(answer: unknown, acceptance: Acceptance): readonly AnsweredVerdict[] {
  const accepted = parseAcceptance(acceptance)
  return findDocuments(answer).map(({ path, document }) => ({
    path,
    verdict: document === null ? nothing(failure('too-deep')) : verdictOf(document, accepted),
  }))
}

function verdictOf(document: unknown, accepted: ParsedAcceptance): Verdict {
  if (!isObject(document)) return nothing(failure('proof-missing'))
  const proof = readProof(document['_proof'])
  if (isFailure(proof)) return nothing(proof)
  const { _docID: text } = document
  const docID = typeof text === 'string' ? parseDocID(text) : null
  if (docID === null && text !== undefined) return nothing(failure('docid-malformed'))
  if (docID?.collection === 'SnapshotSignature') return nothing(failure('snapshot-unproven'))
  if (docID?.collection === 'BlockSignature') return sealVerdict(document, docID, proof, accepted)
  if (proof.leaf === null) return nothing(failure('leaf-missing'))
  const signed = checkSealedLeaf(proof, proof.leaf, accepted)
  return isFailure(signed) ? nothing(signed) : contentVerdict(document, docID, proof.leaf, signed)
}

function nothing(reason: Failure): NothingProven {
  return { proves: 'nothing', failure: reason }
}

/** Whether the leaf is under the root and accepted identities signed that root. */
function checkSealedLeaf(proof: Proof, leaf: Leaf, accepted: ParsedAcceptance): Sealed | Failure {
  const { network, block, count, root } = proof
  const isIncluded = verifyInclusion(leaf.cid, leaf.index, count, leaf.path, hexToBytes(root))
  const found = findSigners(proof, accepted)
  if (!isFailure(found)) {
    return isIncluded ? { network, block, signers: found } : failure('path-wrong')
  }
  return found.code === 'signature-wrong' && !isIncluded ? failure('root-wrong') : found
}

function sealVerdict(
  document: AnsweredDocument,
  docID: Extract<DocID, { collection: 'BlockSignature' }>,
  proof: Proof,
  accepted: ParsedAcceptance,
): Verdict {
  const checked = checkSeal(document, docID, proof, accepted)
  if (isFailure(checked)) return nothing(checked)
  const { network, block } = proof
  const { signers, fields } = checked
  return {
    proves: 'document',
    ...{ network, block, signers },
    docID: String(document['_docID']),
    collection: docID.collection,
    cid: null,
    fields,
    unproven: uncoveredNames(document, fields),
  }
}

/** Whether the fields hash to the CID of the leaf. */
function contentVerdict(
  document: AnsweredDocument,
  docID: DocID | null,
  { cid, text }: Leaf,
  sealed: Sealed,
): Verdict {
  const missing = docID === null ? ['_docID'] : missingFields(docID.collection, document)
  if (docID === null || missing.length > 0) {
    const unproven = uncoveredNames(document, [])
    return { proves: 'cid', ...sealed, cid: text, missing, unproven }
  }
  const { collection } = docID
  const id = String(document['_docID'])
  const canonical = answeredBytes(sealed.network, collection, id, document)
  if ('malformed' in canonical) {
    const name = `${collection}.${canonical.malformed}`
    return nothing(
      failure('value-malformed', `${name} is not in the form in which a Host answers it.`),
    )
  }
  if (!isEqual(sha256(canonical.bytes), cid.subarray(prefixBytes)))
    return nothing(failure('cid-wrong'))
  const fields = coveredNames(sealed.network, docID, document)
  const unproven = uncoveredNames(document, fields)
  return { proves: 'document', ...sealed, docID: id, collection, cid: text, fields, unproven }
}
