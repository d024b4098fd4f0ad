/**
 * `_proof`: what proves to anybody that Generators signed a document. `src/verify` checks it.
 */
import { invariant } from '../../errors.ts'
import { cidText } from '../../primitives/cid-text.ts'
import { blockSections, type Section } from '../../primitives/collections.ts'
import { inclusionPath } from '../../primitives/merkle.ts'
import type { Signature } from '../../primitives/signature.ts'
import { sealAt } from '../catalog/catalog.ts'
import type { NamedField } from '../plan/plan.ts'
import { cidsOf, proofsOf } from '../rows/block-cids.ts'
import { storedSealsOf } from '../rows/block-seals.ts'
import type { Row } from '../rows/row.ts'
import { type FixedObject, type Json, pickFields } from './fixed-object.ts'

/** The path from the CID of a stored document to the root of its block, and the seals over that root. */
export function proofOf(row: Row, section: Section, fields: readonly NamedField[]): Json {
  const { block } = row
  const { inOrder, sorted, root } = cidsOf(block)
  const { tree, places } = proofsOf(block)
  const cid = inOrder[positionInBlock(row, section)]
  const index = cid === undefined ? undefined : places.get(cid)
  invariant(
    cid !== undefined && index !== undefined,
    `block ${block.height} has each CID in its tree`,
  )
  return pickFields(fields, {
    ...proofHead(row),
    cid: cidText(cid),
    index,
    count: sorted.length,
    path: () => inclusionPath(tree, index).map((hash) => Buffer.from(hash).toString('hex')),
    root,
    seals: () => storedSealsOf(block).map(signatureView),
  })
}

/** A seal shows itself: it is under no root, so it has no CID there, no place and no path. */
export function sealProofOf(row: Row, fields: readonly NamedField[]): Json {
  const seal = sealAt(row)
  return pickFields(fields, {
    ...proofHead(row),
    count: seal.cidCount,
    path: [],
    root: seal.merkleRoot,
    seals: [signatureView(seal)],
  })
}

function proofHead({ block }: Row): FixedObject {
  const { hash } = block.header
  return {
    __typename: 'InclusionProof',
    network: block.session.network,
    block: { __typename: 'ProvenBlock', number: block.height, hash },
  }
}

function positionInBlock({ block, position }: Row, section: Section): number {
  const before = blockSections.slice(0, blockSections.indexOf(section))
  return before.reduce((sum, one) => sum + block.header.sections[one], position)
}

/** A signature as answers show it. */
export function signatureView(signature: Signature): Readonly<Record<string, Json>> {
  const { signatureType: type, signatureIdentity: identity, signatureValue: value } = signature
  return { __typename: 'Signature', type, identity, value }
}
