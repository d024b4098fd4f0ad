import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { print } from 'graphql'
import { networkOfQuery } from '../../src/views/query-network.ts'
import {
  acceptedNames,
  checkMaterializable,
  parseViewQuery,
  selectedNames,
  type ViewQuery,
} from '../../src/views/view-query.ts'
import { assertParsesOrRefuses, assertRefused } from './refusals.ts'

const network = 'Ethereum__Mainnet'

function parsed(text: string): ViewQuery {
  const query = parseViewQuery(text, network)
  assert.ok('selection' in query)
  return query
}

test('short names get the prefix of the Host’s chain, and full names are taken as they are', () => {
  for (const name of ['Log', 'Ethereum__Mainnet__Log']) {
    const { collection, selection } = parsed(
      `${name}(filter: {address: {_eq: "0x1"}}) { data block { hash } }`,
    )
    assert.equal(collection, 'Log')
    assert.equal(
      print(selection).replace(/\s+/g, ' '),
      'Ethereum__Mainnet__Log(filter: {address: {_eq: "0x1"}}) { data block { hash } }',
    )
  }
})

test('of several selections the first counts', () => {
  assert.equal(parsed('all: Transaction { hash } Log { data }').collection, 'Transaction')
})

test('a View of another chain is foreign, and nothing is wrong with it', () => {
  assert.deepEqual(parseViewQuery('Arbitrum__One__Log { data }', network), {
    foreign: 'Arbitrum__One__Log',
  })
  for (const name of ['Arbitrum__Log', 'A__B__C__Log', 'Arbitrum__One__Event', 'Arbitrum_One_Log'])
    assert.throws(() => parseViewQuery(`${name} { data }`, network), {
      code: 'VIEWS_QUERY_INVALID',
      message: `the query, line 1, column 1: ${name} is not a collection`,
    })
})

test('the network of a query is the one that it names, or else that of Ethereum', () => {
  assert.equal(networkOfQuery('Arbitrum__One__Log { data }'), 'Arbitrum__One')
  for (const name of ['Log', 'Ethereum__Mainnet__Log'])
    assert.equal(networkOfQuery(`${name} { data }`), 'Ethereum__Mainnet')
  assert.throws(() => networkOfQuery('Event { data }'), { code: 'VIEWS_QUERY_INVALID' })
})

describe('a query is refused with the place, what is wrong and what is accepted', () => {
  const cases: readonly [string, string, RegExp, RegExp][] = [
    ['nothing', '', /^the query, line 1, column 1: /, /without outer braces/],
    ['outer braces', '{ Log { data } }', /line 1, column 1: /, /without outer braces/],
    [
      'a second operation',
      'Log { data } } { Block { hash }',
      /column 16: this follows the bracket/,
      /Begin with/,
    ],
    ['no end', 'Log {\n data', /line 2, column 6: /, /without outer braces/],
    [
      'an unknown collection',
      'Event { data }',
      /line 1, column 1: Event is not a collection/,
      /read no other Views/,
    ],
    [
      'a fragment',
      '... on Query { Log { data } }',
      /a fragment stands where/,
      /Begin with one of Block/,
    ],
    [
      'a fragment within',
      'Log {\n ... { data } }',
      /line 2, column 2: a View has no fragments/,
      /out/,
    ],
    ['a variable', 'Log(limit: $n) { data }', /column 12: a View has no variables/, /out/],
    ['a directive', 'Log @skip(if: true) { data }', /column 5: a View has no directives/, /out/],
    [
      'brackets without end',
      'Log { a '.repeat(1_000),
      /more than 32 brackets/,
      /without outer braces/,
    ],
  ]
  for (const [what, text, message, remedy] of cases) {
    test(`one with ${what}`, () => refuses(() => parseViewQuery(text, network), message, remedy))
  }
})

function refuses(attempt: () => unknown, message: RegExp, remedy: RegExp): void {
  assertRefused(attempt, 'VIEWS_QUERY_INVALID', { message, remedy })
}

