/**
 * What the store's indexes know about a condition. A hint names every location that can match and
 * perhaps more; what no index covers is `all`.
 */
import type { Section } from '../../primitives/collections.ts'
import { parseDocID } from '../../primitives/doc-id.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import type { TermKind } from '../../primitives/index-terms.ts'
import { parseRowID } from '../../views/rows/row-id.ts'
import { rowTermValue } from '../../views/rows/rows.ts'
import type { Attribute, Entity, ViewSource } from '../catalog/entity.ts'
import type { FilterCondition, ValueCondition } from '../filter/condition.ts'
import type { Operand } from '../filter/value-test.ts'
import type { ViewRows } from '../rows/view-rows.ts'
import { heightsOf } from './height-condition.ts'

/** A value that only one block, transaction or log has; one lookup finds all its locations. */
export type UniqueHint =
  | { readonly type: 'block'; readonly hash: string }
  | { readonly type: 'log'; readonly hash: string; readonly logIndex: number }
  | { readonly type: 'unique'; readonly kind: TermKind; readonly value: Uint8Array }

/** Where matching rows can be. */
export type Hint =
  | UniqueHint
  | { readonly type: 'all' | 'none' }
  | { readonly type: 'heights'; readonly heights: HeightRanges }
  /** A value that many documents may have. */
  | { readonly type: 'term'; readonly kind: TermKind; readonly value: Uint8Array }
  /** A value of an `@index` field of a View, by the position of the field. */
  | {
      readonly type: 'rows'
      readonly rows: ViewRows
      readonly field: number
      readonly value: Uint8Array
    }
  | { readonly type: 'and' | 'or'; readonly parts: readonly Hint[] }
  /** Of rows in a section, of which those are wanted that are linked to them. */
  | { readonly type: 'linked'; readonly section: Section; readonly part: Hint }

const all: Hint = { type: 'all' }
const none: Hint = { type: 'none' }

/** The hint for a condition on rows of an entity; linked rows are in the same block. */
export function hintOf(entity: Entity, condition: FilterCondition): Hint {
  switch (condition.op) {
    case 'none':
      return none
    case 'and':
      return andHints(condition.parts.map((part) => hintOf(entity, part)))
    case 'or':
      return orHints(condition.parts.map((part) => hintOf(entity, part)))
    case 'link':
      return linkedHint(condition.target, hintOf(condition.target, condition.part))
    case 'value':
      return valueHint(entity, condition)
    case 'elements':
      return condition.quantifier === '_any'
        ? elementHint(entity, condition.attribute, condition.part)
        : all
    case 'list':
      return condition.isEqual ? listHint(entity, condition.attribute, condition.items) : all
    case 'cid':
      return { type: 'unique', kind: 'cid', value: condition.cid }
    default:
      return all
  }
}

/** Linked rows are in the same block, but not at the same position. */
function linkedHint({ section }: Entity, part: Hint): Hint {
  if (section === null || part.type === 'all' || part.type === 'none') return part
  return part.type === 'heights' ? part : { type: 'linked', section, part }
}

function andHints(hints: readonly Hint[]): Hint {
  if (hints.some(({ type }) => type === 'none')) return none
  const parts = hints.filter(({ type }) => type !== 'all')
  const [first] = parts
  if (first === undefined) return all
  return parts.length === 1 ? first : { type: 'and', parts }
}

function orHints(hints: readonly Hint[]): Hint {
  if (hints.some(({ type }) => type === 'all')) return all
  const parts = hints.filter(({ type }) => type !== 'none')
  const [first] = parts
  if (first === undefined) return none
  return parts.length === 1 ? first : { type: 'or', parts }
}

// --- Single values --------------------------------------------------------------------------

function valueHint(entity: Entity, condition: ValueCondition): Hint {
  const { attribute, operator, operand } = condition
  if (attribute.course === 'height') return heightHint(condition)
  const lookup = lookupOf(entity, attribute)
  if (lookup === undefined) return all
  const isPattern = operator === '_like' && attribute.name === 'attested_doc'
  if (operator === '_eq' || isPattern) return lookup(operand as Operand)
  if (operator !== '_in') return all
  return orHints((operand as readonly Operand[]).map(lookup))
}

function lookupOf({ name, view }: Entity, attribute: Attribute): ToHint | undefined {
  if (attribute.heightOf !== undefined) return heightNamed(attribute.heightOf)
  if (view === undefined) return lookups[`${name}.${attribute.name}`]
  return attribute.name === '_docID' ? rowOf(view) : rowsWith(view, attribute)
}

/** A row is in the block that its identity names. */
const rowOf = ({ id }: ViewSource): ToHint =>
  present((text) => {
    const row = parseRowID(text)
    return row === null || row.view !== id ? none : { type: 'block', hash: row.blockHash }
  })

