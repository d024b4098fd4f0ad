/** The types and queries of one View. All values are as a Host answers them in JSON. */
import type { RowScalar, RowType } from '../../views/rows/row-type.ts'
import { docComment } from './doc-comment.ts'

/** A View under the name by which it is asked for. */
export interface TypedView {
  /** A GraphQL name without two underscores. */
  readonly name: string
  readonly rowType: RowType
}

type Field = Pick<RowType['fields'][number], 'name' | 'scalar' | 'list' | 'description'>

interface ScalarTypes {
  /** What an answer holds. */
  readonly value: string
  /** What a condition compares with; null where it cannot. */
  readonly operand: string | null
  readonly conditions: string
}

const types: Readonly<Record<RowScalar, ScalarTypes>> = {
  String: { value: 'string', operand: 'string', conditions: 'TextConditions' },
  ID: { value: 'string', operand: 'string', conditions: 'EqualityConditions<string>' },
  Int: { value: 'number', operand: 'number', conditions: 'RangeConditions<number>' },
  Float: { value: 'number', operand: 'number', conditions: 'RangeConditions<number>' },
  Boolean: { value: 'boolean', operand: 'boolean', conditions: 'EqualityConditions<boolean>' },
  BigInt: {
    value: 'WholeNumber',
    operand: 'string | number',
    conditions: 'RangeConditions<string | number>',
  },
  JSON: { value: 'Json', operand: null, conditions: 'JsonConditions' },
}

interface SystemField extends Field {
  /** What an answer holds of it where rows are stored, and where they are computed for each query. */
  readonly stored: string
  readonly streamed: string
}

const systemFields: readonly SystemField[] = [
  {
    ...{ name: '_docID', scalar: 'ID', list: false, stored: 'string', streamed: 'null' },
    description: 'Identity of the row, the same on every Host.',
  },
  {
    ...{ name: '_blockNumber', scalar: 'Int', list: false },
    ...{ stored: 'number', streamed: 'number | null' },
    description: 'Height of the block that the row was made of.',
  },
  {
    ...{ name: '_attestations', scalar: 'Int', list: false },
    ...{ stored: 'number', streamed: 'number | null' },
    description: 'How many distinct Generators vouch for that block.',
  },
  {
    ...{ name: '_hosts', scalar: 'Int', list: false, stored: 'number', streamed: 'null' },
    description: 'How many distinct Hosts signed the same rows of that block.',
  },
]

/** The declarations of a View; each name is the View's and one of a few endings, none of which ends as another does. */
export function viewDeclarations(view: TypedView): string {
  return [
    rowDeclaration(view),
    filterDeclaration(view),
    orderDeclaration(view),
    variablesDeclaration(view),
    queryDeclaration(view),
    ...(view.rowType.materialized ? [subscriptionDeclaration(view)] : []),
  ].join('\n')
}

function rowDeclaration({ name, rowType }: TypedView): string {
  const { fields, materialized, description } = rowType
  const system = systemFields.map((field) =>
    property(field, materialized ? field.stored : field.streamed),
  )
  const own = fields.map((field) => property(field, valueType(field)))
  const about = description.trim() || `A row of the View ${name}.`
  return `${docComment(about)}export type ${name}Row = {\n${[...system, ...own].join('')}}\n`
}

function property({ name, description }: Field, type: string): string {
  const comment = description.trim() === '' ? '' : docComment(description, '  ')
  return `${comment}  readonly ${name}: ${type}\n`
}

function valueType({ scalar, list }: Field): string {
  const { value } = types[scalar]
  if (!list) return orNull(value)
  return orNull(`readonly ${scalar === 'JSON' ? 'Json' : `(${value} | null)`}[]`)
}

/** JSON has a null of its own. */
const orNull = (type: string): string => (type === 'Json' ? type : `${type} | null`)

function filterDeclaration({ name, rowType }: TypedView): string {
  const filter = `${name}Filter`
  const conditions = [...systemFields, ...rowType.fields].map(
    (field) => `  readonly ${field.name}?: ${conditionType(field)} | null | undefined\n`,
  )
  return `${docComment('Conditions, all of which must hold; a bare value means `_eq`.')}export type ${filter} = {
  readonly _and?: readonly ${filter}[] | undefined
  readonly _or?: readonly ${filter}[] | undefined
  readonly _not?: ${filter} | undefined
${conditions.join('')}}
`
}

function conditionType({ scalar, list }: Field): string {
  const { operand, conditions } = types[scalar]
  if (operand === null) return conditions
  return list
    ? `ListConditions<${conditions}, ${operand}> | readonly (${operand} | null)[]`
    : `${conditions} | ${operand}`
}

function orderDeclaration({ name, rowType }: TypedView): string {
  const keys = [...systemFields, ...rowType.fields]
    .filter(({ scalar, list }) => !list && scalar !== 'JSON')
    .map((field) => `  readonly ${field.name}?: Ordering | undefined\n`)
  return `${docComment('One field and its direction; a list of these orders by several.')}export type ${name}Order = {\n${keys.join('')}}\n`
}

function variablesDeclaration({ name }: TypedView): string {
  return `${docComment('What may be asked of a list; a limit of 0 means no limit.')}export type ${name}Variables = {
  readonly docID?: readonly string[] | undefined
  readonly filter?: ${name}Filter | undefined
  readonly order?: readonly ${name}Order[] | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}
`
}

function queryDeclaration({ name, rowType }: TypedView): string {
  const variables = [
    ...['$docID: [ID!]', `$filter: ${name}FilterArg`, `$order: [${name}OrderArg]`],
    ...['$limit: Int', '$offset: Int'],
  ].join(', ')
  const passed = 'docID: $docID, filter: $filter, order: $order, limit: $limit, offset: $offset'
  return `${docComment('What a query or an event has.')}export type ${name}Data = { readonly ${name}: readonly ${name}Row[] }

/** Rows with all their fields; each variable may be left out. */
export const ${name}Query = \`query ${name}(${variables}) {
  ${name}(${passed}) {
${selection(rowType)}  }
}\` as TypedDocument<${name}Data, ${name}Variables>
`
}

function subscriptionDeclaration({ name, rowType }: TypedView): string {
  return `${docComment('The rows of every block that a Host stores from then on.')}export const ${name}Subscription = \`subscription ${name}($filter: ${name}FilterArg) {
  ${name}(filter: $filter) {
${selection(rowType)}  }
}\` as TypedDocument<${name}Data, Pick<${name}Variables, 'filter'>>
`
}

function selection({ fields }: RowType): string {
  return [...systemFields, ...fields].map(({ name }) => `    ${name}\n`).join('')
}
