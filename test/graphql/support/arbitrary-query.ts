/**
 * Random queries over random parts of the dialect, with operands taken from the data so that they
 * find something.
 */
import fc from 'fast-check'
import { type CollectionName, collections } from '../../../src/primitives/collections.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { type NaiveData, naiveKind } from './naive-documents.ts'

type Draw = fc.Arbitrary<string>

/** The collections that have links. */
const linked: readonly CollectionName[] = ['Block', 'Transaction', 'Log', 'AccessListEntry']
const served: readonly CollectionName[] = [...linked, 'BlockSignature']

interface Field {
  readonly name: string
  readonly kind: string
  readonly list: boolean
}

/** Fields of a collection with what every document has beside them. */
function fieldsOf(collection: CollectionName): readonly Field[] {
  const { fields, relations } = collections[collection]
  const ids = relations.filter(({ many }) => !many).map(({ field }) => `${field}_id`)
  return [
    ...fields.map(({ name, kind, list }) => ({ name, kind, list: list === true })),
    ...['_docID', ...ids].map((name) => ({ name, kind: 'id', list: false })),
    { name: '_attestations', kind: 'int', list: false },
  ]
}

/** Queries over the data, as text. */
export function arbitraryQuery(data: NaiveData): Draw {
  const root = fc
    .constantFrom(...served)
    .chain((collection) =>
      fc.oneof(
        { weight: 6, arbitrary: rootList(data, collection) },
        { weight: 2, arbitrary: rootGroups(data, collection) },
        { weight: 2, arbitrary: rootAggregate(data, collection) },
      ),
    )
  return fc
    .array(root, { minLength: 1, maxLength: 2 })
    .map((fields) => `{ ${fields.map((field, index) => `f${index}: ${field}`).join(' ')} }`)
}

const nameOf = (collection: CollectionName): Draw =>
  fc.constantFrom(collection, `${testNetwork}__${collection}`)

function rootList(data: NaiveData, collection: CollectionName): Draw {
  return fc
    .tuple(nameOf(collection), listArguments(data, collection), selection(data, collection, 2))
    .map(([name, args, below]) => `${name}${args} ${below}`)
}

// --- Arguments ------------------------------------------------------------------------------

function listArguments(data: NaiveData, collection: CollectionName): Draw {
  return fc
    .record(
      {
        docID: docIDs(data, collection),
        filter: filter(data, collection, 2),
        order: order(collection),
        limit: fc.integer({ min: 0, max: 6 }).map(String),
        offset: fc.integer({ min: 0, max: 5 }).map(String),
      },
      { requiredKeys: [] },
    )
    .chain((args) => fc.integer({ min: 0, max: 3 }).map((keep) => [args, keep] as const))
    .map(([args, keep]) => {
      const entries = Object.entries(args).filter(([name]) => keep === 0 || name !== 'docID')
      return entries.length === 0
        ? ''
        : `(${entries.map(([name, value]) => `${name}: ${value}`).join(', ')})`
    })
}

function docIDs(data: NaiveData, collection: CollectionName): Draw {
  return fc
    .array(operand(data, collection, { name: '_docID', kind: 'id', list: false }), {
      minLength: 0,
      maxLength: 4,
    })
    .map((ids) => `[${ids.filter((id) => id !== 'null').join(', ')}]`)
}

function order(collection: CollectionName): Draw {
  const key = orderKey(collection, 2)
  return fc.oneof(
    key,
    fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => `[${keys.join(', ')}]`),
  )
}

function orderKey(collection: CollectionName, depth: number): Draw {
  const names = fieldsOf(collection).filter(({ list }) => !list)
  const onTheChain = names.filter(({ name }) => /number|blockNumber|Index/.test(name))
  const plain = fc
    .tuple(fc.constantFrom(...onTheChain, ...names), fc.constantFrom('ASC', 'DESC'))
    .map(([{ name }, direction]) => `{${name}: ${direction}}`)
  const singles = collections[collection].relations.filter(({ many }) => !many)
  if (singles.length === 0 || depth === 0) return plain
  const nested = fc
    .constantFrom(...singles)
    .chain(({ field, target }) => orderKey(target, depth - 1).map((key) => `{${field}: ${key}}`))
  return fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: nested })
}

function filter(data: NaiveData, collection: CollectionName, depth: number): Draw {
  const one = condition(data, collection, depth)
  return fc.array(one, { minLength: 0, maxLength: 3 }).map((conditions) => {
    const seen = new Set<string>()
    const unique = conditions.filter((text) => {
      const name = text.slice(0, text.indexOf(':'))
      return seen.has(name) ? false : seen.add(name)
    })
    return `{${unique.join(', ')}}`
  })
}

