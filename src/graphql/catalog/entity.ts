/**
 * What can be queried, as the rest of this room sees it: entities with attributes (one value each)
 * and links (other rows of the same block). Derived from the collection table; fields that no
 * document stores (ids, votes, a seal's CIDs) are added here, so that filters, orders, groups and
 * aggregates treat all of them alike.
 */
import type { FieldNode } from 'graphql'
import type { ByteWriter } from '../../primitives/cbor.ts'
import type { CollectionName, FieldKind, Section } from '../../primitives/collections.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { BlockView } from '../rows/block-view.ts'
import type { Row } from '../rows/row.ts'
import type { ViewRows } from '../rows/view-rows.ts'
import type { OpenViewStream } from '../rows/view-stream.ts'

/** The entities that do not depend on which Views there are. */
export type EntityName = CollectionName | 'AttestationRecord'

/**
 * Kinds that only fields of Views have: text, of which 0x hex is compared without regard to case (`name` is shown
 * as an ID), numbers of 64 bits, whole numbers of any size as decimal text, and whatever JSON can say.
 */
type RowKind = 'string' | 'name' | 'float' | 'bigint' | 'json'

/** A field's kind, or `id` for docIDs. */
export type AttributeKind = FieldKind | RowKind | 'id'

/**
 * How an attribute runs along the chain: `height` is the block's height; `place` never falls from
 * one position to the next within a block; `exact-place` always rises.
 */
export type Course = 'height' | 'place' | 'exact-place'

/** One value of a row. */
export interface Attribute {
  readonly name: string
  readonly kind: AttributeKind
  readonly list: boolean
  readonly description: string
  /** Its other spelling. */
  readonly alias?: string
  readonly course?: Course
  /** The same for all rows of a block, and known without reading one. */
  readonly ofBlock?: true
  /** The height that a value, or a pattern, of the attribute names; null where it names none. */
  readonly heightOf?: (text: string) => number | null
  /** What a filter names in lower case, as values are written. */
  readonly spelled?: (text: string) => string
  read(row: Row): JsonValue
  /**
   * A test for a text, which differs from the value in the case of hex digits only; set where that is cheaper than to read
   * the value.
   */
  readonly equals?: (text: string) => (row: Row) => boolean
  /** Writes the value as JSON text; set where that is cheaper than to read it. */
  readonly write?: (out: ByteWriter, row: Row) => void
}

/** Rows of the same block that belong to a row. */
export interface RowLink {
  readonly field: string
  readonly description: string
  readonly target: string
  readonly many: boolean
  /** First and end position among the target's rows; a single link spans one. */
  span(row: Row): readonly [start: number, end: number]
}

/** One kind of row. */
export interface Entity {
  readonly name: string
  /** The GraphQL type: with the network's prefix, but for a View the same as its name. */
  readonly typeName: string
  readonly description: string
  /** Where its documents are stored; null for what is derived from seals. */
  readonly section: Section | null
  /** By name, in the order in which they are shown. */
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly links: ReadonlyMap<string, RowLink>
  rowsIn(block: BlockView): number
  /** Where its rows are, for a View. */
  readonly view?: ViewSource
  /** The View whose votes its rows are. */
  readonly votesOn?: ViewSource
  /** Set where no store keeps such documents yet: every list of them is empty. */
  readonly isEmpty?: true
}

/** Whether what is served of it comes and goes with a View. */
export const followsView = ({ view, votesOn }: Entity): boolean =>
  view !== undefined || votesOn !== undefined

/** What a View's rows are read with. */
export interface ViewSource extends ViewRows {
  /** 0x and 64 digits. */
  readonly id: string
  /** Positions of `@index` fields in the SDL, by name. */
  readonly indexed: ReadonlyMap<string, number>
  /** Computes its rows for a request; null where they are stored. */
  readonly stream: OpenViewStream | null
  /** How many fields the SDL has. */
  readonly fields: number
  /** What it reads: a field of Query in plain GraphQL; null where that is not known. */
  readonly selection: FieldNode | null
}

/** The entities that a program serves, by name. */
export type Catalog = ReadonlyMap<string, Entity>

/** The number kinds: what ranges compare as numbers and aggregates add up. */
export function isNumeric(kind: AttributeKind): boolean {
  return kind === 'int' || kind === 'quantity' || kind === 'float' || kind === 'bigint'
}

/** The attribute of a name in either spelling. */
export function findAttribute(entity: Entity, name: string): Attribute | undefined {
  const exact = entity.attributes.get(name)
  if (exact !== undefined) return exact
  for (const attribute of entity.attributes.values()) if (attribute.alias === name) return attribute
  return undefined
}
