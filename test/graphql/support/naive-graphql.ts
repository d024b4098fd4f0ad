/**
 * The dialect's meaning written down as simply as possible, run by graphql-js: every list is filtered
 * document by document, sorted whole and cut. Slow and obvious; the engine is compared with it.
 */
import assert from 'node:assert/strict'
import { execute, type GraphQLSchema, parse } from 'graphql'
import { rewriteDocument } from '../../../src/graphql/plan/rewrite.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { type NaiveData, type NaiveDocument, naiveKind } from './naive-documents.ts'

type Input = Readonly<Record<string, unknown>>

/** A group of documents with equal keys. */
interface NaiveGroup {
  readonly keys: Readonly<Record<string, unknown>>
  readonly members: readonly NaiveDocument[]
}

/** Runs a query over plain documents. */
export async function naiveQuery(
  schema: GraphQLSchema,
  data: NaiveData,
  text: string,
  variableValues: Input,
): Promise<unknown> {
  const result = await execute({
    schema,
    document: rewriteDocument(parse(text), schema, testNetwork),
    variableValues,
    rootValue: null,
    fieldResolver: (source: unknown, args: Input, _context, info) => {
      const name = info.fieldName
      if (source === null || source === undefined) return rootField(data, name, args)
      if (isGroup(source)) return groupField(source, name, args)
      return documentField(source as NaiveDocument, name, args)
    },
  })
  assert.deepEqual(result.errors, undefined, text)
  return JSON.parse(JSON.stringify(result.data))
}

const isGroup = (source: unknown): source is NaiveGroup =>
  typeof source === 'object' && source !== null && 'members' in source

const shortOf = (name: string): string => name.replace(`${testNetwork}__`, '')

const foldNames: Readonly<Record<string, string>> = {
  _count: 'COUNT',
  _sum: 'SUM',
  _avg: 'AVG',
  _min: 'MIN',
  _max: 'MAX',
}
const foldOf = (name: string): string | undefined =>
  foldNames[name] ?? (Object.values(foldNames).includes(name) ? name : undefined)

function rootField(data: NaiveData, name: string, args: Input): unknown {
  const fold = foldOf(name)
  if (fold === undefined) return list(data[shortOf(name)] ?? [], args)
  return aggregate(
    fold,
    Object.entries(args).map(([target, selector]) => [
      data[shortOf(target)] ?? [],
      selector as Input,
    ]),
  )
}

function documentField(document: NaiveDocument, name: string, args: Input): unknown {
  const fold = foldOf(name)
  if (fold !== undefined) {
    return aggregate(
      fold,
      Object.entries(args).map(([target, selector]) => [
        (document.links[target] ?? document.fields[target]) as NaiveDocument[],
        selector as Input,
      ]),
    )
  }
  const linked = document.links[name]
  if (Array.isArray(linked)) return list(linked, args)
  if (linked !== undefined) return matches(linked, args['filter'] as Input) ? linked : null
  return fieldOf(document, name)
}

function fieldOf(document: NaiveDocument, name: string): unknown {
  const spelled = { _blockID: 'block_id', _transactionID: 'transaction_id' }[name] ?? name
  return document.fields[spelled] ?? null
}

function groupField(group: NaiveGroup, name: string, args: Input): unknown {
  if (name === 'GROUP' || name === '_group') return list(group.members, args)
  const fold = foldOf(name)
  if (fold === undefined) return group.keys[name]
  return aggregate(
    fold,
    Object.values(args).map((selector) => [group.members, selector as Input]),
  )
}

// --- Lists ----------------------------------------------------------------------------------

function list(documents: readonly NaiveDocument[], args: Input): readonly unknown[] {
  const ids = args['docID'] as readonly string[] | null | undefined
  const found = documents.filter(
    (document) =>
      (ids === null || ids === undefined || ids.includes(String(document.fields['_docID']))) &&
      matches(document, args['filter'] as Input),
  )
  const groupBy = args['groupBy'] as readonly string[] | undefined
  if (groupBy !== undefined) return cut(groups(found, groupBy), args)
  return cut(sort(found, args['order']), args)
}

