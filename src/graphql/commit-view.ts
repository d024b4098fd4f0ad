/**
 * `_version` and `_proof`: a document's CID, the bytes it hashes, the signature over it and the path
 * from it to the signed root.
 */
import { invariant } from '../errors.ts'
import { documentCid } from '../primitives/cid.ts'
import { cidText } from '../primitives/cid-text.ts'
import { blockSections, type Section, type Value } from '../primitives/collections.ts'
import { inclusionProof } from '../primitives/merkle.ts'
import { canonicalBytes } from '../primitives/values.ts'
import { cidsOf } from './block-cids.ts'
import { sealsOf } from './block-seals.ts'
import { rowDocID } from './catalog.ts'
import type { CommitField, NamedField } from './plan.ts'
import type { Row } from './row.ts'
import { bytesOf } from './stored-value.ts'

/** Part of an answer. */
export type Json = Value | readonly Json[] | { readonly [key: string]: Json }

/** The form of the bytes that CIDs hash; the same number stands first in them. */
const documentForm = 'viewmesh/document/1'

/** The one version of a document. */
export function versionOf(
  row: Row,
  section: Section,
  fields: readonly CommitField[],
): readonly Json[] {
  const { network } = row.block.session
  const docID = rowDocID(row, section)
  const bytes = bytesOf(row, section)
  const values: Readonly<Record<string, () => Json>> = {
    __typename: () => 'Commit',
    cid: () => cidText(documentCid(network, section, docID, bytes)),
    docID: () => docID,
    height: () => 1,
    fieldName: () => '_C',
    collectionVersionId: () => documentForm,
    schemaVersionId: () => documentForm,
    delta: () => Buffer.from(canonicalBytes(network, section, docID, bytes)).toString('base64'),
    links: () => [],
    heads: () => [],
  }
  const version: Record<string, Json> = {}
  for (const { key, name, fields: below } of fields) {
    version[key] = name === 'signature' ? signatureOf(row, below) : (values[name]?.() ?? null)
  }
  return [version]
}

/** The first signature over exactly the stored documents; null before the block is sealed. */
function signatureOf(row: Row, fields: readonly NamedField[]): Json {
  const seal = sealsOf(row.block).find((one) => one.merkleRoot === row.block.header.root)
  if (seal === undefined) return null
  return pick(fields, {
    __typename: 'Signature',
    type: seal.signatureType,
    identity: seal.signatureIdentity,
    value: seal.signatureValue,
  })
}

/** The path from a document's CID to the block's root. */
export function proofOf(row: Row, section: Section, fields: readonly NamedField[]): Json {
  const { header } = row.block
  const { inOrder, sorted, root } = cidsOf(row.block)
  const cid = inOrder[positionInBlock(row, section)]
  invariant(cid !== undefined, `block ${row.block.height} has the CID of each document`)
  const index = sorted.findIndex((one) => Buffer.compare(one, cid) === 0)
  const isAsked = fields.some(({ name }) => name === 'path')
  if (isAsked) row.block.session.work.look(header.count)
  const path = isAsked ? inclusionProof(sorted, index) : []
  return pick(fields, {
    __typename: 'InclusionProof',
    cid: cidText(cid),
    index,
    count: sorted.length,
    root,
    path: path.map((hash) => Buffer.from(hash).toString('hex')),
  })
}

function positionInBlock(row: Row, section: Section): number {
  let before = 0
  for (const one of blockSections) {
    if (one === section) break
    before += row.block.header.sections[one]
  }
  return before + row.position
}

function pick(fields: readonly NamedField[], values: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(fields.map(({ key, name }) => [key, values[name] ?? null]))
}
