/**
 * Hostile requests: each asks for as much of one thing as fits into a request, and says how it is
 * answered.
 */
import type { ErrorCode } from '../../../src/errors.ts'
import { costlyRequests, type HostileRequest } from './costly-requests.ts'
import { list, noHash, repeat } from './repeat.ts'

const syntax = 'GRAPHQL_SYNTAX_LIMIT'

/** A filter of the short name's type in a variable that stands in so many places. */
const filterInPlaces = (places: number, filter: unknown, code: ErrorCode | null = syntax) => ({
  query: `query ($f: LogFilterArg) { ${repeat(places, (index) => `a${index}: Log(filter: $f, limit: 1) { data }`)} }`,
  variables: { f: filter },
  code,
})

const atHeight = (): object => ({ blockNumber: 1 })

/** More than a request may hold, in its text or in its variables. */
const tooLong: Readonly<Record<string, HostileRequest>> = {
  'a group key 100,000 times in a variable': {
    query: 'query ($g: [LogField!]) { Log(groupBy: $g) { address } }',
    variables: { g: list(100_000, () => 'address') },
    code: syntax,
  },
  'a group key 49,000 times in a variable, which is once': {
    query: 'query ($g: [LogField!]) { Log(groupBy: $g, limit: 3) { address } }',
    variables: { g: list(49_000, () => 'address') },
    code: null,
  },
  'a group key 9,900 times in the text, which is once': {
    query: `{ Log(groupBy: [${repeat(9_900, () => 'address')}], limit: 3) { address } }`,
    code: null,
  },
  '100,000 conditions in a variable': filterInPlaces(1, { _or: list(100_000, atHeight) }),
  '100,000 conditions in a variable that is used twelve times': filterInPlaces(12, {
    _or: list(100_000, atHeight),
  }),
  '900 conditions in a variable that is used sixty times': filterInPlaces(60, {
    _or: list(450, atHeight),
  }),
  '20,000 patterns': filterInPlaces(1, {
    _or: list(20_000, (index) => ({ data: { _like: `%zz${index}%` } })),
  }),
  'half a million empty objects': filterInPlaces(1, { _and: list(500_000, () => ({})) }),
  '140,000 empty objects': filterInPlaces(1, { _and: list(70_000, () => ({})) }),
  'half a million empty lists': filterInPlaces(1, { _and: list(500_000, () => []) }),
  'a pattern of two million characters in 300 places': {
    query: `query ($p: String) { ${repeat(300, (index) => `a${index}: Log(filter: {data: {_like: $p}}, limit: 1) { data }`)} }`,
    variables: { p: '%'.repeat(1_900_000) },
    code: syntax,
  },
  '24,000 hashes in 400 places': {
    query: `query ($h: [String!]) { ${repeat(400, (index) => `a${index}: Block(filter: {parentHash: {_in: $h}}) { hash }`)} }`,
    variables: { h: list(24_000, noHash) },
    code: syntax,
  },
  '100,000 docIDs': {
    query: 'query ($d: [ID!]) { Log(docID: $d) { data } }',
    variables: { d: list(100_000, (index) => index) },
    code: syntax,
  },
  'variables of 2,000 levels': {
    query: 'query ($f: LogFilterArg) { Log(filter: $f) { data } }',
    variables: { f: list(2_000, () => 0).reduce<object>((inner) => ({ _not: inner }), {}) },
    code: syntax,
  },
  'an order of 100,000 keys in a variable': {
    query: 'query ($o: [LogOrderArg]) { Log(order: $o, limit: 10) { data } }',
    variables: { o: list(100_000, () => ({ data: 'ASC' })) },
    code: syntax,
  },
  'an order of 1,900 keys in the text': {
    query: `{ Log(order: [${repeat(1_900, () => '{data: ASC}')}]) { logIndex } }`,
    code: syntax,
  },
  'an order of 20 keys': {
    query: `{ Block(order: [${repeat(20, (index) => `{_alias: {n${index}: ASC}}`)}]) { ${repeat(20, (index) => `n${index}: COUNT(transactions: {offset: ${index}})`)} } }`,
    code: syntax,
  },
  'more than 10,000 tokens': {
    query: `{ ${repeat(4_000, (index) => `a${index}: __typename`)} }`,
    code: syntax,
  },
  '650,000 comments': {
    query: `{ Block(limit: 1) { number } }\n${'#\n'.repeat(650_000)}`,
    code: syntax,
  },
  'mistakes after a million lines': {
    query: `${'\n'.repeat(1_000_000)}{ ${repeat(20, (index) => `x${index}`)} }`,
    code: syntax,
  },
  'names of 100,000 characters': {
    query: `{ ${repeat(18, (index) => `a${index}: ${'x'.repeat(100_000)}`)} }`,
    code: syntax,
  },
  '70 brackets within each other': {
    query: `{ Log(filter: ${'{_not: '.repeat(70)}{}${'}'.repeat(70)}) { data } }`,
    code: syntax,
  },
  '1,100 fields': {
    query: `{ Block { ${repeat(1_100, (index) => `f${index}: number`)} } }`,
    code: syntax,
  },
  'fragments that double ten times': {
    query: `{ Block { ...f0 } } ${repeat(10, (index) => `fragment f${index} on Block { a: transactions { block { ...f${index + 1} } } b: transactions { block { ...f${index + 1} } } }`)} fragment f10 on Block { number }`,
    code: syntax,
  },
  '60 fragments': {
    query: `{ Block { ${repeat(60, (index) => `...f${index}`)} } } ${repeat(60, (index) => `fragment f${index} on Block { number }`)}`,
    code: syntax,
  },
  'one field 441 times through fragments': {
    query: `{ Block(limit: 1) { ${repeat(49, (index) => `...f${index}`)} } } ${repeat(49, (index) => `fragment f${index} on Block { ${repeat(9, () => 't: transactions { hash }')} }`)}`,
    code: syntax,
  },
  'fields that multiply level by level': {
    query: `{ Transaction(limit: 1) { ${[3, 3, 3, 3, 3].reduce((below, count, level) => repeat(count, () => `${level % 2 === 0 ? 'block' : 'transactions'} { ${below} }`), 'hash')} } }`,
    code: syntax,
  },
  '400 operations with one fragment': {
    query: `${repeat(400, (index) => `query q${index} { ...f }`)} fragment f on Query { ${repeat(200, (index) => `a${index}: Block { number }`)} }`,
    code: syntax,
  },
  'a selection of 20 levels': {
    query: `{ Block ${'{ transactions { block '.repeat(10)}{ number }${' } }'.repeat(10)} }`,
    code: 'GRAPHQL_DEPTH_LIMIT',
  },
}

/** Everything, by what it is. */
export const hostileRequests: Readonly<Record<string, HostileRequest>> = {
  ...tooLong,
  ...costlyRequests,
}
