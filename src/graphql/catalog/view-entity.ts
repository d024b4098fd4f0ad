/** A View as a collection like the others: its rows follow from blocks, as documents do. */
import type { FieldNode } from 'graphql'
import { rowID } from '../../views/row-id.ts'
import type { RowScalar, RowType } from '../../views/row-type.ts'
import type { ViewQuery } from '../../views/view-query.ts'
import { attestationsOf } from '../rows/block-seals.ts'
import { putViewValue, type ViewRows, viewRowCount, viewValue } from '../rows/view-rows.ts'
import type { Attribute, AttributeKind, Entity } from './entity.ts'

/** A View that is served. */
export interface ServedView {
  /** The long ID: 0x and 64 lower-case digits. */
  readonly id: string
  /** Its name in GraphQL, which no other collection has. */
  readonly name: string
  readonly slot: number
  readonly rowType: Pick<RowType, 'description' | 'fields' | 'materialized'>
  readonly query: ViewQuery
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
export function viewEntity(view: ServedView, selection: FieldNode): Entity {
  const { id, name, slot, rowType } = view
  const indexed = rowType.fields.flatMap((field, index): [string, number][] =>
    field.index ? [[field.name, index]] : [],
  )
  const { materialized } = rowType
  const source = { id, name, slot, indexed: new Map(indexed), selection, materialized }
  const attributes = [
    docID(source),
    ...rowType.fields.map((field, index) => toAttribute(source, field, index)),
    blockNumber,
    attestations,
  ]
  return {
    name,
    typeName: name,
    description: rowType.description.trim() || `Rows of the View ${id}.`,
    section: null,
    view: source,
    attributes: new Map(attributes.map((attribute) => [attribute.name, attribute])),
    links: new Map(),
    rowsIn: (block) => viewRowCount(block, source),
  }
}

function toAttribute(rows: ViewRows, field: RowType['fields'][number], index: number): Attribute {
  const { name, scalar, list, description } = field
  return {
    name,
    kind: kinds[scalar],
    list,
    description: description.trim() || `The field ${name} of the View.`,
    read: (row) => viewValue(row, rows, index),
    write: (out, row) => putViewValue(out, row, rows, index),
  }
}

function docID({ id }: { readonly id: string }): Attribute {
  return {
    name: '_docID',
    kind: 'id',
    list: false,
    description: 'Identity of the row, the same on every Host.',
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