function cut<T>(items: readonly T[], args: Input): readonly T[] {
  const offset = Number(args['offset'] ?? 0)
  const limit = Number(args['limit'] ?? 0)
  return items.slice(offset, limit === 0 ? undefined : offset + limit)
}

function groups(documents: readonly NaiveDocument[], groupBy: readonly string[]): NaiveGroup[] {
  const found = new Map<string, { keys: Record<string, unknown>; members: NaiveDocument[] }>()
  for (const document of documents) {
    const keys = Object.fromEntries(groupBy.map((name) => [name, fieldOf(document, name)]))
    const text = JSON.stringify(keys)
    const group = found.get(text) ?? { keys, members: [] }
    group.members.push(document)
    found.set(text, group)
  }
  return [...found.values()]
}

function sort(documents: readonly NaiveDocument[], order: unknown): NaiveDocument[] {
  const keys = (Array.isArray(order) ? order : [order ?? {}]) as Input[]
  const flat = keys.filter((key) => Object.keys(key).length > 0)
  const directions = flat.map(directionOf)
  const ties = directions.at(-1) === 'DESC' ? -1 : 1
  return [...documents].sort((a, b) => {
    for (const [index, key] of flat.entries()) {
      const difference = compareBy(a, b, key)
      if (difference !== 0) return directions[index] === 'DESC' ? -difference : difference
    }
    return ties * (a.place[0] - b.place[0] || a.place[1] - b.place[1])
  })
}

function directionOf(key: Input): string {
  const [value] = Object.values(key)
  return typeof value === 'string' ? value : directionOf(value as Input)
}

function compareBy(a: NaiveDocument, b: NaiveDocument, key: Input): number {
  const [[name, below] = ['', '']] = Object.entries(key)
  if (typeof below !== 'string') {
    return compareBy(a.links[name] as NaiveDocument, b.links[name] as NaiveDocument, below as Input)
  }
  return compare(naiveKind(a.type, name), fieldOf(a, name), fieldOf(b, name))
}

function compare(kind: string, a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === null) return -1
  if (b === null) return 1
  const [left, right] = kind === 'quantity' ? [BigInt(String(a)), BigInt(String(b))] : [a, b]
  return (left as number) < (right as number) ? -1 : Number(left !== right)
}

// --- Filters --------------------------------------------------------------------------------

function matches(document: NaiveDocument, filter: Input | null | undefined): boolean {
  if (filter === null || filter === undefined) return true
  return Object.entries(filter).every(([name, part]) => {
    const parts = part as readonly Input[]
    if (name === '_and') return part === null || parts.every((one) => matches(document, one))
    if (name === '_or') return part === null || parts.some((one) => matches(document, one))
    if (name === '_not') return part === null || !matches(document, part as Input)
    const linked = document.links[name]
    if (Array.isArray(linked)) return matchesSome(linked, part as Input | null)
    if (linked !== undefined) return part !== null && matches(linked, part as Input)
    const value = fieldOf(document, name)
    return matchesBlock(naiveKind(document.type, name), value, part as Input | null)
  })
}

function matchesSome(linked: readonly NaiveDocument[], filter: Input | null): boolean {
  if (filter === null) return linked.length === 0
  return isFree(filter) || linked.some((one) => matches(one, filter))
}

/** An object that restricts nothing restricts nothing, wherever it stands. */
function isFree(filter: Input): boolean {
  return Object.entries(filter).every(([name, part]) => {
    if (name === '_and') return part === null || (part as Input[]).every(isFree)
    if (name === '_or') return part === null || (part as Input[]).some(isFree)
    if (name === '_not') return part === null
    return (
      typeof part === 'object' && part !== null && !Array.isArray(part) && isFree(part as Input)
    )
  })
}

function matchesBlock(kind: string, value: unknown, block: Input | null): boolean {
  if (block === null) return value === null
  return Object.entries(block).every(([operator, operand]) =>
    matchesOperator(kind, value, operator, operand),
  )
}