function condition(data: NaiveData, collection: CollectionName, depth: number): Draw {
  const value = fc
    .constantFrom(...fieldsOf(collection))
    .chain((field) => valueCondition(data, collection, field))
  if (depth === 0) return value
  const inner = filter(data, collection, depth - 1)
  const several = fc.array(inner, { maxLength: 3 }).map((parts) => `[${parts.join(', ')}]`)
  const logic = fc.oneof(
    several.map((parts) => `_and: ${parts}`),
    several.map((parts) => `_or: ${parts}`),
    inner.map((part) => `_not: ${part}`),
  )
  const { relations } = collections[collection]
  if (relations.length === 0) {
    return fc.oneof({ weight: 4, arbitrary: value }, { weight: 2, arbitrary: logic })
  }
  const link = fc.constantFrom(...relations).chain(({ field, target, many }) =>
    fc.oneof(
      {
        weight: 9,
        arbitrary: filter(data, target, depth - 1).map((part) => `${field}: ${part}`),
      },
      { weight: 1, arbitrary: fc.constant(many ? `${field}: null` : `${field}: {}`) },
    ),
  )
  return fc.oneof(
    { weight: 5, arbitrary: value },
    { weight: 2, arbitrary: logic },
    { weight: 2, arbitrary: link },
  )
}

const spellings: Readonly<Record<string, readonly string[]>> = {
  _neq: ['_neq', '_ne'],
  _geq: ['_geq', '_ge', '_gte'],
  _leq: ['_leq', '_le', '_lte'],
}
const spelled = (name: string): Draw => fc.constantFrom(...(spellings[name] ?? [name]))

function operatorsFor({ kind }: Field): readonly string[] {
  const equality = ['_eq', '_eq', '_neq', '_in', '_nin']
  if (kind === 'int' || kind === 'quantity') return [...equality, '_gt', '_geq', '_lt', '_leq']
  if (kind === 'boolean' || kind === 'id') return equality
  return [...equality, '_like', '_nlike', '_ilike', '_nilike']
}

function valueCondition(data: NaiveData, collection: CollectionName, field: Field): Draw {
  if (field.list) {
    const block = operatorBlock(data, collection, field)
    return fc
      .tuple(fc.constantFrom('_any', '_any', '_all', '_none'), block)
      .map(([quantifier, part]) => `${field.name}: {${quantifier}: ${part}}`)
  }
  return fc.oneof(
    {
      weight: 8,
      arbitrary: operatorBlock(data, collection, field).map((part) => `${field.name}: ${part}`),
    },
    {
      weight: 2,
      arbitrary: operand(data, collection, field).map((value) => `${field.name}: ${value}`),
    },
  )
}

function operatorBlock(data: NaiveData, collection: CollectionName, field: Field): Draw {
  return fc.constantFrom(...operatorsFor(field)).chain((operator) => {
    const value = operand(data, collection, field)
    if (operator === '_in' || operator === '_nin') {
      return fc
        .tuple(fc.constant(operator), fc.array(value, { maxLength: 4 }))
        .map(([name, values]) => `{${name}: [${values.join(', ')}]}`)
    }
    const right = operator.endsWith('like') ? pattern(value) : value
    return fc.tuple(spelled(operator), right).map(([name, text]) => `{${name}: ${text}}`)
  })
}

/** A value of the data, one that is not in it, or null. */
function operand(data: NaiveData, collection: CollectionName, field: Field): Draw {
  const type = `${testNetwork}__${collection}`
  const found = (data[collection] ?? []).flatMap(({ fields }) => fields[field.name] ?? [])
  const literals = [...new Set(found.slice(0, 60).map((value) => JSON.stringify(value)))]
  const others: Readonly<Record<string, readonly string[]>> = {
    int: ['3', '-1', '4294967296'],
    boolean: ['true', 'false'],
    quantity: ['"1000"', '"0x3e8"', '7', '"0"'],
    hash: ['"0xAB"', '"0x"'],
    address: ['"0xAB"', '"0x"'],
    data: ['"0xAB"', '"0x"'],
  }
  const other = others[naiveKind(type, field.name)] ?? ['"0xAB"', '"nothing"']
  const values = literals.length === 0 ? other : literals
  return fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...values).chain(inAnyCase(field)) },
    { weight: 2, arbitrary: fc.constantFrom(...other) },
    { weight: 1, arbitrary: fc.constant('null') },
  )
}

