import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import ts from 'typescript'
import { docComment } from '../../../src/toolkit/typescript/doc-comment.ts'
import { maxModuleBytes, viewModule } from '../../../src/toolkit/typescript/view-module.ts'
import { parseRowType, type RowType } from '../../../src/views/rows/row-type.ts'
import { compileErrors } from '../support/compile.ts'

const everyScalar = `"Everything that a row can hold."
type Things {
  text: String @index
  name: ID
  count: Int
  share: Float
  done: Boolean
  amount: BigInt
  extra: JSON
  texts: [String]
  amounts: [BigInt]
  extras: [JSON]
}`

function moduleOf(...sdls: readonly string[]): string {
  const rowTypes = sdls.map(parseRowType)
  return viewModule(rowTypes.map((rowType) => ({ name: rowType.name, rowType })))
}

/** What an application writes below its imports, and the lines of it that the compiler refuses. */
function refusedLines(sdl: string, lines: readonly string[]): readonly string[] {
  const names = parseRowType(sdl).materialized ? 'ThingsQuery, ThingsSubscription' : 'ThingsQuery'
  const types = 'TypedDocument, ThingsRow, ThingsFilter, ThingsVariables, ThingsData'
  const head = [
    `import { ${names}, ${types.replaceAll(/\w+/g, 'type $&')} } from './views.ts'`,
    'export declare function ask<D, V>(document: TypedDocument<D, V>, variables: V): D',
    'export declare const row: ThingsRow',
    'export declare const data: ThingsData',
    'export declare const filter: ThingsFilter',
    'export declare const variables: ThingsVariables',
    `export const used: readonly string[] = [${names}]`,
  ]
  const errors = compileErrors({
    'views.ts': moduleOf(sdl),
    'use.ts': `${[...head, ...lines].join('\n')}\n`,
  })
  const numbers = errors.map((error) => Number(/^use\.ts\((\d+)\)/.exec(error)?.[1] ?? Number.NaN))
  assert.ok(!numbers.includes(Number.NaN), errors.join('\n'))
  return lines.filter((_, index) => numbers.includes(index + head.length + 1))
}

test('values of a row have the types in which a Host answers them, and each may be null', () => {
  const accepted = [
    'export const a: string | null = row.text',
    'export const b: string | null = row.name',
    'export const c: number | null = row.count',
    'export const d: number | null = row.share',
    'export const e: boolean | null = row.done',
    'export const f: bigint = BigInt(row.amount ?? 0)',
    'export const g: string | null = row.amount',
    'export const h: readonly (string | null)[] | null = row.texts',
    'export const i: string = row._docID',
    'export const j: number = row._blockNumber + row._attestations + row._hosts',
    'export const k: readonly ThingsRow[] = data.Things',
  ]
  const refused = [
    'export const l: string = row.text',
    'export const m: number | null = row.amount',
    'export const n: bigint | null = row.amount',
    'export const o: readonly string[] | null = row.texts',
    'export const p: string = row.extra',
    'export const q: unknown = row.missing',
    'row.text = null',
  ]
  assert.deepEqual(refusedLines(everyScalar, [...accepted, ...refused]), refused)
})

test('variables take what a Host takes, and a wrong field or operand does not compile', () => {
  const accepted = [
    'ask(ThingsQuery, {})',
    'ask(ThingsQuery, { limit: 2, offset: 1, docID: ["row-1"], order: [{ count: "DESC" }] })',
    'ask(ThingsQuery, { filter: { text: "0x01", count: { _geq: 1 }, _not: { done: true } } })',
    'ask(ThingsQuery, { filter: { amount: { _gt: "1000000000000000000000" }, text: null } })',
    'ask(ThingsQuery, { filter: { _or: [{ texts: { _any: { _like: "0x%" } } }, { extra: { _neq: null } }] } })',
    'ask(ThingsSubscription, { filter: { _hosts: { _geq: 2 } } }).Things[0]?.text?.length',
  ]
  const refused = [
    'ask(ThingsQuery, { limt: 2 })',
    'ask(ThingsQuery, { filter: { test: "0x01" } })',
    'ask(ThingsQuery, { filter: { count: "1" } })',
    'ask(ThingsQuery, { filter: { done: { _gt: true } } })',
    'ask(ThingsQuery, { filter: { extra: { _eq: 1 } } })',
    'ask(ThingsQuery, { order: [{ count: "UP" }] })',
    'ask(ThingsQuery, { order: [{ extra: "ASC" }] })',
    'ask(ThingsQuery, {}).Thing',
    'ask(ThingsSubscription, { limit: 1 })',
  ]
  assert.deepEqual(refusedLines(everyScalar, [...accepted, ...refused]), refused)
})