function matchesOperator(
  kind: string,
  value: unknown,
  operator: string,
  operand: unknown,
): boolean {
  if (operator === '_any')
    return (value as unknown[]).some((one) => matchesBlock(kind, one, operand as Input))
  if (operator === '_all')
    return (value as unknown[]).every((one) => matchesBlock(kind, one, operand as Input))
  if (operator === '_none')
    return !(value as unknown[]).some((one) => matchesBlock(kind, one, operand as Input))
  if (operator === '_in')
    return (operand as unknown[]).some((one) => compare(kind, value, read(kind, one)) === 0)
  if (operator === '_nin')
    return !(operand as unknown[]).some((one) => compare(kind, value, read(kind, one)) === 0)
  const given = read(kind, operand)
  if (operator.endsWith('like')) return matchesLike(kind, value, given, operator)
  const difference = Array.isArray(value)
    ? Number(JSON.stringify(value) !== JSON.stringify(given))
    : compare(kind, value, given)
  if (operator === '_eq') return difference === 0
  if (operator === '_neq' || operator === '_ne') return difference !== 0
  if (value === null && given !== null) return false
  if (operator === '_gt') return difference > 0
  if (operator === '_lt') return difference < 0
  return operator.startsWith('_g') ? difference >= 0 : difference <= 0
}

/** Hex is compared in lower case, quantities as numbers. */
function read(kind: string, operand: unknown): unknown {
  if (Array.isArray(operand)) return operand.map((one) => read(kind, one))
  if (operand === null || typeof operand === 'boolean') return operand
  if (kind === 'quantity' && !String(operand).includes('%')) {
    return `0x${BigInt(String(operand)).toString(16)}`
  }
  if (typeof operand === 'number' || kind === 'text') return operand
  return String(operand).toLowerCase()
}

function matchesLike(kind: string, value: unknown, pattern: unknown, operator: string): boolean {
  const fold = (text: string) =>
    kind === 'text' && !operator.includes('ilike') ? text : text.toLowerCase()
  const isNegated = operator.startsWith('_n')
  if (pattern === null) return (value === null) !== isNegated
  if (value === null) return isNegated
  const text = fold(String(value))
  const parts = fold(String(pattern)).split('%')
  const [head = '', tail = ''] = parts
  if (parts.length === 1) return (text === head) !== isNegated
  const isMatch =
    parts.length === 2
      ? text.length >= head.length + tail.length && text.startsWith(head) && text.endsWith(tail)
      : parts.length === 3 && text.includes(parts[1] ?? '')
  return isMatch !== isNegated
}

// --- Aggregates -----------------------------------------------------------------------------

function aggregate(
  fold: string,
  targets: readonly (readonly [readonly unknown[], Input | null])[],
): number | null {
  const selected = targets.map(([items, selector]) => select(items, selector ?? {}))
  if (fold === 'COUNT') return selected.flat().length
  const values = targets.flatMap(([, selector], index) => {
    const name = String(selector?.['field'])
    return (selected[index] as NaiveDocument[])
      .map((document) => fieldOf(document, name))
      .filter((value) => value !== null)
      .map((value) => BigInt(value as string))
  })
  const sum = values.reduce((total, value) => total + value, 0n)
  if (fold === 'SUM') return Number(sum)
  if (fold === 'AVG') return values.length === 0 ? 0 : Number(sum) / values.length
  if (values.length === 0) return null
  const ordered = values.sort((a, b) => (a < b ? -1 : 1))
  return Number(fold === 'MIN' ? ordered[0] : ordered.at(-1))
}

function select(items: readonly unknown[], selector: Input): readonly unknown[] {
  const [first] = items
  if (typeof first !== 'string') return list(items as NaiveDocument[], selector)
  const filter = selector['filter'] as Input | null | undefined
  const found = items.filter((item) => filter === undefined || matchesElement(item, filter))
  return cut(found, selector)
}

function matchesElement(item: unknown, filter: Input | null): boolean {
  if (filter === null) return true
  return Object.entries(filter).every(([name, part]) => {
    if (name === '_and') return (part as Input[]).every((one) => matchesElement(item, one))
    if (name === '_or') return (part as Input[]).some((one) => matchesElement(item, one))
    return matchesOperator('hash', item, name, part)
  })
}
