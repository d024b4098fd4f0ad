import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { ServiceError } from '../../../src/errors.ts'
import { parseRowType, registryName } from '../../../src/views/rows/row-type.ts'
import { assertParsesOrRefuses, assertRefused } from '../refusals.ts'

const plain = { list: false, index: false, description: '' }

/** The error with which an SDL is refused: its message behind the place, and its facts. */
function refusalOf(sdl: string): { what: string; facts: unknown } {
  try {
    parseRowType(sdl)
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    return {
      what: error.message.replace(/^the SDL, line \d+, column \d+: /, ''),
      facts: error.facts,
    }
  }
  return assert.fail('it is accepted')
}

test('what is wrong quotes up to 300 characters of the author, and has its place as facts', () => {
  const start = 'the field a has the type '
  const [most, more] = [300, 301].map((length) => 'T'.repeat(length - start.length))
  const sdlOf = (type: string | undefined): string => `type A {\n  a: ${type} }`
  const facts = { line: 2, column: 6 }
  assert.deepEqual(refusalOf(sdlOf(most)), { what: `${start}${most}`, facts })
  assert.deepEqual(refusalOf(sdlOf(more)), { what: `${start}${more?.slice(2)}…`, facts })
})

test('names have up to 128 letters, a type up to 256 fields, and brackets nest up to 32', () => {
  const [name, longer] = ['x'.repeat(128), 'x'.repeat(129)]
  assert.equal(parseRowType(`type ${name} { ${name}: Int }`).fields[0]?.name, name)
  const tooLong = `the name ${longer} has more than 128 letters`
  assert.equal(refusalOf(`type ${longer} { x: Int }`).what, tooLong)
  assert.equal(refusalOf(`type A { ${longer}: Int }`).what, tooLong)
  const typeOf = (fields: number): string =>
    `type A { ${Array.from({ length: fields }, (_, index) => `f${index}: Int`).join(' ')} }`
  assert.equal(parseRowType(typeOf(256)).fields.length, 256)
  assert.equal(refusalOf(typeOf(257)).what, 'this is field 257')
  const nested = (lists: number): string =>
    `type A { x: ${'['.repeat(lists)}Int${']'.repeat(lists)} y: [Int] }`
  assert.match(refusalOf(nested(31)).what, /^the field x has the type \[{31}Int/)
  assert.equal(refusalOf(nested(32)).what, 'more than 32 brackets are open at once')
})

test('a type gives a View its name, and rows their fields', () => {
  const sdl = `"""
Transfers of one token.
feed: single
"""
type Transfer @materialized(if: false) {
  "Who paid."
  from: String @index
  amount: BigInt
  topics: [String]
  arguments: JSON
}`
  assert.deepEqual(parseRowType(sdl), {
    name: 'Transfer',
    description: 'Transfers of one token.\nfeed: single',
    materialized: false,
    feed: 'single',
    fields: [
      { ...plain, name: 'from', scalar: 'String', index: true, description: 'Who paid.' },
      { ...plain, name: 'amount', scalar: 'BigInt' },
      { ...plain, name: 'topics', scalar: 'String', list: true },
      { ...plain, name: 'arguments', scalar: 'JSON' },
    ],
  })
})

describe('@materialized', () => {
  const cases: readonly [string, boolean][] = [
    ['', true],
    ['@materialized', true],
    ['@materialized(if: true)', true],
    ['@materialized(if: false)', false],
  ]
  for (const [directive, materialized] of cases) {
    test(`${directive || 'left out'} means ${materialized}`, () => {
      assert.equal(parseRowType(`type V ${directive} { x: Int }`).materialized, materialized)
    })
  }
})

test('without a line that says so no feeding discipline is asked for', () => {
  assert.equal(parseRowType('"we feed: the cats" type V { x: Int }').feed, null)
})

test('spaces around a feeding discipline do not count', () => {
  assert.equal(parseRowType('"  feed:\\t single \\r" type V { x: Int }').feed, 'single')
  assert.equal(parseRowType('" feed: stream" type V { x: Int }').feed, 'stream')
})

/** In a child that can be ended: a parser that goes over the spaces again and again takes hours for these. */
test('long spaces in the line of a feeding discipline are gone through once', async () => {
  const rowType = new URL('../../../src/views/rows/row-type.ts', import.meta.url).href
  const program = `
    const { parseRowType } = await import(${JSON.stringify(rowType)})
    const spaces = ' '.repeat(50_000)
    for (const description of ['feed:' + spaces + 'x' + '\\\\r' + 'x', spaces + 'x' + spaces + 'feed:'])
      try {
        console.log(parseRowType('"' + description + '" type V { x: Int }').feed)
      } catch (error) {
        console.log(error.code)
      }`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { timeout: 60_000, killSignal: 'SIGKILL' },
  )
  assert.equal(stdout, 'VIEWS_SDL_INVALID\nnull\n')
})

