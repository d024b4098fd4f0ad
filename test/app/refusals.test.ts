/** What an application says to queries that it does not answer and of Hosts that it does not follow, as the docs explain it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { assertExplained } from '../docs/support/explained.ts'
import { createMadeChain, type MadeBlock } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

const help = 'app.state() says which blocks are stored, and how the View and its Hosts stand.'

const complete = {
  ...{ name: 'Payment', blocksLeft: 0, blocksFailed: 0, blocksLost: 0 },
  ...{ left: [], failed: [], lost: [] },
}

/** Asserts what something is refused with, and that it is explained. */
async function assertRefused(refused: Promise<unknown>, expected: object): Promise<void> {
  const error = await refused.then(
    () => assert.fail('it is not refused'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ServiceError)
  assertExplained(error)
  await assert.rejects(Promise.reject(error), expected)
}

test('a query or subscription of a View that no Host described yet is told to wait', async (t) => {
  const host = await openMadeHost(t, { chain: createMadeChain() })
  await host.room.p2p.close()
  const app = await openTestApp(t, { hosts: [host] })
  const early = {
    code: 'APP_QUERY_REFUSED',
    message: /^Cannot query field "Payment" on type "(Query|Subscription)"/,
    remedy: 'Not all Views are known yet: await app.untilReady() before the first query.',
  }
  await assertRefused(app.query('{ Payment { to } }'), early)
  await assertRefused(app.subscribe('subscription { Payment { to } }').next(), early)
  await assert.rejects(app.query('{ COUNT(Payment: {}) }'), {
    ...early,
    message: /^Unknown argument "Payment" on field "Query.COUNT"/,
  })
  await assert.rejects(app.query('{ Block { nummer } }'), { remedy: undefined })
})

test('a View that is not followed is not waited for, and a subscription is no query', async (t) => {
  const host = await openMadeHost(t, { chain: createMadeChain() })
  const app = await openTestApp(t, { hosts: [host] })
  await app.untilReady()
  await assert.rejects(app.query('{ Paiment { to } }'), {
    code: 'APP_QUERY_REFUSED',
    message: /^Cannot query field "Paiment"/,
    remedy: undefined,
  })
  await assert.rejects(app.query('subscription { Payment { to } }'), {
    code: 'APP_QUERY_REFUSED',
    remedy: 'Ask for it with app.subscribe().',
  })
})

test('blocks that no Host has are missing in every answer, and who names one is refused', async (t) => {
  const chain = createMadeChain()
  chain.grow(8)
  const alter = (block: MadeBlock): MadeBlock | 'nothing' =>
    block.number === 3 || block.number === 4 ? 'nothing' : block
  const app = await openTestApp(t, {
    hosts: [await openMadeHost(t, { chain, alter })],
    patience: { checkMs: 50, unseenMs: 200 },
  })
  await untilState(app, (state) => topOf(state) === 7)
  const { incomplete } = await app.query('{ COUNT(Payment: {}) }')
  assert.deepEqual(incomplete, [{ ...complete, blocksLeft: 2, left: [{ from: 3, to: 4 }] }])
  await assertRefused(app.query('{ Payment(filter: {_blockNumber: 4}) { to } }'), {
    message: `The rows of the View Payment at block 4 are not stored yet. Ask again later. ${help} (line 1, column 3)`,
    facts: { code: 'GRAPHQL_VIEW_NOT_COMPUTED' },
  })
  const { data } = await app.query('{ Payment(filter: {_blockNumber: 8}) { to } }')
  assert.deepEqual(data, { Payment: [] })
})

test('a query that names a block without rows says why, and where the application shows more', async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => (block.number === 2 ? { ...block, rows: null } : block),
  })
  const app = await openTestApp(t, { hosts: [host], patience: { checkMs: 50, failedMs: 200 } })
  await untilState(app, (state) => topOf(state) === 4)
  await assertRefused(app.query('{ Payment(filter: {_blockNumber: 2}) { to } }'), {
    code: 'APP_QUERY_REFUSED',
    message: `The View Payment failed at block 2, so that it has no rows of it: the Host that was followed failed there, and no other signed rows of it. ${help} (line 1, column 3)`,
    facts: { code: 'GRAPHQL_VIEW_FAILED' },
  })
})

test('a query that takes too much is told to ask for less, and of no setting', async (t) => {
  const chain = createMadeChain()
  chain.grow(51, 2_000)
  const app = await openTestApp(t, { hosts: [await openMadeHost(t, { chain })] })
  await untilState(app, (state) => topOf(state) === 50)
  await assertRefused(app.query('{ Payment { amount } }'), {
    code: 'APP_QUERY_REFUSED',
    message:
      'The answer has more than 100000 rows. Set a smaller `limit` (0 means none), also on nested lists, and page with `offset` or a range of block numbers. (line 1, column 3)',
    facts: { code: 'GRAPHQL_ROW_LIMIT' },
    remedy: undefined,
  })
  const conditions = {
    code: 'APP_QUERY_REFUSED',
    message:
      'The query has more than 2000 conditions: names and objects in filters, orders and selectors, those of a variable once for each place where it stands. `_in` stands for many `_or`; ask in several requests.',
    facts: { code: 'GRAPHQL_SYNTAX_LIMIT' },
    remedy: undefined,
  }
  const filters = Array.from({ length: 2_001 }, () => ({}))
  const inText = `{ Payment(filter: {_or: [${filters.map(() => '{}').join()}]}) { to } }`
  const message = `${conditions.message} (line 1, column 3)`
  await assertRefused(app.query(inText), { ...conditions, message })
  const asVariable = 'query ($any: [PaymentFilterArg!]) { Payment(filter: {_or: $any}) { to } }'
  await assertRefused(app.query(asVariable, { any: filters }), conditions)
})

test('a wrong option, and a Host that breaks the protocol, are explained', async (t) => {
  const host = await openMadeHost(t, {
    chain: createMadeChain(),
    replace: () => [Buffer.from('nonsense')],
  })
  await assertRefused(openTestApp(t, { hosts: [host], minimumHosts: 2 }), {
    code: 'APP_OPTION_INVALID',
    message: 'the option minimumHosts is 2',
    remedy: 'Accepted is a whole number from 1 to 1.',
  })
  const app = await openTestApp(t, { hosts: [host] })
  const misspelt: object = { minimumAttestation: 1 }
  await assertRefused(app.query('{ __typename }', {}, misspelt), {
    code: 'APP_OPTION_INVALID',
    message: 'there is no option minimumAttestation; did you mean minimumAttestations?',
    remedy: 'Options are minimumAttestations, operationName, signal.',
  })
  const { hosts } = await untilState(app, (state) => state.hosts[0]?.error != null)
  assertExplained({ code: 'APP_HOST_REFUSED', message: hosts[0]?.error ?? '' })
})