test('every condition of a Host compiles for the fields that have it, and for no others', () => {
  const filter = (conditions: string): string => `ask(ThingsQuery, { filter: { ${conditions} } })`
  const equality = (value: string): string =>
    `{ _eq: ${value}, _neq: null, _in: [${value}, null], _nin: [${value}, null] }`
  const range = (value: string): string =>
    `{ _eq: null, _neq: ${value}, _gt: ${value}, _geq: ${value}, _lt: ${value}, _leq: ${value} }`
  const like = '{ _in: ["a"], _like: "a%", _nlike: "%a", _ilike: "a%b", _nilike: "a" }'
  const unset = '{ _eq: undefined, _in: undefined }'
  const accepted = [
    ...['text', 'name'].map((name) => filter(`${name}: ${equality('"a"')}`)),
    filter(`done: ${equality('true')}, text: ${like}`),
    filter(`count: ${range('1')}, share: ${range('0.5')}, amount: ${range('"1"')}`),
    filter(`amount: ${range('1')}, _hosts: ${range('1')}, _docID: ${equality('"a"')}`),
    filter(`texts: { _any: ${like}, _all: ${like}, _none: ${like}, _eq: ["a", null], _neq: null }`),
    filter(`amounts: { _any: ${range('"1"')}, _eq: null, _neq: [1, "1"] }, texts: ["a", null]`),
    filter('extra: { _eq: null, _neq: null }, extras: { _eq: null }'),
    filter(`text: ${unset}, count: undefined, texts: { _any: undefined }, extra: undefined`),
    filter('_and: [{ text: "a" }, { _or: [] }], _or: undefined, _not: { _not: {} }'),
  ]
  const refused = [
    ...['_like', '_gt'].map((condition) => filter(`name: { ${condition}: "a" }`)),
    filter('count: { _gt: null }'),
    filter('count: { _like: "1" }'),
    filter('text: { _gt: "a" }'),
    filter('text: { _like: null }'),
    filter('texts: { _like: "a" }'),
    filter('texts: { _any: null }'),
    filter('extras: { _any: { _eq: null } }'),
    filter('_and: null'),
  ]
  assert.deepEqual(refusedLines(everyScalar, [...accepted, ...refused]), refused)
})

test('a typed query is one for other clients of GraphQL that read types from their documents', () => {
  const decoration = 'interface Decoration<D, V> { __apiType?: (variables: V) => D }'
  const accepted = [
    decoration,
    'declare function other<D, V>(document: Decoration<D, V>, ...variables: V[]): D',
    'export const a: readonly ThingsRow[] = other(ThingsQuery, { limit: 1 }).Things',
  ]
  const refused = ['other(ThingsQuery, { limt: 1 })', 'export const b: number = other(ThingsQuery)']
  assert.deepEqual(refusedLines(everyScalar, [...accepted, ...refused]), refused)
})

test('rows that are computed for each query have no identity, and nothing to subscribe to', () => {
  const sdl = everyScalar.replace('type Things', 'type Things @materialized(if: false)')
  const refused = [
    'export const a: string = row._docID',
    'export const b: number = row._blockNumber',
  ]
  const accepted = ['export const c: null = row._hosts']
  assert.deepEqual(refusedLines(sdl, [...accepted, ...refused]), refused)
  assert.ok(!moduleOf(sdl).includes('subscription'))
})

// Words that mean something to TypeScript or JavaScript, and names that are those of others and an ending.
const hostileNames = [
  ...['class', 'default', 'import', 'enum', 'await', 'yield', 'let', 'static', 'undefined'],
  ...['constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'any', 'never'],
  ...['Typed', 'Json', 'TypedDocument', 'Ordering', 'TextConditions', 'WholeNumber', 'Array'],
  ...['A', 'ARow', 'AQuery', 'ARowRow', 'ARowQuery', 'AData', 'Pick', 'Readonly', 'Row', 'Query_'],
  ...['string', 'number', 'object', 'Object', 'BigInt', 'Number', 'Promise', 'globalThis', 'eval'],
].filter((name) => name !== 'BigInt')
const words = fc.oneof(
  fc.constantFrom(...hostileNames),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,12}$/),
)
const hostileText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        ...['*/', '/*', '//', '`', '${', '"', "'", '\\', '\n', '\r', '\u2028', '*', '/', ' ', 'x'],
        ...[
          '@ts-ignore',
          '@ts-nocheck',
          '@deprecated',
          'export const evil = 1',
          '\u202e',
          '\u0000',
        ],
      ),
    )
    .map((parts) => parts.join('')),
)
const scalar = fc.constantFrom(
  'String',
  'Int',
  'Float',
  'Boolean',
  'ID',
  'BigInt',
  'JSON',
  '[JSON]',
  '[Int]',
  '[BigInt]',
)

interface Field {
  readonly name: string
  readonly type: string
  readonly about: string
}