describe('a materialised View', () => {
  const cases: readonly [string, string, RegExp][] = [
    ['votes', 'Log { data _attestations }', /column 12: _attestations differs between Hosts/],
    [
      'votes in a condition',
      'Log(filter: {_attestations: {_geq: 2}}) { data }',
      /_attestations differs/,
    ],
    [
      'votes of a relation',
      'Log(filter: {block: {_attestations: {_geq: 2}}}) { data }',
      /_attestations differs/,
    ],
    ['an order by votes', 'Log(order: {_attestations: ASC}) { data }', /_attestations differs/],
    ['proofs', 'Log { _proof { root } }', /_proof differs/],
    ['versions', 'Log { _version { cid } }', /_version differs/],
    ['the total difficulty', 'Log { block { totalDifficulty } }', /totalDifficulty differs/],
    ['a block by its CID', 'Block(cid: "bafy") { hash }', /column 7: cid differs between Hosts/],
    ['a log by its CID', 'Log(filter: {data: {_eq: "0x"}}, cid: "bafy") { data }', /cid differs/],
    ['seals', 'BlockSignature { merkleRoot }', /BlockSignature differs/],
    ['snapshots', 'SnapshotSignature { merkleRoot }', /SnapshotSignature differs/],
    ['attestation records', 'AttestationRecord { vote_count }', /AttestationRecord differs/],
    ['a limit', 'Log(limit: 5) { data }', /column 5: limit says nothing about a block alone/],
    ['a limit of a relation', 'Block { transactions(offset: 1) { hash } }', /offset says nothing/],
    ['groups', 'Log(groupBy: [address]) { address }', /groupBy says nothing/],
    ['aggregates', 'Block { _count(transactions: {}) }', /_count says nothing/],
    ['aggregates in capitals', 'Block { SUM(transactions: {field: gas}) }', /SUM says nothing/],
    ['members of a group', 'Log { _group { data } }', /_group says nothing/],
  ]
  for (const [what, text, message] of cases) {
    test(`may not ask for ${what}`, () => {
      refuses(() => checkMaterializable(parsed(text)), message, /@materialized\(if: false\)/)
    })
  }

  test('may have conditions, an order and relations', () => {
    const text =
      'Log(filter: {block: {number: {_gt: 5}}}, order: {data: ASC}) { data block { hash } }'
    assert.doesNotThrow(() => checkMaterializable(parsed(text)))
  })
})

test('what a View with stored rows may not ask for is named apart, among collections and fields', () => {
  refuses(
    () => parsed('Event { data }'),
    /Event is not a collection/,
    /^Begin with one of Block, Transaction, Log, AccessListEntry, and with @materialized\(if: false\) BlockSignature, SnapshotSignature, AttestationRecord, short or/,
  )
  const stored = ['hash', 'number', 'transactions']
  const apart = ['totalDifficulty', '_version', '_proof', '_attestations']
  const check = (field: string) => () => checkMaterializable(parsed(`Block { ${field} }`))
  for (const field of stored) assert.doesNotThrow(check(field))
  for (const field of apart) assert.throws(check(field), { code: 'VIEWS_QUERY_INVALID' })
  assert.equal(
    acceptedNames([...apart, ...stored]),
    `${stored.join(', ')}, and with @materialized(if: false) ${apart.join(', ')}`,
  )
  assert.equal(acceptedNames(['hash', 'number']), 'hash, number')
})

test('what is selected is named as documents have it, of the collection or of one relation', () => {
  const query = parsed('Log { data at: address transaction { hash to: from } block { number } }')
  assert.deepEqual(selectedNames(query), ['data', 'at', 'transaction', 'block'])
  assert.deepEqual(selectedNames(query, 'transaction'), ['hash', 'to'])
  assert.deepEqual(selectedNames(query, 'accessList'), [])
})

test('whatever a stranger writes is a query or a refusal', () => {
  const words = [
    'Log',
    'Block',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    ':',
    '...',
    '$x',
    '@skip',
    'data',
    '"',
    '1',
    '\n',
  ]
  const parse = (text: string): void => void parseViewQuery(text, network)
  assertParsesOrRefuses(parse, 'VIEWS_QUERY_INVALID', words)
})
