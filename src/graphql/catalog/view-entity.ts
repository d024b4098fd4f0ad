/** A View as a collection like the others: its rows follow from blocks, as documents do. */
import type { FieldNode } from 'graphql'
import type { ByteWriter } from '../../primitives/cbor.ts'
import { rowID } from '../../views/rows/row-id.ts'
import type { RowScalar, RowType } from '../../views/rows/row-type.ts'
import type { ViewQuery } from '../../views/view-query.ts'
import { attestationsOf } from '../rows/block-seals.ts'
import type { Row } from '../rows/row.ts'
import { hostsOf } from '../rows/row-votes.ts'
import {
  putViewValue,
  type ViewRows,
  viewRowCount,
  viewTextTest,
  viewValue,
} from '../rows/view-rows.ts'
import {
  type OpenViewStream,
  putStreamedValue,
  streamedAttestations,
  streamedHeight,
  streamedValue,
} from '../rows/view-stream.ts'
import type { Attribute, AttributeKind, Entity } from './entity.ts'

/** A View that is served. */
export interface ServedView {
  /** The long ID: 0x and 64 lower-case digits. */
  readonly id: string
  /** The ID of the registry chain; left out where only the long one is known. */
  readonly address?: string
  /** Its name in GraphQL, which no other collection has. */
  readonly name: string
  readonly slot: number
  /** The same object for as long as the View is the same: queries of it stay compiled. */
  readonly rowType: Pick<RowType, 'description' | 'fields'>
  /** What it reads; null where only its rows are known, whose `_source` is then null. */
  readonly query: ViewQuery | null
  /** Computes its rows for a request; left out where they are stored. */
  readonly stream?: OpenViewStream
}

const kinds: Readonly<Record<RowScalar, AttributeKind>> = {
  String: 'string',
  ID: 'name',
  Int: 'int',
  Float: 'float',
  Boolean: 'boolean',
  BigInt: 'bigint',
  JSON: 'json',
}

/** The entity of a View; `selection` is what its query selects, in plain GraphQL. */
export function viewEntity(view: ServedView, selection: FieldNode | null): Entity {
  const { id, address, name, slot, rowType, stream = null } = view
  const indexed = rowType.fields.flatMap((field, index): [string, number][] =>
    field.index ? [[field.name, index]] : [],
  )
  const fields = rowType.fields.length
  const ids = address === undefined ? id : `${id} (${address})`
  const source = { id, name, slot, indexed: new Map(indexed), selection, stream, fields }
  const attributes = stream === null ? storedAttributes(view, source) : streamed(rowType)
  return {
    name,
    typeName: name,
    description: rowType.description.trim() || `Rows of the View ${ids}.`,
    section: null,
    view: source,
    attributes: new Map(attributes.map((attribute) => [attribute.name, attribute])),
    links: new Map(),
    rowsIn: (block) => (stream === null ? viewRowCount(block, source) : 0),
  }
}

type Field = RowType['fields'][number]

function storedAttributes(
  view: ServedView,
  rows: ViewRows & { readonly id: string },
): readonly Attribute[] {
  const own = view.rowType.fields.map((field, index) => ({
    ...ofField(field),
    read: (row: Row) => viewValue(row, rows, index),
    ...(isText(field) ? { equals: (text: string) => viewTextTest(rows, index, text) } : {}),
    write: (out: ByteWriter, row: Row) => putViewValue(out, row, rows, index),
  }))
  return [docID(view), ...own, blockNumber, attestations, hosts(rows)]
}

/** Nothing of them is the same for all rows of a block, or runs along the chain: the end of a stream is in no block. */
function streamed({ fields }: ServedView['rowType']): readonly Attribute[] {
  const own = fields.map((field, index) => ({
    ...ofField(field),
    read: (row: Row) => streamedValue(row, index),
    write: (out: ByteWriter, row: Row) => putStreamedValue(out, row, index),
  }))
  return [streamedDocID, ...own, streamedBlockNumber, streamedVotes, streamedHosts]
}

const isText = ({ scalar, list }: Field): boolean =>
  !list && (scalar === 'String' || scalar === 'ID')

const ofField = ({ name, scalar, list, description }: Field) => ({
  name,
  kind: kinds[scalar],
  list,
  description: description.trim() || `The field ${name} of the View.`,
})

function docID({ id, address }: Pick<ServedView, 'id' | 'address'>): Attribute {
  const start = `row-${(address ?? id).toLowerCase()}-`
  return {
    name: '_docID',
    kind: 'id',
    list: false,
    description: 'Identity of the row, the same on every Host.',
    spelled: (text) => (text.startsWith(start) ? `row-${id}-${text.slice(start.length)}` : text),
    read: ({ block, position }) => rowID({ view: id, blockHash: block.header.hash, position }),
  }
}

const blockNumber: Attribute = {
  name: '_blockNumber',
  kind: 'int',
  list: false,
  description: 'Height of the block that the row was made of.',
  course: 'height',
  ofBlock: true,
  read: ({ block }) => block.height,
}

const attestations: Attribute = {
  name: '_attestations',
  kind: 'int',
  list: false,
  description: 'How many distinct Generators vouch for exactly the block that the row was made of.',
  ofBlock: true,
  read: ({ block }) => attestationsOf(block),
}

function hosts(rows: ViewRows & { readonly id: string }): Attribute {
  return {
    name: '_hosts',
    kind: 'int',
    list: false,
    description:
      'How many distinct Hosts signed exactly the rows that the View has of this block: this one and those that it accepts.',
    ofBlock: true,
    read: ({ block }) => hostsOf(block, rows),
  }
}

const streamedDocID: Attribute = {
  name: '_docID',
  kind: 'id',
  list: false,
  description: 'Null: rows that are computed for a query have no identity.',
  read: () => null,
}

const streamedBlockNumber: Attribute = {
  name: '_blockNumber',
  kind: 'int',
  list: false,
  description:
    'Height of the block that the row was made of; null for rows made of everything that was selected.',
  read: streamedHeight,
}

const streamedVotes: Attribute = {
  name: '_attestations',
  kind: 'int',
  list: false,
  description:
    'How many distinct Generators vouch for exactly the block that the row was made of; null where `_blockNumber` is.',
  read: streamedAttestations,
}

const streamedHosts: Attribute = {
  name: '_hosts',
  kind: 'int',
  list: false,
  description: 'Null: nobody signs rows that are computed for a query.',
  read: () => null,
}
