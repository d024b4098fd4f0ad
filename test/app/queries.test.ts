/** How an application asks its own store: what a query may say, and what ends it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { QueryOptions } from '../../src/app/contract.ts'
import { createQueries } from '../../src/app/queries.ts'
import { ServiceError } from '../../src/errors.ts'
import { openGraphqlRoom } from '../graphql/support/graphql-room.ts'

type Queries = ReturnType<typeof createQueries>

/** Two Generators are accepted, and the store has six blocks. */
async function open(
  t: TestContext,
  minimumAttestations = 0,
): Promise<Queries & { readonly closing: AbortController }> {
  const { graphql } = await openGraphqlRoom(t)
  const closing = new AbortController()
  const checked = { minimumAttestations, signers: new Set(['one', 'two']) }
  const queries = createQueries({ graphql, isReady: () => true }, checked, closing.signal)
  return { ...queries, closing }
}

const count = '{ COUNT(Block: {}) }'
const logs = 'subscription { Log { data } }'

test('a query has variables and an operation, and its answer says what it lacks', async (t) => {
  const { query } = await open(t)
  assert.deepEqual(await query(count), { data: { COUNT: 6 }, incomplete: [] })
  const text =
    'query A($n: Int) { Block(filter: {number: $n}) { number } } query B { b: __typename }'
  const options = { operationName: 'A' }
  assert.deepEqual((await query(text, { n: 2 }, options)).data, { Block: [{ number: 2 }] })
  assert.deepEqual((await query(text, undefined, { operationName: 'B' })).data, { b: 'Query' })
})

test('a query asks for as many attestations as there are accepted Generators, or fewer', async (t) => {
  const { query, subscribe } = await open(t)
  for (const minimumAttestations of [0, 1, 2]) await query(count, {}, { minimumAttestations })
  for (const minimumAttestations of [-1, 3, 1.5, Number.NaN]) {
    const refusal = {
      code: 'APP_OPTION_INVALID',
      message: `the option minimumAttestations is ${minimumAttestations}`,
      facts: { option: 'minimumAttestations', found: `${minimumAttestations}` },
      remedy: 'Accepted is a whole number from 0 to 2, the number of signers.',
    }
    await assert.rejects(query(count, {}, { minimumAttestations }), refusal)
    const options: object = { minimumAttestations }
    assert.throws(() => subscribe(logs, {}, options), refusal)
  }
  const misspelt: object = { minimumAttestation: 1 }
  assert.throws(() => subscribe(logs, {}, misspelt), { code: 'APP_OPTION_INVALID' })
})

test('what is refused says why, where, and under which code', async (t) => {
  const { query } = await open(t)
  await assert.rejects(query('{ Block(limit: -1) { number } }'), {
    code: 'APP_QUERY_REFUSED',
    message:
      'The limit -1 is negative. Write 0 or more; a limit of 0 means no limit. (line 1, column 3)',
    facts: { code: 'GRAPHQL_CONDITION_INVALID' },
    remedy: undefined,
  })
  await assert.rejects(query('query A { __typename } query B { __typename }'), {
    message:
      'Must provide operation name if query contains multiple operations. Set operationName to one of A, B.',
    facts: { code: '' },
  })
})

test('a query ends with its own signal, and with the application', async (t) => {
  const { query, subscribe, closing } = await open(t)
  const own = new AbortController()
  const asked = query(count, {}, { signal: own.signal })
  own.abort(new Error('nobody waits for it'))
  await assert.rejects(asked, /nobody waits for it/)
  assert.deepEqual((await query(count)).data, { COUNT: 6 })
  const options: QueryOptions = { signal: new AbortController().signal }
  const running = query(count, {}, options)
  closing.abort(new Error('it is closed'))
  await assert.rejects(running, /it is closed/)
  await assert.rejects(query(count), /it is closed/)
  assert.throws(() => subscribe(logs), /it is closed/)
})

test('a subscription ends where the application is closed, and fails where its store did', async (t) => {
  for (const [reason, isFailure] of [
    [new Error('it is closed'), false],
    [new ServiceError('STORE_WRITE_FAILED', 'the disk is full'), true],
  ] as const) {
    const { subscribe, closing } = await open(t)
    const next = subscribe(logs).next()
    closing.abort(reason)
    if (isFailure) await assert.rejects(next, reason)
    else assert.deepEqual(await next, { done: true, value: undefined })
  }
})

test('a subscription that is refused fails once, and is over', async (t) => {
  const { subscribe } = await open(t)
  const results = subscribe('subscription { Log { nothing } }')
  await assert.rejects(results.next(), { code: 'APP_QUERY_REFUSED', message: /nothing/ })
  assert.deepEqual(await results.next(), { done: true, value: undefined })
})

test('a subscription that is left is over, for who waits for its next result as well', async (t) => {
  const { subscribe } = await open(t)
  const results = subscribe(logs)
  const next = results.next()
  const over = { done: true, value: undefined }
  assert.deepEqual(await results.return(), over)
  assert.deepEqual([await next, await results.next()], [over, over])
})
