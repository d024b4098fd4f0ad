/**
 * The catalog of entities: the six collections and, where asked for, attestation records.
 */
import { invariant } from '../../errors.ts'
import { cidText } from '../../primitives/cid-text.ts'
import {
  blockSections,
  type Collection,
  type CollectionName,
  collections,
  type Field,
  fieldIndex,
  type Relation,
  type Section,
} from '../../primitives/collections.ts'
import { docIDs } from '../../primitives/doc-id.ts'
import { typeName } from '../../primitives/names.ts'
import type { Seal } from '../../primitives/seal.ts'
import { cidsOf } from '../rows/block-cids.ts'
import { attestationsOf, sealsOf, votesOf } from '../rows/block-seals.ts'
import { type BlockView, storedBlock } from '../rows/block-view.ts'
import { sectionDocID, transactionHashAt } from '../rows/document-id.ts'
import type { Row } from '../rows/row.ts'
import { fieldReader, fieldWriter } from '../rows/stored-value.ts'
import { attestationRecord } from './attestation-record.ts'
import type { Attribute, Catalog, Course, Entity, EntityName, RowLink } from './entity.ts'
import { fieldDescription } from './field-descriptions.ts'

/** What a Host has of its chain beside Views. */
export const hostCollections: readonly EntityName[] = [
  ...Object.values(collections).map(({ name }) => name),
  'AttestationRecord',
]

/** The entities that a program serves: Hosts add attestation records. Links to what is not served are left out. */
export function createCatalog(network: string, names: readonly EntityName[]): Catalog {
  return new Map(names.map((name) => [name, createEntity(network, name, names)]))
}

function createEntity(network: string, name: EntityName, served: readonly EntityName[]): Entity {
  if (name === 'AttestationRecord') return attestationRecord(network)
  const collection = collections[name]
  const section = blockSections.find((one) => one === name) ?? null
  const relations = collection.relations.filter(({ target }) => served.includes(target))
  const links = section === null ? [] : relations.map((one) => toLink(section, one))
  const attributes = [
    docIDOf(collection.name, section),
    ...collection.fields.map((field) => toAttribute(collection, section, field)),
    ...links.filter((link) => !link.many).map((link) => linkID(collection, link)),
    ...attestations(collection.name, section),
  ]
  return {
    name,
    typeName: typeName(network, name),
    description: collection.description,
    section,
    attributes: new Map(attributes.map((attribute) => [attribute.name, attribute])),
    links: new Map(links.map((link) => [link.field, link])),
    rowsIn: (block) => countRows(name, section, block),
    ...(name === 'SnapshotSignature' ? { isEmpty: true as const } : {}),
  }
}

function countRows(name: CollectionName, section: Section | null, block: BlockView): number {
  if (section !== null) return block.header.sections[section]
  return name === 'BlockSignature' ? sealsOf(block).length : 0
}

// --- Attributes -----------------------------------------------------------------------------

function toAttribute(collection: Collection, section: Section | null, field: Field): Attribute {
  const course = courseOf(collection.name, field.name)
  const derived = derive(collection.name, field.name)
  return {
    name: field.name,
    kind: field.kind,
    list: field.list === true,
    description: fieldDescription(collection.name, field),
    ...(course === undefined ? {} : { course }),
    ...(derived?.ofBlock === true ? { ofBlock: true as const } : {}),
    ...(derived === undefined ? storedValue(collection, section, field) : { read: derived.read }),
  }
}

function storedValue(
  collection: Collection,
  section: Section | null,
  field: Field,
): Pick<Attribute, 'read' | 'write'> {
  if (section === null) return { read: () => null }
  const index = fieldIndex(collection.name, field.name)
  return { read: fieldReader(section, index), write: fieldWriter(section, index) }
}

/** Values that follow from a row's place, its block's header or its seal: nothing is unpacked for them. */
type Derived = Pick<Attribute, 'read' | 'ofBlock'>

const ofBlock = (read: Attribute['read']): Derived => ({ read, ofBlock: true })
const height = ofBlock((row) => row.block.height)
const blockHash = ofBlock((row) => row.block.header.hash)

const derivedValues: Readonly<Partial<Record<CollectionName, Readonly<Record<string, Derived>>>>> =
  {
    Block: {
      number: height,
      hash: blockHash,
      parentHash: ofBlock((row) => row.block.header.parentHash),
      timestamp: ofBlock((row) => `0x${row.block.header.timestamp.toString(16)}`),
      totalDifficulty: { read: (row) => storedBlock(row.block).totalDifficulty },
    },
    Transaction: {
      blockNumber: height,
      blockHash,
      transactionIndex: { read: (row) => row.position },
    },
    Log: { blockNumber: height, blockHash },
    AccessListEntry: { blockNumber: height },
    BlockSignature: {
      blockNumber: height,
      blockHash,
      merkleRoot: { read: (row) => sealAt(row).merkleRoot },
      signatureType: { read: (row) => sealAt(row).signatureType },
      signatureIdentity: { read: (row) => sealAt(row).signatureIdentity },
      signatureValue: { read: (row) => sealAt(row).signatureValue },
      createdAt: { read: (row) => sealAt(row).createdAt },
      cidCount: { read: (row) => sealAt(row).cidCount },
      cids: { read: (row) => sealedCids(row) },
    },
  }

