/**
 * AttestationRecord: for each block and each Merkle root that was signed, its signers. Derived from the
 * stored seals, so that it cannot disagree with them; nothing of it is stored.
 */
import { invariant } from '../../errors.ts'
import { cidText } from '../../primitives/cid-text.ts'
import { typeName } from '../../primitives/names.ts'
import { cidsOf } from '../rows/block-cids.ts'
import { votesOf } from '../rows/block-seals.ts'
import type { Votes } from '../rows/block-view.ts'
import type { Row } from '../rows/row.ts'
import type { Attribute, AttributeKind, Entity } from './entity.ts'

const docIDPrefix = 'attestation-'
const attestedShape = /^block:(0|[1-9][0-9]{0,15}):([0-9a-f]{64})$/
const prefixShape = /^block:(0|[1-9][0-9]{0,15}):/

/** The text that names a block and a root: `block:<number>:<root>`. */
export function attestedDoc(height: number, root: string): string {
  return `block:${height}:${root}`
}

/** The height a text names, or the pattern `block:<number>:%`; null for any other. */
function attestedHeight(text: string): number | null {
  const match = prefixShape.exec(text)
  return match === null ? null : Number(match[1])
}

/** The height in a record's `_docID`; null when it is not one. */
function attestationHeight(docID: string): number | null {
  if (!docID.startsWith(docIDPrefix)) return null
  const match = attestedShape.exec(docID.slice(docIDPrefix.length))
  return match === null ? null : Number(match[1])
}

function votesAt(row: Row): Votes {
  const votes = votesOf(row.block)[row.position]
  invariant(votes !== undefined, `block ${row.block.height} has a root ${row.position}`)
  return votes
}

/** CIDs are known for the stored documents only, not for a root over other documents. */
function attestedCids(row: Row): readonly string[] {
  const { header } = row.block
  const { blockHash, root } = votesAt(row)
  if (blockHash !== header.hash || root !== header.root) return []
  return cidsOf(row.block).sorted.map(cidText)
}

const attested = (row: Row): string => attestedDoc(row.block.height, votesAt(row).root)
const voteCount = (row: Row): number => votesAt(row).identities.length

type Column = readonly [
  name: string,
  kind: AttributeKind,
  list: boolean,
  description: string,
  read: Attribute['read'],
]

const columns: readonly Column[] = [
  ['_docID', 'id', false, 'Identity of the record.', (row) => docIDPrefix + attested(row)],
  [
    'attested_doc',
    'text',
    false,
    '`block:<number>:<Merkle root>`. Filters also take the `_docID` of any document of the block.',
    attested,
  ],
  [
    'source_doc',
    'text',
    true,
    'Public keys of the Generators that signed this root, in hex.',
    (row) => votesAt(row).identities,
  ],
  ['CIDs', 'text', true, 'CIDs of the documents under the root, in byte order.', attestedCids],
  ['doc_type', 'text', false, 'What is attested: `Block`.', () => 'Block'],
  ['vote_count', 'int', false, 'How many distinct Generators signed this root.', voteCount],
  ['_attestations', 'int', false, 'The same as `vote_count`.', voteCount],
]

const heightOf: Readonly<Record<string, Pick<Attribute, 'heightOf'>>> = {
  _docID: { heightOf: attestationHeight },
  attested_doc: { heightOf: attestedHeight },
}

/** The entity; one row for each root signed at a height, the stored one first. */
export function attestationRecord(network: string): Entity {
  const attributes = columns.map(([name, kind, list, description, read]): [string, Attribute] => [
    name,
    { name, kind, list, description, read, ...heightOf[name] },
  ])
  return {
    name: 'AttestationRecord',
    typeName: typeName(network, 'AttestationRecord'),
    description: 'How many Generators signed identical data for a block.',
    section: null,
    attributes: new Map(attributes),
    links: new Map(),
    rowsIn: (block) => votesOf(block).length,
  }
}