/** Rows that may hold a value; undefined where the field has no index. */
function rowsWith(view: ViewSource, { name }: Attribute): ToHint | undefined {
  const field = view.indexed.get(name)
  if (field === undefined) return undefined
  return (operand) =>
    operand === null ? all : { type: 'rows', rows: view, field, value: rowTermValue(operand) }
}

function heightHint(condition: ValueCondition): Hint {
  const accepted = heightsOf(condition)
  return accepted === null ? all : heights(accepted)
}

function heights(set: HeightRanges): Hint {
  return set.length === 0 ? none : { type: 'heights', heights: set }
}

function heightAt(height: number): Hint {
  return heights([[height, height]])
}

/** From an operand to the locations of the rows that can have it. */
type ToHint = (operand: Operand) => Hint

/** Rows without a value are not indexed. */
const present =
  (lookup: (text: string) => Hint): ToHint =>
  (operand) =>
    typeof operand === 'string' ? lookup(operand) : all

const wholeHash = /^0x[0-9a-f]{64}$/

const blockOf = present((hash) => (wholeHash.test(hash) ? { type: 'block', hash } : none))

/** Of hex in lower case, as operands and the hashes in docIDs are. */
const term = (type: 'term' | 'unique', kind: TermKind, bytes: number): ToHint =>
  present((text) =>
    text.length === 2 + 2 * bytes ? { type, kind, value: Buffer.from(text.slice(2), 'hex') } : none,
  )

const transaction = term('unique', 'transactionHash', 32)

/** A docID leads to where the document is; one of another collection matches nothing. */
const document = (collection: Section | 'BlockSignature'): ToHint =>
  present((text) => {
    const id = parseDocID(text)
    if (id?.collection !== collection) return none
    switch (id.collection) {
      case 'Block':
        return blockOf(id.hash)
      case 'Transaction':
        return transaction(id.hash)
      case 'AccessListEntry':
        return transaction(id.transactionHash)
      case 'BlockSignature':
        return blockOf(id.blockHash)
      case 'Log':
        return { type: 'log', hash: id.blockHash, logIndex: id.logIndex }
      default:
        return none
    }
  })

const lookups: Readonly<Record<string, ToHint>> = {
  'Block.hash': blockOf,
  'Block._docID': document('Block'),
  'Transaction.hash': transaction,
  'Transaction._docID': document('Transaction'),
  'Transaction.blockHash': blockOf,
  'Transaction.block_id': document('Block'),
  'Transaction.from': term('term', 'from', 20),
  'Transaction.to': term('term', 'to', 20),
  'Log._docID': document('Log'),
  'Log.address': term('term', 'logAddress', 20),
  'Log.blockHash': blockOf,
  'Log.block_id': document('Block'),
  'Log.transactionHash': transaction,
  'Log.transaction_id': document('Transaction'),
  'AccessListEntry._docID': document('AccessListEntry'),
  'AccessListEntry.transaction_id': document('Transaction'),
  'BlockSignature._docID': document('BlockSignature'),
  'BlockSignature.blockHash': blockOf,
}

/** Texts that name no block match nothing; patterns that begin otherwise can match any. */
function heightNamed(heightOf: (text: string) => number | null): ToHint {
  return present((text) => {
    const height = heightOf(text)
    if (height !== null) return heightAt(height)
    return text.includes('%') ? all : none
  })
}

// --- Lists ----------------------------------------------------------------------------------

function elementHint(
  entity: Entity,
  attribute: Attribute,
  part: readonly { readonly operator: string; readonly operand: unknown }[],
): Hint {
  const lookup = elementLookup(entity, attribute)
  if (lookup === undefined) return all
  const hints = part.map(({ operator, operand }) => {
    if (operator === '_eq') return lookup(operand as Operand)
    return operator === '_in' ? orHints((operand as readonly Operand[]).map(lookup)) : all
  })
  return andHints(hints)
}

function listHint(entity: Entity, attribute: Attribute, items: readonly Operand[] | null): Hint {
  const lookup = elementLookup(entity, attribute)
  return lookup === undefined || items === null ? all : andHints(items.map(lookup))
}

function elementLookup({ name, view }: Entity, attribute: Attribute): ToHint | undefined {
  return view === undefined
    ? elementLookups[`${name}.${attribute.name}`]
    : rowsWith(view, attribute)
}

const elementLookups: Readonly<Record<string, ToHint>> = {
  'Log.topics': (operand) => {
    if (typeof operand !== 'string' || !wholeHash.test(operand)) return none
    return { type: 'term', kind: 'topic', value: Buffer.from(operand.slice(2), 'hex') }
  },
}