const fields = fc.uniqueArray(fc.record({ name: words, type: scalar, about: hostileText }), {
  ...{ minLength: 1, maxLength: 6, selector: ({ name }: Field) => name },
})
const rowTypes = fc
  .record({ name: words, about: hostileText, fields, materialized: fc.boolean() })
  .map(({ name, about, fields: own, materialized }): RowType => {
    const base = { name, scalar: 'String', list: false, index: false, description: about } as const
    // As parsed, so that descriptions may hold what no GraphQL text can.
    const parsed = parseRowType(
      `type Plain { ${own.map((one) => `${one.name}: ${one.type}`).join(' ')} }`,
    )
    const described: RowType['fields'] = parsed.fields.map((field, index) => ({
      ...{ ...base, ...field, description: own[index]?.about ?? '' },
    }))
    return { ...parsed, name, description: about, materialized, fields: described }
  })
const modules = fc
  .uniqueArray(rowTypes, { maxLength: 8, selector: ({ name }) => name })
  .map((types) => types.map((rowType) => ({ name: rowType.name, rowType })))

const endings = ['Row', 'Filter', 'Order', 'Variables', 'Data', 'Query', 'Subscription']
const sharedNames = [
  ...['Json', 'WholeNumber', 'TypedDocument', 'Ordering', 'EqualityConditions', 'RangeConditions'],
  ...['TextConditions', 'JsonConditions', 'ListConditions'],
]

test('whatever a stranger names and describes, a module declares its own names and nothing else', () => {
  fc.assert(
    fc.property(modules, (views) => {
      const file = ts.createSourceFile('views.ts', viewModule(views), ts.ScriptTarget.ES2022)
      const names = file.statements.map((statement) => {
        if (ts.isTypeAliasDeclaration(statement)) return statement.name.text
        assert.ok(ts.isVariableStatement(statement))
        const [declaration] = statement.declarationList.declarations
        assert.ok(declaration !== undefined && ts.isIdentifier(declaration.name))
        assert.ok(declaration.initializer && ts.isAsExpression(declaration.initializer))
        assert.ok(ts.isNoSubstitutionTemplateLiteral(declaration.initializer.expression))
        return declaration.name.text
      })
      const expected = views.flatMap(({ name, rowType }) =>
        endings
          .filter((ending) => rowType.materialized || ending !== 'Subscription')
          .map((ending) => `${name}${ending}`),
      )
      assert.deepEqual(names.toSorted(), [...sharedNames, ...expected].toSorted())
    }),
    { numRuns: 300 },
  )
})

test('whatever names Views and fields have, the module compiles under strict rules', () => {
  const views = fc.sample(modules, { numRuns: 40, seed: 15 }).flat()
  const byName = new Map(views.map((view) => [view.name, view]))
  const everyField = hostileNames.map((name) => `${name}: String`).join(' ')
  const rowType = parseRowType(`type Reserved { ${everyField} }`)
  byName.set('Reserved', { name: 'Reserved', rowType: { ...rowType, description: '' } })
  assert.deepEqual(compileErrors({ 'views.ts': viewModule([...byName.values()]) }), [])
})

test('a comment ends where it is meant to, and holds neither tags nor marks of direction', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const comment = docComment(text)
      assert.equal(comment.indexOf('*/'), comment.length - 3)
      assert.doesNotMatch(comment, /(?<!\\)@|[^\P{Cc}\n]|[\p{Cf}\u2028\u2029\ud800-\udfff]/u)
    }),
  )
  assert.equal(docComment('one'), '/** one */\n')
  assert.equal(docComment('\none\n\n  two\n', '  '), '  /**\n   * one\n   *\n   * two\n   */\n')
})

test('the module has the Views by their names, whatever the order they come in', () => {
  const text = moduleOf('type B { x: Int }', 'type A { x: Int }')
  assert.equal(text, moduleOf('type A { x: Int }', 'type B { x: Int }'))
  const rows = [...text.matchAll(/^export type (\w+)Row = /gm)].map(([, name]) => name)
  assert.deepEqual(rows, ['A', 'B'])
})

test('two Views of one name are refused, and so is a module that no editor would open', () => {
  assert.throws(() => moduleOf('type A { x: Int }', 'type A { y: Int }'), {
    code: 'TOOLKIT_TYPES_REFUSED',
    message: 'two Views are named A',
  })
  const wide = parseRowType(
    `type A { ${Array.from({ length: 256 }, (_, n) => `f${n}: Int`).join(' ')} }`,
  )
  const many = (count: number) =>
    viewModule(Array.from({ length: count }, (_, n) => ({ name: `V${1000 + n}`, rowType: wide })))
  const described = (length: number) =>
    viewModule(
      ['A', 'B'].map((name) => ({ name, rowType: { ...wide, description: name.repeat(length) } })),
    )
  const room = maxModuleBytes - Buffer.byteLength(described(1))
  assert.equal(room % 2, 0, 'both grow by the same')
  assert.equal(Buffer.byteLength(described(1 + room / 2)), maxModuleBytes)
  assert.throws(() => described(2 + room / 2), { code: 'TOOLKIT_TYPES_REFUSED' })
  const fit = Math.floor((maxModuleBytes - many(0).length) / (many(1).length - many(0).length))
  assert.ok(many(fit).length <= maxModuleBytes)
  assert.throws(() => many(fit + 1), { code: 'TOOLKIT_TYPES_REFUSED' })
})