function derive(collection: CollectionName, field: string): Derived | undefined {
  return derivedValues[collection]?.[field]
}

const courses: Readonly<Record<string, Course>> = {
  'Block.number': 'height',
  'Transaction.blockNumber': 'height',
  'Transaction.transactionIndex': 'exact-place',
  'Log.blockNumber': 'height',
  'Log.transactionIndex': 'place',
  'Log.logIndex': 'exact-place',
  'AccessListEntry.blockNumber': 'height',
  'BlockSignature.blockNumber': 'height',
}

function courseOf(collection: CollectionName, field: string): Course | undefined {
  return courses[`${collection}.${field}`]
}

// --- Seals ----------------------------------------------------------------------------------

/** The seal that a row of BlockSignature shows. */
export function sealAt(row: Row): Seal {
  const seal = sealsOf(row.block)[row.position]
  invariant(seal !== undefined, `block ${row.block.height} has a seal ${row.position}`)
  return seal
}

/** A seal over other documents than the stored ones does not say which CIDs it covers. */
function sealedCids(row: Row): readonly string[] {
  if (sealAt(row).merkleRoot !== row.block.header.root) return []
  return cidsOf(row.block).sorted.map(cidText)
}

// --- Ids and votes --------------------------------------------------------------------------

function docIDOf(name: CollectionName, section: Section | null): Attribute {
  return {
    name: '_docID',
    kind: 'id',
    list: false,
    description: 'Identity of the document, the same on every node.',
    read: section === null ? () => null : (row) => rowDocID(row, section),
    ...(name === 'BlockSignature' ? { read: sealDocID } : {}),
    ...(name === 'Block' ? { ofBlock: true as const } : {}),
  }
}

/** The docID of a row of a section. */
export function rowDocID(row: Row, section: Section): string {
  if (section === 'Block') return docIDs.block(row.block.header.hash)
  return sectionDocID(section, storedBlock(row.block), row.block.header, row.position)
}

/** The docID of a row of BlockSignature. */
function sealDocID(row: Row): string {
  return docIDs.seal(row.block.header.hash, sealAt(row).signatureIdentity)
}

function linkID(collection: Collection, link: RowLink): Attribute {
  return {
    name: `${link.field}_id`,
    alias: `_${link.field}ID`,
    kind: 'id',
    list: false,
    description: `The _docID of \`${link.field}\`.`,
    ...(link.target === 'Block' ? { ofBlock: true as const } : {}),
    read: readLinkID(collection.name, link),
  }
}

function readLinkID(from: CollectionName, link: RowLink): Attribute['read'] {
  if (link.target === 'Block') return (row) => docIDs.block(row.block.header.hash)
  if (from === 'Log') {
    const read = fieldReader('Log', fieldIndex('Log', 'transactionHash'))
    return (row) => docIDs.transaction(String(read(row)))
  }
  return (row) => docIDs.transaction(transactionHashAt(storedBlock(row.block), link.span(row)[0]))
}

function attestations(name: CollectionName, section: Section | null): readonly Attribute[] {
  if (section === null && name !== 'BlockSignature') return []
  const votes: Attribute = {
    name: '_attestations',
    kind: 'int',
    list: false,
    description: 'How many distinct Generators vouch for exactly these bytes.',
    read: (row) => attestationsOf(row.block),
  }
  return [section === null ? { ...votes, read: votesForSeal } : { ...votes, ofBlock: true }]
}

function votesForSeal(row: Row): number {
  const { merkleRoot, blockHash: sealed } = sealAt(row)
  const isSame = (vote: { blockHash: string; root: string }) =>
    vote.root === merkleRoot && vote.blockHash === sealed
  return votesOf(row.block).find(isSame)?.identities.length ?? 0
}

// --- Links ----------------------------------------------------------------------------------

const linkKinds: Readonly<Record<string, Pick<RowLink, 'span' | 'description'>>> = {
  'Block.transactions': {
    description: 'Transactions of the block, in its order.',
    span: (row) => [0, row.block.header.sections.Transaction],
  },
  'Transaction.block': { description: 'The block it is in.', span: () => [0, 1] },
  'Transaction.logs': {
    description: 'Logs that the transaction emitted, in the order of the block.',
    span: (row) => storedBlock(row.block).logsOf(row.position),
  },
  'Transaction.accessList': {
    description: 'Entries of its access list, in its order.',
    span: (row) => storedBlock(row.block).entriesOf(row.position),
  },
  'Log.block': { description: 'The block it is in.', span: () => [0, 1] },
  'Log.transaction': {
    description: 'The transaction that emitted it.',
    span: (row) => one(storedBlock(row.block).transactionOfLog(row.position)),
  },
  'AccessListEntry.transaction': {
    description: 'The transaction whose access list it is in.',
    span: (row) => one(storedBlock(row.block).transactionOfEntry(row.position)),
  },
}

const one = (position: number): readonly [number, number] => [position, position + 1]

function toLink(section: Section, relation: Relation): RowLink {
  const { field, target, many } = relation
  const kind = linkKinds[`${section}.${field}`]
  invariant(kind !== undefined, `the place of ${section}.${field} is known`)
  return { field, target, many, ...kind }
}
