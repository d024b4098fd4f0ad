/** What is said of a query that lenses for logs cannot use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { toFinding } from '../../../src/toolkit/trial/finding.ts'
import { queryFindings, refineFinding } from '../../../src/toolkit/trial/query-findings.ts'
import type { FieldCount } from '../../../src/toolkit/trial/trial-job.ts'
import { parseViewQuery, type ViewQuery } from '../../../src/views/view-query.ts'

function queryOf(text: string): ViewQuery {
  const query = parseViewQuery(text, 'Ethereum__Mainnet')
  assert.ok(!('foreign' in query))
  return query
}

const count = (name: string, change: Partial<FieldCount> = {}): FieldCount => ({
  ...{ name, type: 'String', values: 0, nulls: 2, missing: 0, wrongType: 0, wrongExample: null },
  ...change,
})
const empty = ['to', 'from', 'hash', 'other'].map((name) => count(name))

interface Facts {
  readonly lenses?: number
  readonly rows?: number
  readonly fields?: readonly FieldCount[]
}

/** What is found of rows whose fields are all empty, unless others are given. */
const foundOf = (text: string, { lenses = 1, rows = 2, fields = empty }: Facts = {}): string[] =>
  queryFindings({ query: queryOf(text), lenses, rows, fields }).map(
    ({ severity, code, message }) => `${severity} ${code}: ${message}`,
  )

const flat = 'Log { address transactionHash }'
const flatFound = (names: string): string =>
  `warning QUERY_FLAT_FIELD_INSTEAD_OF_RELATION: the query selects transactionHash, lenses for logs read transaction { hash }, and no row has a value of ${names}`
const missing = (name: string): string =>
  `warning QUERY_MISSING_TRANSACTION_FIELD: the query selects transaction without ${name}, and no row has a value of ${name}`

test('a flat field in place of the relation is reported where a field of the rows has no value', () => {
  assert.deepEqual(foundOf(flat), [flatFound('to, from, hash, other')])
  const some = [
    count('to', { values: 1, wrongType: 1 }),
    count('from', { wrongType: 1 }),
    count('hash'),
  ]
  assert.deepEqual(foundOf(flat, { fields: some }), [flatFound('hash')])
  assert.deepEqual(foundOf(flat, { fields: some.slice(0, 2) }), [])
  assert.deepEqual(foundOf('Log { address }'), [])
})

test('each field of the transaction that is missing and has no value in any row is reported', () => {
  const selecting = (fields: string): string => `Log { address transaction { ${fields} } }`
  assert.deepEqual(foundOf(selecting('nonce')), ['hash', 'from', 'to'].map(missing))
  assert.deepEqual(foundOf(selecting('hash to')), [missing('from')])
  assert.deepEqual(foundOf(selecting('hash from to')), [])
  const fields = [count('from', { values: 1 }), count('other')]
  assert.deepEqual(foundOf(selecting('hash'), { fields }), [])
  assert.deepEqual(foundOf('Log { transactionHash transaction { hash from to } }'), [])
})

test('nothing is said of a View without lenses, without rows, or of another collection', () => {
  assert.deepEqual(foundOf(flat, { lenses: 0 }), [])
  assert.deepEqual(foundOf(flat, { rows: 0 }), [])
  assert.deepEqual(foundOf('Transaction { hash }'), [])
  assert.deepEqual(foundOf('AccessListEntry { address transaction { nonce } }'), [])
})

test('a failure for want of a field is reported with what the query selects in its place', () => {
  const codeOf = (message: string, text: string): string =>
    refineFinding(toFinding(new ServiceError('LENS_FAILED', message)), queryOf(text)).code
  const related = 'Log { address transaction { hash } }'
  for (const [message, text, code] of [
    ["no field 'transaction'", flat, 'QUERY_FLAT_FIELD_INSTEAD_OF_RELATION'],
    ['Requested: transaction', flat, 'QUERY_FLAT_FIELD_INSTEAD_OF_RELATION'],
    ["no field 'transaction'", 'Log { address }', 'QUERY_MISSING_EVM_RELATION'],
    ["no field 'block'", flat, 'QUERY_MISSING_EVM_RELATION'],
    ["no field 'from'", related, 'QUERY_MISSING_TRANSACTION_FIELD'],
    ['Requested: to', related, 'QUERY_MISSING_TRANSACTION_FIELD'],
    ["no field 'hash'", related, 'QUERY_MISSING_EVM_FIELD'],
    ["no field 'data'", related, 'QUERY_MISSING_EVM_FIELD'],
    ["no field 'from'", flat, 'QUERY_MISSING_EVM_FIELD'],
    ['out of luck', related, 'LENS_FAILED'],
  ] as const)
    assert.equal(codeOf(message, text), code, `${message} of ${text}`)
})

test('a failure that is not one of a lens stays as it is, whatever it says', () => {
  for (const [message, text] of [
    ["no field 'transaction'", flat],
    ["no field 'from'", 'Log { transaction { hash } }'],
  ] as const) {
    const failure = toFinding(new ServiceError('VIEWS_QUERY_INVALID', message))
    assert.deepEqual(refineFinding(failure, queryOf(text)), failure)
  }
})

test('what to do about a flat field is to select the relation, and the rest of the failure stays', () => {
  const failure = toFinding(new ServiceError('LENS_FAILED', "no field 'transaction'"), 7)
  assert.deepEqual(refineFinding(failure, queryOf(flat)), {
    ...{ ...failure, code: 'QUERY_FLAT_FIELD_INSTEAD_OF_RELATION' },
    remedy: 'Select transaction { hash } in place of transactionHash.',
  })
})