/** Hex is found in any case. */
function inAnyCase({ kind }: Field): (literal: string) => Draw {
  const isHex = ['hash', 'address', 'data', 'quantity'].includes(kind)
  return (literal) =>
    isHex
      ? fc
          .boolean()
          .map((isUpper) => (isUpper ? literal.toUpperCase().replace('0X', '0x') : literal))
      : fc.constant(literal)
}

function pattern(value: Draw): Draw {
  return fc.tuple(value, fc.integer({ min: 0, max: 4 })).map(([literal, form]) => {
    if (literal === 'null') return literal
    const text = literal.replaceAll('"', '')
    const [start, middle, end] = [text.slice(0, 6), text.slice(3, 7), text.slice(-4)]
    return JSON.stringify([`${start}%`, `%${end}`, `%${middle}%`, `${start}%${end}`, text][form])
  })
}

// --- Selections -----------------------------------------------------------------------------

function selection(data: NaiveData, collection: CollectionName, depth: number): Draw {
  const scalars = fc
    .array(fc.constantFrom(...fieldsOf(collection)), { minLength: 1, maxLength: 4 })
    .map((fields) => fields.map(({ name }) => name))
  const relations = depth === 0 ? [] : collections[collection].relations
  const below = relations.map(({ field, target, many }) => {
    const args = many
      ? listArguments(data, target)
      : filter(data, target, 1).map((part) => (part.length % 3 === 0 ? `(filter: ${part})` : ''))
    return fc
      .tuple(args, selection(data, target, depth - 1))
      .map(([one, inner]) => `${field}${one} ${inner}`)
  })
  const links = below.length === 0 ? fc.constant('') : fc.option(fc.oneof(...below), { nil: '' })
  const aggregates = fc.option(rowAggregate(data, collection), { nil: '' })
  return fc
    .tuple(scalars, links, aggregates)
    .map(([names, link, one]) => `{ ${[...new Set(names)].join(' ')} ${link} ${one} }`)
}

function rowAggregate(data: NaiveData, collection: CollectionName): Draw {
  const many = collections[collection].relations.filter((relation) => relation.many)
  const lists = collections[collection].fields.filter(({ list }) => list === true)
  const choices: Draw[] = [
    ...many.map(({ field, target }) => linkAggregate(data, field, target)),
    ...lists.map(({ name }) => fc.constant(`items: COUNT(${name}: {limit: 2})`)),
  ]
  return choices.length === 0 ? fc.constant('') : fc.oneof(...choices)
}

function linkAggregate(data: NaiveData, field: string, target: CollectionName): Draw {
  return fc
    .tuple(
      fc.constantFrom('COUNT', '_count', 'SUM', '_avg', 'MIN', '_max'),
      numericField(target),
      filter(data, target, 1),
    )
    .map(([fold, name, part]) => {
      const value = /count/i.test(fold) ? '' : `field: ${name}, `
      return `some: ${fold}(${field}: {${value}filter: ${part}})`
    })
}

function numericField(collection: CollectionName): Draw {
  const numeric = fieldsOf(collection).filter(
    ({ kind, list }) => !list && (kind === 'int' || kind === 'quantity'),
  )
  return fc.constantFrom(...numeric.map(({ name }) => name))
}

function rootAggregate(data: NaiveData, collection: CollectionName): Draw {
  return fc
    .tuple(
      fc.constantFrom('COUNT', '_count', '_sum', 'AVG', '_min', 'MAX'),
      nameOf(collection),
      numericField(collection),
      filter(data, collection, 2),
      fc.integer({ min: 0, max: 7 }),
    )
    .map(([fold, name, field, part, limit]) => {
      const value = /count/i.test(fold) ? '' : `field: ${field}, `
      return `${fold}(${name}: {${value}filter: ${part}, limit: ${limit}})`
    })
}

// --- Groups ---------------------------------------------------------------------------------

function rootGroups(data: NaiveData, collection: CollectionName): Draw {
  const keys = fc.uniqueArray(
    fc.constantFrom(
      ...fieldsOf(collection)
        .filter(({ list }) => !list)
        .map(({ name }) => name),
    ),
    { minLength: 0, maxLength: 2 },
  )
  return fc
    .tuple(
      nameOf(collection),
      keys,
      filter(data, collection, 1),
      listArguments(data, collection),
      numericField(collection),
      fc.integer({ min: 0, max: 4 }),
    )
    .map(
      ([name, by, part, args, field, limit]) =>
        `${name}(groupBy: [${by.join(', ')}], filter: ${part}, limit: ${limit}) { ${by.join(' ')} ` +
        `rows: _count(_group: {}) total: SUM(GROUP: {field: ${field}}) most: _max(_group: {field: ${field}, offset: 1}) ` +
        `_group${args} { _docID } }`,
    )
}
