/** Hostile requests that are short and cost much: lookups, comparisons, groups, sorts, large answers. */
import type { ErrorCode } from '../../../src/errors.ts'
import { list, noHash, repeat } from './repeat.ts'

/** A request and how it is answered. */
export interface HostileRequest {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  /** Why it is refused; null where it is answered. */
  readonly code: ErrorCode | null
}

const cost = 'GRAPHQL_COST_LIMIT'
const size = 'GRAPHQL_SIZE_LIMIT'
const rows = 'GRAPHQL_ROW_LIMIT'
const syntax = 'GRAPHQL_SYNTAX_LIMIT'

const patterns = (count: number): object[] =>
  list(count, (index) => ({ input: { _like: `%zz${index}%` } }))
const counts = (count: number): string =>
  repeat(count, (index) => `n${index}: COUNT(transactions: {filter: {value: {_ge: ${index}}}})`)

/** Values compared with many others. */
const comparing: Readonly<Record<string, HostileRequest>> = {
  '25 patterns on every transaction, three times': {
    query: `query ($f: TransactionFilterArg) { ${repeat(3, (index) => `a${index}: COUNT(Transaction: {filter: $f})`)} }`,
    variables: { f: { _or: patterns(25) } },
    code: null,
  },
  '600 patterns on calldata of 100,000 bytes': {
    query:
      'query ($f: TransactionFilterArg) { Transaction(filter: $f, order: {blockNumber: ASC}) { hash } }',
    variables: { f: { gas: { _gt: 0 }, _or: patterns(600) } },
    code: cost,
  },
  '450 patterns on the logs of each transaction of each block': {
    query: 'query ($l: LogFilterArg) { Block(filter: {transactions: {logs: $l}}) { number } }',
    variables: { l: { _or: list(450, (index) => ({ data: { _like: `%zz${index}` } })) } },
    code: cost,
  },
  '450 conditions on the CIDs of each record': {
    query:
      'query ($f: [AttestationRecordFilterArg!]) { AttestationRecord(filter: {_or: $f}) { vote_count } }',
    variables: { f: list(450, (index) => ({ CIDs: { _any: { _eq: `x${index}` } } })) },
    code: cost,
  },
  '480 counts of all logs': {
    query: `{ ${repeat(480, (index) => `n${index}: COUNT(Log: {filter: {data: {_like: "%zz%"}}})`)} }`,
    code: cost,
  },
  '400 sums of each block': {
    query: `{ Block { ${repeat(400, (index) => `n${index}: SUM(transactions: {field: value, filter: {value: {_ge: ${index}}}})`)} } }`,
    code: cost,
  },
  'a filter on 300 counts of each block': {
    query: `{ Block(filter: {_alias: {${repeat(300, (index) => `n${index}: {_ge: 0}`)}}}) { ${counts(300)} } }`,
    code: cost,
  },
  'an order by 16 counts of each block': {
    query: `{ Block(order: [${repeat(16, (index) => `{_alias: {n${index}: ASC}}`)}]) { ${counts(400)} } }`,
    code: cost,
  },
  'the commits of 20,000 CIDs': {
    query: 'query ($c: [ID!]) { _commits(cid: $c) { cid } }',
    variables: {
      c: list(20_000, () => 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'),
    },
    code: null,
  },
}

/** Values looked up, heights and identities. */
const lookingUp: Readonly<Record<string, HostileRequest>> = {
  '24,000 transaction hashes': {
    query: 'query ($h: [String!]) { Transaction(filter: {hash: {_in: $h}}) { hash } }',
    variables: { h: list(24_000, noHash) },
    code: null,
  },
  '24,000 block hashes': {
    query: 'query ($h: [String!]) { Log(filter: {blockHash: {_in: $h}}) { data } }',
    variables: { h: list(24_000, noHash) },
    code: null,
  },
  '24,000 addresses': {
    query: 'query ($a: [String!]) { Log(filter: {address: {_in: $a}}) { data } }',
    variables: { a: list(24_000, (index) => noHash(index).slice(0, 42)) },
    code: null,
  },
  '20,000 topics': {
    query: 'query ($t: [String!]) { Log(filter: {topics: {_any: {_in: $t}}}) { data } }',
    variables: { t: list(20_000, noHash) },
    code: null,
  },
  '600 addresses, one by one': {
    query: 'query ($f: [LogFilterArg!]) { Log(filter: {_or: $f}) { data } }',
    variables: { f: list(600, (index) => ({ address: { _eq: noHash(index).slice(0, 42) } })) },
    code: null,
  },
  '24,000 heights and 450 ranges': {
    query:
      'query ($h: [Int!], $f: [LogFilterArg!]) { Log(filter: {blockNumber: {_in: $h}, _and: $f}) { data } }',
    variables: {
      h: list(24_000, (index) => 2 * index + 100_000),
      f: list(450, () => ({ blockNumber: { _ge: 0 } })),
    },
    code: null,
  },
  '20,000 documents that records attest': {
    query:
      'query ($d: [String!]) { AttestationRecord(filter: {attested_doc: {_in: $d}}) { vote_count } }',
    variables: { d: list(20_000, (index) => `tx-${noHash(index)}`) },
    code: null,
  },
  '20,000 logs that are not there': {
    query: 'query ($d: [ID!]) { Log(docID: $d) { logIndex } }',
    variables: { d: list(20_000, (index) => `log-${noHash(1)}-${index}`) },
    code: null,
  },
}

/** Groups and sorts of everything. */
const grouping: Readonly<Record<string, HostileRequest>> = {
  'a group for each transaction, with all of its values': {
    query:
      '{ Transaction(groupBy: [hash, input, from, to, value, nonce, gas, gasPrice, r, s]) { hash n: COUNT(GROUP: {}) } }',
    code: null,
  },
  'a group for each calldata, with its members': {
    query: '{ Transaction(groupBy: [input]) { input GROUP { hash input } } }',
    code: rows,
  },
  '450 counts of each group': {
    query: `{ Log(groupBy: [blockNumber]) { blockNumber ${repeat(450, (index) => `n${index}: COUNT(GROUP: {filter: {logIndex: {_ge: ${index}}}})`)} } }`,
    code: null,
  },
  'the members of one group, sorted again and again': {
    query: `{ Log(groupBy: []) { ${repeat(8, (index) => `n${index}: MAX(GROUP: {field: logIndex, order: [{data: ASC}, {transactionHash: DESC}], limit: 10})`)} } }`,
    code: null,
  },
  'groups below each block': {
    query: '{ Block { transactions(groupBy: [input], limit: 1) { input n: COUNT(GROUP: {}) } } }',
    code: null,
  },
  'all logs sorted by 16 keys': {
    query: `{ Log(order: [${['blockHash', 'address', 'transactionHash', 'data', 'logIndex', 'transactionIndex', 'removed', 'block_id', 'transaction_id', '_docID', '_attestations'].map((key) => `{${key}: ASC}`).join(' ')} {transaction: {from: ASC}} {transaction: {to: ASC}} {transaction: {value: ASC}} {transaction: {input: ASC}} {block: {logsBloom: ASC}}], limit: 10000) { logIndex } }`,
    code: null,
  },
  'a page far into a sorted list': {
    query: '{ Log(order: {data: ASC}, offset: 1000000000, limit: 1) { data } }',
    code: rows,
  },
}

/** Answers that are too large. */
const answering: Readonly<Record<string, HostileRequest>> = {
  'everything below everything': {
    query:
      '{ Block { transactions { logs { transaction { logs { transaction { logs { data } } } } } } } }',
    code: rows,
  },
  'all blooms of all blocks of all transactions': {
    query: `{ Transaction(limit: 8000) { block { ${repeat(30, (index) => `b${index}: logsBloom`)} } } }`,
    code: size,
  },
  'calldata of 100,000 bytes under 990 names': {
    query: `{ Transaction(order: {blockNumber: ASC}, limit: 100) { ${repeat(990, (index) => `i${index}: input`)} } }`,
    code: size,
  },
  'deltas of 100,000 bytes under 900 names': {
    query: `{ Transaction(order: {blockNumber: ASC}, limit: 100) { _version { ${repeat(900, (index) => `d${index}: delta`)} } } }`,
    code: size,
  },
  '400 versions of each transaction': {
    query: `{ Transaction(limit: 8000) { ${repeat(400, (index) => `v${index}: _version { docID }`)} } }`,
    code: size,
  },
  '400 proofs of each transaction': {
    query: `{ Transaction(limit: 8000) { ${repeat(400, (index) => `p${index}: _proof { path }`)} } }`,
    code: size,
  },
  'the schema fifty times': {
    query: `{ ${repeat(50, (index) => `s${index}: __schema { types { fields { name args { name type { name ofType { name } } } type { name } } inputFields { name type { name } } } }`)} }`,
    code: null,
  },
  'the fields of each type 150 times': {
    query: `{ __schema { types { ${repeat(150, (index) => `f${index}: fields(includeDeprecated: true) { name description args { name description } }`)} } } }`,
    code: null,
  },
  'types within types within types': {
    query: `{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }`,
    code: 'GRAPHQL_DEPTH_LIMIT',
  },
  'a mutation': {
    query: 'mutation { create_Block(input: {}) { number } }',
    code: 'GRAPHQL_READ_ONLY',
  },
  'a negative offset': {
    query: '{ Block(offset: -1) { number } }',
    code: 'GRAPHQL_CONDITION_INVALID',
  },
  'a mistake that quotes 100,000 characters': {
    query: `query ($f: [LogFilterArg!]) { Log(filter: {_or: $f}) { data } }`,
    variables: { f: list(10, () => ({ address: { _eq: 'x'.repeat(100_000) } })) },
    code: 'GRAPHQL_CONDITION_INVALID',
  },
  'a pattern of 10,000 characters': {
    query: 'query ($p: String) { Transaction(filter: {input: {_like: $p}}) { hash } }',
    variables: { p: `%${'0'.repeat(5_000)}1${'0'.repeat(5_000)}%` },
    code: syntax,
  },
}

/** All of them. */
export const costlyRequests: Readonly<Record<string, HostileRequest>> = {
  ...comparing,
  ...lookingUp,
  ...grouping,
  ...answering,
}