describe('an SDL is refused with the place, what is wrong and what is accepted', () => {
  const cases: readonly [string, string, RegExp, RegExp][] = [
    ['nothing', '', /^the SDL, line 1, column 1: Unexpected <EOF>/, /Write one type/],
    ['no type', 'scalar X', /line 1, column 1: this is not a type/, /Write one type/],
    [
      'two types',
      'type A { x: Int }\ntype B { y: Int }',
      /line 2, column 1: something follows/,
      /JSON/,
    ],
    ['no field', 'type A', /line 1, column 1: the type has no field/, /Give it one/],
    [
      'an interface',
      'type A implements B { x: Int }',
      /column 19: the type implements/,
      /Leave that out/,
    ],
    [
      'the name of a collection',
      'type Log { x: Int }',
      /column 6: the name Log is taken/,
      /another name/,
    ],
    ['the name of a scalar', 'type JSON { x: Int }', /the name JSON is taken/, /another name/],
    [
      'a name with our prefix',
      'type Ethereum__Mainnet__X { x: Int }',
      /looks like one of ours/,
      /underscores/,
    ],
    ['a name that begins as ours do', 'type _A { x: Int }', /looks like one of ours/, /a letter/],
    ...['true', 'false', 'null'].map((name): [string, string, RegExp, RegExp] => [
      `a field named ${name}`,
      `type A { ${name}: Int }`,
      new RegExp(`column 10: the name ${name} has a meaning`),
      /none of COUNT, .*, true, false, null/,
    ]),
    ['a field of ours', 'type A { _docID: ID }', /column 10: the name _docID has/, /COUNT/],
    ['the name of an aggregate', 'type A { SUM: Int }', /the name SUM has/, /COUNT/],
    [
      'the name of a type beside a View',
      'type TransferFilterArg { x: Int }',
      /is taken/,
      /another/,
    ],
    ['the name of an aggregate', 'type COUNT { x: Int }', /is taken/, /another/],
    ['a field twice', 'type A { x: Int x: Int }', /column 17: there are two fields x/, /Keep one/],
    [
      'arguments',
      'type A { x(y: Int): Int }',
      /column 12: the field x has arguments/,
      /rows hold values/,
    ],
    [
      'an unknown type',
      'type A { x: Address }',
      /column 13: the field x has the type Address/,
      /String, Int, Float/,
    ],
    ['a value that is never null', 'type A { x: Int! }', /has the type Int!/, /may be null/],
    ['a list of lists', 'type A { x: [[Int]] }', /has the type \[\[Int\]\]/, /lists of them/],
    [
      'an unknown directive',
      'type A @unique { x: Int }',
      /the type has @unique/,
      /@materialized\(if: true\)/,
    ],
    [
      'a condition that is none',
      'type A @materialized(if: "no") { x: Int }',
      /@materialized\(if: "no"\)/,
      /once/,
    ],
    [
      'two conditions',
      'type A @materialized @materialized(if: false) { x: Int }',
      /column 22/,
      /once/,
    ],
    [
      'an index with arguments',
      'type A { x: Int @index(unique: true) }',
      /x has @index\(unique: true\)/,
      /without/,
    ],
    ['an index on JSON', 'type A { x: JSON @index }', /the field x is JSON/, /Leave @index out/],
    [
      'two directives on a field',
      'type A { x: Int @index @index }',
      /column 24: the field x has two directives/,
      /@index/,
    ],
    [
      'two arguments of a condition',
      'type A @materialized(if: true, unless: true) { x: Int }',
      /the type has @materialized\(if: true, unless: true\)/,
      /once/,
    ],
    [
      'another argument of a condition',
      'type A @materialized(unless: true) { x: Int }',
      /the type has @materialized\(unless: true\)/,
      /once/,
    ],
    ['another directive', 'type A { x: Int @unique }', /column 17: .* x has @unique/, /@index/],
    ['a relation', 'type A { x: Int @relation(name: "y") }', /x has @relation/, /@index/],
    [
      'an unknown feed',
      '"feed: both" type A { x: Int }',
      /the line "feed: both"/,
      /feed: stream, or feed: single/,
    ],
    [
      'two feeds',
      '"""\nfeed: single\nfeed: single\n"""\ntype A { x: Int }',
      /line 1, column 1: the description has the line "feed: single"/,
      /one line/,
    ],
    [
      'brackets without end',
      `type A { x: ${'['.repeat(8_000)}`,
      /more than 32 brackets/,
      /Write one type/,
    ],
  ]
  for (const [what, sdl, message, remedy] of cases) {
    test(`one with ${what}`, () => {
      assertRefused(() => parseRowType(sdl), 'VIEWS_SDL_INVALID', { message, remedy })
    })
  }
})

test('whatever a stranger writes is a type or a refusal', () => {
  const words = [
    'type',
    'A',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    ':',
    '!',
    '@index',
    '@materialized',
    '"""',
    'x',
    'Int',
    '\n',
    '#',
  ]
  const parse = (sdl: string): void => assert.ok(parseRowType(sdl).fields.length > 0)
  assertParsesOrRefuses(parse, 'VIEWS_SDL_INVALID', words)
})

test('the registry chain takes the first type at the start of a line, also one in a description', () => {
  assert.equal(registryName('type V { x: Int }'), 'V')
  assert.equal(registryName('"""\ntype Other\n"""\ntype V { x: Int }'), 'Other')
  assert.equal(registryName('"..." type V { x: Int }'), null)
})
