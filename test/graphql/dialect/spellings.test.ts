import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pick } from '../../support/chain/expected-documents.ts'
import { blocks, entries, logs, openDialectApi, transactions } from '../support/dialect.ts'

/** One meaning, how it is written in each generation of the dialect, and what it answers. */
interface Spellings {
  readonly meaning: string
  readonly queries: readonly string[]
  readonly variables?: Readonly<Record<string, unknown>>
  readonly data: unknown
}

/** One query for each of the spellings that stand where `…` is. */
const written = (query: string, ...spellings: readonly string[]): string[] =>
  spellings.map((spelling) => query.replaceAll('…', spelling))

const numbers = (from: number, to: number) =>
  blocks.filter(({ number }) => number >= from && number <= to).map(({ number }) => ({ number }))
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const heights = blocks.map(({ number }) => number)
const [log] = logs
const [entry] = entries
const block = blocks[4]
const types = ['0x2', '0x0', '0x1']

const spellings: readonly Spellings[] = [
  {
    meaning: 'not equal',
    queries: written('{ Block(filter: {number: {…: 101}}) { number } }', '_ne', '_neq'),
    data: { Block: numbers(102, 112) },
  },
  {
    meaning: 'greater or equal',
    queries: written('{ Block(filter: {number: {…: 110}}) { number } }', '_ge', '_geq', '_gte'),
    data: { Block: numbers(110, 112) },
  },
  {
    meaning: 'less or equal',
    queries: written('{ Block(filter: {number: {…: 103}}) { number } }', '_le', '_leq', '_lte'),
    data: { Block: numbers(101, 103) },
  },
  {
    meaning: 'equal, and its shorthand',
    queries: [
      '{ Block(filter: {number: {_eq: 105}}) { number } }',
      '{ Block(filter: {number: 105}) { number } }',
      'query ($n: Int) { Block(filter: {number: {_eq: $n}}) { number } }',
      'query ($n: Int) { Block(filter: {number: $n}) { number } }',
      'query ($n: Int!) { Block(filter: {number: $n}) { number } }',
      'query ($block: IntOperatorBlock) { Block(filter: {number: $block}) { number } }',
      'query ($f: BlockFilterArg) { Block(filter: $f) { number } }',
      'query ($f: Ethereum__Mainnet__BlockFilterArg) { Block(filter: $f) { number } }',
    ],
    variables: { n: 105, block: { _eq: 105 }, f: { number: 105 } },
    data: { Block: numbers(105, 105) },
  },
  {
    meaning: 'a list equal to another',
    queries: [
      'query ($t: [String]) { Log(filter: {topics: {_eq: $t}}) { logIndex } }',
      'query ($t: [String]) { Log(filter: {topics: $t}) { logIndex } }',
      'query ($t: [String]) { Log(filter: {_not: {topics: {_neq: $t}}}) { logIndex } }',
      'query ($t: [String]) { Log(filter: {_not: {topics: {_ne: $t}}}) { logIndex } }',
    ],
    variables: { t: log?.topics },
    data: { Log: [{ logIndex: 0 }] },
  },
  {
    meaning: 'how many there are',
    queries: written('{ n: …(Block: {filter: {number: {_gt: 105}}}) }', '_count', 'COUNT'),
    data: { n: 7 },
  },
  {
    meaning: 'a sum',
    queries: written('{ n: …(Block: {field: number}) }', '_sum', 'SUM'),
    data: { n: sum(heights) },
  },
  {
    meaning: 'an average',
    queries: written('{ n: …(Block: {field: number}) }', '_avg', 'AVG'),
    data: { n: sum(heights) / heights.length },
  },
  {
    meaning: 'the smallest',
    queries: written('{ n: …(Block: {field: number}) }', '_min', 'MIN'),
    data: { n: 101 },
  },
  {
    meaning: 'the largest',
    queries: written('{ n: …(Ethereum__Mainnet__Block: {field: number}) }', '_max', 'MAX'),
    data: { n: 112 },
  },
  {
    meaning: 'an aggregate over a relation',
    queries: written(
      '{ Block(limit: 1) { n: …(transactions: {filter: {transactionIndex: {_gt: 0}}}) } }',
      '_count',
      'COUNT',
    ),
    data: { Block: [{ n: 3 }] },
  },
  {
    meaning: 'the members of a group',
    queries: [
      '{ Transaction(groupBy: [type]) { type n: _count(_group: {}) members: _group(limit: 1) { hash } } }',
      '{ Transaction(groupBy: [type]) { type n: COUNT(GROUP: {}) members: GROUP(limit: 1) { hash } } }',
      '{ Transaction(groupBy: type) { type n: COUNT(_group: {}) members: _group(limit: 1) { hash } } }',
    ],
    data: {
      Transaction: types.map((type) => {
        const members = transactions.filter((one) => one['type'] === type)
        return { type, n: members.length, members: [pick(members[0] ?? {}, 'hash')] }
      }),
    },
  },
  {
    meaning: 'the id of a related block',
    queries: written(
      `{ Transaction(filter: {…: {_eq: "${block?.['_docID']}"}}, order: {…: ASC}) { id: … } }`,
      'block_id',
      '_blockID',
    ),
    data: { Transaction: Array.from({ length: 4 }, () => ({ id: block?.['_docID'] })) },
  },
  {
    meaning: 'the transactions of a block',
    queries: [
      `{ Transaction(filter: {block: {_docID: {_eq: "${block?.['_docID']}"}}}) { hash } }`,
      `{ Transaction(filter: {block: {hash: "${block?.hash}"}}) { hash } }`,
      `{ Transaction(filter: {_blockID: "${block?.['_docID']}"}) { hash } }`,
      '{ Transaction(filter: {blockNumber: 105}) { hash } }',
    ],
    data: { Transaction: block?.transactions.map(({ hash }) => ({ hash })) },
  },
  {
    meaning: 'the id of a related transaction',
    queries: written(
      `{ AccessListEntry(filter: {…: {_eq: "${entry?.['transaction_id']}"}}) { id: … address } }`,
      'transaction_id',
      '_transactionID',
    ),
    data: {
      AccessListEntry: entry?.transaction.accessList.map(({ address }) => ({
        id: entry['transaction_id'],
        address,
      })),
    },
  },
  {
    meaning: 'the form of a document’s bytes',
    queries: written(
      '{ Block(limit: 1) { _version { id: … } } }',
      'schemaVersionId',
      'collectionVersionId',
    ),
    data: { Block: [{ _version: [{ id: 'viewmesh/document/1' }] }] },
  },
  {
    meaning: 'what a document’s version is made of, which is nothing',
    queries: written(
      '{ Block(limit: 1) { _version { fieldName made: … } } }',
      'links { name cid }',
      'links { linkName cid }',
      'heads { cid }',
    ),
    data: { Block: [{ _version: [{ fieldName: '_C', made: [] }] }] },
  },
  {
    meaning: 'one document by its docID',
    queries: [
      `{ Block(docID: "${block?.['_docID']}") { number } }`,
      `{ Block(docID: ["${block?.['_docID']}", "${block?.['_docID']}"]) { number } }`,
      `{ Block(filter: {_docID: {_eq: "${block?.['_docID']}"}}) { number } }`,
      `{ Block(filter: {_docID: {_in: ["${block?.['_docID']}"]}}) { number } }`,
      'query ($id: ID!) { Block(docID: [$id]) { number } }',
      'query ($id: [ID!]) { Block(docID: $id) { number } }',
      'query ($id: String) { Block(filter: {_docID: {_eq: $id}}) { number } }',
    ],
    variables: { id: block?.['_docID'] },
    data: { Block: numbers(105, 105) },
  },
  {
    meaning: 'an order',
    queries: [
      '{ Block(order: {number: DESC}, limit: 2) { number } }',
      '{ Block(order: [{number: DESC}], limit: 2) { number } }',
      '{ Block(order: [{}, null, {number: DESC}], limit: 2) { number } }',
      'query ($o: [BlockOrderArg]) { Block(order: $o, limit: 2) { number } }',
      'query ($o: Ethereum__Mainnet__BlockOrderArg) { Block(order: [$o], limit: 2) { number } }',
    ],
    variables: { o: { number: 'DESC' } },
    data: { Block: numbers(111, 112).toReversed() },
  },
  {
    meaning: 'a collection, by its short and its full name',
    queries: written('{ rows: …(limit: 2) { number } }', 'Block', 'Ethereum__Mainnet__Block'),
    data: { rows: numbers(101, 102) },
  },
  {
    meaning: 'a fragment on a type, by its short and its full name',
    queries: written(
      '{ Block(limit: 1) { ...Place ... on … { number } } } fragment Place on … { hash }',
      'Block',
      'Ethereum__Mainnet__Block',
    ),
    data: { Block: [{ hash: blocks[0]?.hash, number: 101 }] },
  },
  {
    meaning: 'a query',
    queries: [
      '{ Block(limit: 1) { number } }',
      'query { Block(limit: 1) { number } }',
      'query Named { Block(limit: 1) { number } }',
      'query Unused($n: Int) { Block(limit: 1) { number } }',
      '{ Block(limit: 1, offset: null, filter: {}, order: [], showDeleted: true) { number } }',
    ],
    data: { Block: numbers(101, 101) },
  },
]

test('every spelling of the dialect means the same', async (t) => {
  const api = await openDialectApi(t)
  for (const { meaning, queries, variables, data } of spellings) {
    await t.test(meaning, async () => {
      for (const query of queries) {
        assert.deepEqual(await api.ask(query, variables), { status: 200, body: { data } }, query)
      }
    })
  }
})
