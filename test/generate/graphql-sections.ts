/**
 * The tables of `docs` about GraphQL that follow from the code: fields of the collections, operators of filters, codes
 * of errors. Fields and operators are read from the schema that a Host serves.
 */
import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  isInputObjectType,
  isObjectType,
} from 'graphql'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { errorCodes } from '../../src/errors.ts'
import { defaultQueryLimits } from '../../src/graphql/budget/limits.ts'
import { hostCollections } from '../../src/graphql/catalog/catalog.ts'
import { openGraphql } from '../../src/graphql/graphql.ts'
import { collections, type Field } from '../../src/primitives/collections.ts'

const network = 'Local__Devnet'

/** The types of a Host's collections. */
export const servedTypes: readonly string[] = hostCollections.map((name) => `${network}__${name}`)

/** What a Host serves; nothing of it can be queried. */
export function hostSchema(): GraphQLSchema {
  const { schema } = openGraphql(
    { network, limits: defaultQueryLimits, collections: hostCollections },
    { reader: { snapshot: unread }, registry: new Registry(), log: pino({ enabled: false }) },
  )
  return schema
}

function unread(): never {
  throw new Error('a schema reads nothing')
}

/** Text of each section by page and by the name in its markers, `<!-- begin name -->`. */
export function graphqlSections(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const schema = hostSchema()
  const types = [...servedTypes, 'Commit', 'Signature', 'InclusionProof', 'ProvenBlock']
  const fields = types.map((name) => [`fields of ${shortName(name)}`, fieldsTable(schema, name)])
  return {
    'docs/graphql.md': { 'errors of queries': queryErrorsTable() },
    'docs/reference/filters.md': { 'operators of filters': operatorsTable(schema) },
    'docs/reference/collections.md': Object.fromEntries(fields),
  }
}

// --- Fields ---------------------------------------------------------------------------------

type Output = GraphQLField<unknown, unknown>

/** Members and aggregates of groups, which are the same on every type. */
const ofGroups: ReadonlySet<string> = new Set(['GROUP', 'COUNT', 'SUM', 'AVG', 'MIN', 'MAX'])

const shortName = (text: string): string => text.replaceAll(`${network}__`, '')

/** The fields of a type; those that only spell another one differently are left out. */
export function fieldsOf(schema: GraphQLSchema, name: string): readonly Output[] {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`the schema has no ${name}`)
  return Object.values(type.getFields()).filter(
    ({ name, deprecationReason }) => deprecationReason == null && !ofGroups.has(name),
  )
}

function fieldsTable(schema: GraphQLSchema, typeName: string): string {
  const collection = shortName(typeName)
  const stored: readonly Field[] =
    Object.values(collections).find(({ name }) => name === collection)?.fields ?? []
  const rows = fieldsOf(schema, typeName).map((field) => {
    const type = shortName(String(field.type))
    const kind = kindOf(stored.find(({ name }) => name === field.name))
    const meaning = field.description?.replace(form, '')
    return `| \`${field.name}\` | \`${type}\`${kind} | ${meaning} |`
  })
  return ['| Field | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

/** How the values of a kind are written: the page says that once for all fields. */
const form = / 0x hex(?:, \d+ bytes|, compared and ordered as a number)?\.$/

/** What GraphQL's type does not say of a value. */
function kindOf(field: Field | undefined): string {
  if (field === undefined) return ''
  const isSaid = field.kind === 'int' || field.kind === 'boolean' || field.kind === 'text'
  const facts = [
    ...(isSaid ? [] : [field.kind]),
    ...(field.index === true ? ['indexed'] : []),
    ...(field.uniqueAtHost === true ? ['unique'] : []),
  ]
  return facts.map((one) => `, ${one}`).join('')
}

// --- Operators ------------------------------------------------------------------------------

const blockSuffix = 'OperatorBlock'

/** Operators on a value by the name of its block, as `Int` or `StringList`. */
function operatorBlocks(schema: GraphQLSchema): ReadonlyMap<string, readonly GraphQLInputField[]> {
  const blocks = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLInputObjectType =>
      isInputObjectType(type) && type.name.endsWith(blockSuffix),
  )
  return new Map(
    blocks.map((type) => [
      type.name.slice(0, -blockSuffix.length),
      Object.values(type.getFields()),
    ]),
  )
}

/** What holds values with each block of operators, as the page says it. */
const holders: Readonly<Record<string, string>> = {
  Int: 'Int',
  Quantity: 'quantity',
  Boolean: 'Boolean',
  ID: 'ID',
  String: 'other String',
  StringList: 'list',
}

interface OperatorRow {
  readonly meaning: string
  readonly spellings: string[]
  readonly on: Set<string>
}

function operatorsTable(schema: GraphQLSchema): string {
  const rows = new Map<string, OperatorRow>()
  for (const [block, fields] of operatorBlocks(schema)) {
    const holder = holders[block]
    if (holder === undefined) throw new Error(`the page has no word for ${block}`)
    for (const field of fields) addOperator(rows, field, holder)
  }
  const lines = [...rows].map(([name, { meaning, spellings, on }]) => {
    const names = Object.values(holders).filter((one) => on.has(one))
    const others = spellings.map((one) => `\`${one}\``).join(', ')
    return `| \`${name}\` | ${others} | ${names.join(', ')} | ${meaning} |`
  })
  return ['| Operator | Also | On | Meaning |', '| --- | --- | --- | --- |', ...lines].join('\n')
}

function addOperator(rows: Map<string, OperatorRow>, field: GraphQLInputField, on: string): void {
  const { name, description, deprecationReason } = field
  const first = /^Another spelling of (\w+);/.exec(deprecationReason ?? '')?.[1] ?? name
  const row = rows.get(first) ?? { meaning: description ?? '', spellings: [], on: new Set() }
  if (name !== first && !row.spellings.includes(name)) row.spellings.push(name)
  row.on.add(on)
  rows.set(first, row)
}

// --- Errors ---------------------------------------------------------------------------------

function queryErrorsTable(): string {
  const rows = Object.entries(errorCodes)
    .filter(([code]) => code.startsWith('GRAPHQL_'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  return ['| Code | Meaning |', '| --- | --- |', ...rows].join('\n')
}
