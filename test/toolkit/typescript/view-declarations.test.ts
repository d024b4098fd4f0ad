import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewDeclarations } from '../../../src/toolkit/typescript/view-declarations.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'

const fields = '"To whom." to: String "  " amounts: [BigInt] extra: JSON extras: [JSON]'

const declarations = `/** Who paid. */
export type PaidRow = {
  /** Identity of the row, the same on every Host. */
  readonly _docID: string
  /** Height of the block that the row was made of. */
  readonly _blockNumber: number
  /** How many distinct Generators vouch for that block. */
  readonly _attestations: number
  /** How many distinct Hosts signed the same rows of that block. */
  readonly _hosts: number
  /** To whom. */
  readonly to: string | null
  readonly amounts: readonly (WholeNumber | null)[] | null
  readonly extra: Json
  readonly extras: readonly Json[] | null
}

/** Conditions, all of which must hold; a bare value means \`_eq\`. */
export type PaidFilter = {
  readonly _and?: readonly PaidFilter[] | undefined
  readonly _or?: readonly PaidFilter[] | undefined
  readonly _not?: PaidFilter | undefined
  readonly _docID?: EqualityConditions<string> | string | null | undefined
  readonly _blockNumber?: RangeConditions<number> | number | null | undefined
  readonly _attestations?: RangeConditions<number> | number | null | undefined
  readonly _hosts?: RangeConditions<number> | number | null | undefined
  readonly to?: TextConditions | string | null | undefined
  readonly amounts?: ListConditions<RangeConditions<string | number>, string | number> | readonly (string | number | null)[] | null | undefined
  readonly extra?: JsonConditions | null | undefined
  readonly extras?: JsonConditions | null | undefined
}

/** One field and its direction; a list of these orders by several. */
export type PaidOrder = {
  readonly _docID?: Ordering | undefined
  readonly _blockNumber?: Ordering | undefined
  readonly _attestations?: Ordering | undefined
  readonly _hosts?: Ordering | undefined
  readonly to?: Ordering | undefined
}

/** What may be asked of a list; a limit of 0 means no limit. */
export type PaidVariables = {
  readonly docID?: readonly string[] | undefined
  readonly filter?: PaidFilter | undefined
  readonly order?: readonly PaidOrder[] | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

/** What a query or an event has. */
export type PaidData = { readonly Paid: readonly PaidRow[] }

/** Rows with all their fields; each variable may be left out. */
export const PaidQuery = \`query Paid($docID: [ID!], $filter: PaidFilterArg, $order: [PaidOrderArg], $limit: Int, $offset: Int) {
  Paid(docID: $docID, filter: $filter, order: $order, limit: $limit, offset: $offset) {
    _docID
    _blockNumber
    _attestations
    _hosts
    to
    amounts
    extra
    extras
  }
}\` as TypedDocument<PaidData, PaidVariables>

/** The rows of every block that a Host stores from then on. */
export const PaidSubscription = \`subscription Paid($filter: PaidFilterArg) {
  Paid(filter: $filter) {
    _docID
    _blockNumber
    _attestations
    _hosts
    to
    amounts
    extra
    extras
  }
}\` as TypedDocument<PaidData, Pick<PaidVariables, 'filter'>>
`

/** The declarations of the View `Paid`. */
function declarationsOf(head: string): string {
  const rowType = parseRowType(`${head} { ${fields} }`)
  return viewDeclarations({ name: 'Paid', rowType })
}

test('a View has types of its rows, conditions, order and variables, a query and a subscription', () => {
  assert.equal(declarationsOf('"Who paid." type Paid'), declarations)
})

test('a View without a description says whose rows they are', () => {
  const own = declarations.replace('Who paid.', 'A row of the View Paid.')
  for (const head of ['type Paid', '"  " type Paid']) assert.equal(declarationsOf(head), own)
})

test('rows that are not stored have null in place of what they lack, and no subscription', () => {
  const [stored = ''] = declarations.split('\n/** The rows of every block')
  const computed = stored
    .replace('_docID: string\n', '_docID: null\n')
    .replace('_blockNumber: number\n', '_blockNumber: number | null\n')
    .replace('_attestations: number\n', '_attestations: number | null\n')
    .replace('_hosts: number\n', '_hosts: null\n')
  assert.equal(declarationsOf('"Who paid." type Paid @materialized(if: false)'), computed)
})
