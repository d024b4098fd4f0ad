/** An application follows a View: what it stores, answers, and goes on with. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app/app.ts'
import { openReportedHeights } from '../../src/app/follow/reported-heights.ts'
import { createSigner } from '../../src/identity/signature.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { captureLog } from '../support/captured-log.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { createMadeChain, madeView } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, temporaryFolder, topOf, untilState } from './support/test-app.ts'

type Payments = { Payment: { _blockNumber: number; amount: number }[] }
const allPayments = '{ Payment { _blockNumber amount } }'

const amounts = async (app: App): Promise<number[]> => {
  const { data } = await app.query<Payments, object>(allPayments)
  return data.Payment.map(({ amount }) => amount)
}

/** The amounts of made-up rows, two a block. */
const amountsOf = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => (from + index) * 1_000).flatMap((first) => [
    first,
    first + 1,
  ])

test('an application has the rows of a View from its first block on, and each that comes', async (t) => {
  const chain = createMadeChain()
  chain.grow(20)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await untilState(app, (state) => topOf(state) === 19)
  assert.deepEqual(await amounts(app), amountsOf(0, 19))
  chain.grow(3)
  await untilState(app, (state) => topOf(state) === 22)
  assert.deepEqual(await amounts(app), amountsOf(0, 22))
})

test('a listener that throws keeps no other one from the state', async (t) => {
  const chain = createMadeChain()
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  app.onChange(() => {
    throw new Error('of the application')
  })
  const known = untilState(app, (state) => topOf(state) === 4)
  chain.grow(5)
  await known
})

test('an application answers without any Host, and goes on where it ended', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const path = await temporaryFolder(t)
  const host = await openMadeHost(t, { chain })
  const first = await openTestApp(t, { hosts: [host], path })
  await untilState(first, (state) => topOf(state) === 9)
  await first.close()
  await host.room.p2p.close()
  const offline = await openTestApp(t, { hosts: [host], path })
  assert.deepEqual(await amounts(offline), amountsOf(0, 9))
  assert.equal(offline.state().views[0]?.state, 'waiting')
  await offline.close()
  chain.grow(5)
  const back = await openMadeHost(t, { chain, signer: host.signer })
  const again = await openTestApp(t, { hosts: [back], path })
  await untilState(again, (state) => topOf(state) === 14)
  assert.deepEqual(await amounts(again), amountsOf(0, 14))
})

test('rows of a block that gave way go, and those of the other branch take their place', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await untilState(app, (state) => topOf(state) === 9)
  chain.reorganise(4)
  await untilState(app, (state) => topOf(state) === 10)
  const query = '{ Payment(filter: {_blockNumber: {_ge: 5}}) { _blockNumber to } }'
  const { data } = await app.query<{ Payment: { _blockNumber: number; to: string }[] }, object>(
    query,
  )
  const branches = data.Payment.map(({ _blockNumber, to }) => `${_blockNumber} ${to}`)
  const [kept, ...others] = [5, 6, 7, 8, 9, 10]
  assert.deepEqual(
    branches,
    [`${kept} 0`, ...others.map((number) => `${number} 1`)].flatMap((text) => [text, text]),
  )
})

test('a reorganisation while the application was closed is followed when it opens', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const path = await temporaryFolder(t)
  const host = await openMadeHost(t, { chain })
  const first = await openTestApp(t, { hosts: [host], path })
  await untilState(first, (state) => topOf(state) === 9)
  await first.close()
  chain.reorganise(5)
  const app = await openTestApp(t, { hosts: [host], path })
  await untilState(app, (state) => topOf(state) === 10)
  assert.equal((await amounts(app)).length, 22)
})

test('an application that is closed keeps up to which block each Host was heard', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const path = await temporaryFolder(t)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host], path })
  await untilState(app, (state) => topOf(state) === 9)
  await app.close()
  const options = { path, network: testNetwork, program: 'app', retainBlocks: null } as const
  const store = await openWriter(options, { log: captureLog().log })
  t.after(() => store.close())
  assert.deepEqual(openReportedHeights(store).of(host.room.id), { host: host.identity, to: 9 })
})

test('what the store no longer keeps is passed over, also by a branch that begins below', async (t) => {
  const chain = createMadeChain()
  chain.grow(40)
  const path = await temporaryFolder(t)
  const host = await openMadeHost(t, { chain })
  const first = await openTestApp(t, { hosts: [host], path })
  await untilState(first, (state) => topOf(state) === 39)
  await first.close()
  const options = { path, network: testNetwork, program: 'app', retainBlocks: null } as const
  const store = await openWriter(options, { log: captureLog().log })
  await store.pruneRowsBelow(32)
  await store.close()
  chain.reorganise(20)
  const app = await openTestApp(t, { hosts: [host], path })
  const { views } = await untilState(app, (state) => topOf(state) === 40)
  assert.deepEqual(views[0]?.done, [{ from: 32, to: 40 }])
  assert.deepEqual(await amounts(app), amountsOf(32, 40))
})

test('an application begins at the height that it asks for', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host], from: 6 })
  await untilState(app, (state) => topOf(state) === 9)
  assert.deepEqual(await amounts(app), amountsOf(6, 9))
})

test('blocks without rows are done, and rows of several frames are put together', async (t) => {
  const chain = createMadeChain()
  chain.grow(3, 0)
  chain.grow(1, 20_000)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  const { views } = await untilState(app, (state) => topOf(state) === 3)
  assert.deepEqual(views[0]?.done, [{ from: 0, to: 3 }])
  assert.equal(views[0]?.rows, 20_000)
})

test('a block at which the View failed is passed over, and every answer says so', async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => (block.number === 2 ? { ...block, rows: null } : block),
  })
  const app = await openTestApp(t, { hosts: [host], patience: { checkMs: 50, failedMs: 200 } })
  await untilState(app, (state) => topOf(state) === 4)
  assert.deepEqual(await amounts(app), [...amountsOf(0, 1), ...amountsOf(3, 4)])
  const { incomplete } = await app.query(allPayments)
  assert.deepEqual(
    incomplete.map(({ name, blocksFailed, failed }) => ({ name, blocksFailed, failed })),
    [{ name: 'Payment', blocksFailed: 1, failed: [{ from: 2, to: 2 }] }],
  )
})

test('a subscription has the rows of each block that comes, in order, and ends with its loop', async (t) => {
  const chain = createMadeChain()
  chain.grow(2)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await untilState(app, (state) => topOf(state) === 1)
  const rows = app.subscribe<Payments, object>('subscription { Payment { _blockNumber amount } }')
  const first = rows.next()
  chain.grow(3)
  const seen = [await first, await rows.next(), await rows.next()].map(({ value }) =>
    value.Payment.map(({ amount }: { amount: number }) => amount),
  )
  assert.deepEqual(
    seen,
    [2, 3, 4].map((number) => amountsOf(number, number)),
  )
  assert.deepEqual(await rows.return(), { value: undefined, done: true })
})

test('a subscription has all rows from the call on, also before the first is taken', async (t) => {
  const chain = createMadeChain()
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await app.untilReady()
  const rows = app.subscribe<Payments>('subscription { Payment { _blockNumber amount } }')
  chain.grow(3)
  await untilState(app, (state) => topOf(state) === 2)
  const seen: number[] = []
  for await (const { Payment } of rows)
    if (seen.push(...Payment.map(({ amount }) => amount)) === 6) break
  assert.deepEqual(seen, amountsOf(0, 2))
})

test('a subscription ends with its signal, and its loop with it', async (t) => {
  const chain = createMadeChain()
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await app.untilReady()
  const ending = new AbortController()
  const text = 'subscription { Payment { amount } }'
  const rows = app.subscribe<Payments>(text, {}, { signal: ending.signal })
  const taken = rows.next()
  ending.abort()
  assert.deepEqual(await taken, { value: undefined, done: true })
})

test('Views that were followed before are ready without a Host, others not', async (t) => {
  const chain = createMadeChain()
  chain.grow(1)
  const path = await temporaryFolder(t)
  const host = await openMadeHost(t, { chain })
  const first = await openTestApp(t, { hosts: [host], path })
  await first.untilReady()
  assert.deepEqual(Object.keys((await first.query<Payments>(allPayments)).data), ['Payment'])
  await first.close()
  await host.room.p2p.close()
  await (await openTestApp(t, { hosts: [host], path })).untilReady()
  const signal = AbortSignal.timeout(200)
  await assert.rejects((await openTestApp(t, { hosts: [host] })).untilReady(signal), {
    name: 'TimeoutError',
  })
})

test('a query that no Host would answer is refused with its place, and the application goes on', async (t) => {
  const chain = createMadeChain()
  chain.grow(1)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await untilState(app, (state) => topOf(state) === 0)
  await assert.rejects(app.query('{ Payment { amuont } }'), {
    code: 'APP_QUERY_REFUSED',
    message: /amuont.*line 1, column 13/s,
  })
  assert.deepEqual(await amounts(app), amountsOf(0, 0))
})

test('what is proven of a row is computed again from the signatures up', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await untilState(app, (state) => topOf(state) === 2)
  const { data } = await app.query<{ Payment: object[] }, object>(
    '{ Payment(limit: 1, offset: 3) { _docID amount from _hosts } }',
  )
  const [row] = data.Payment
  assert.deepEqual(app.verifyDocument(row), {
    proves: 'row',
    view: madeView,
    block: { number: 1, hash: chain.blocks()[1]?.hash },
    hosts: [host.identity],
    signers: [],
    fields: ['amount', 'from'],
    unproven: ['_hosts'],
  })
  assert.deepEqual(app.verifyDocument({ ...row, amount: 7 }), {
    proves: 'nothing',
    why: 'The field amount is not what the Hosts signed.',
  })
  for (const nonsense of [null, 7, {}, { _docID: 'row-0x-1' }, { _docID: 5 }])
    assert.equal(app.verifyDocument(nonsense).proves, 'nothing')
})

test('rows are counted by the Hosts that signed them and the Generators of their block', async (t) => {
  const chain = createMadeChain()
  chain.grow(2)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host] })
  await untilState(app, (state) => topOf(state) === 1)
  const query =
    '{ Payment(limit: 1) { _hosts _attestations } AttestationRecord_Payment(limit: 1) { vote_count } }'
  const { data } = await app.query(query)
  assert.deepEqual(data, {
    Payment: [{ _hosts: 1, _attestations: 0 }],
    AttestationRecord_Payment: [{ vote_count: 1 }],
  })
})

test('a store belongs to one application at a time, and is its own', async (t: TestContext) => {
  const chain = createMadeChain()
  const host = await openMadeHost(t, { chain })
  const path = await temporaryFolder(t)
  await openTestApp(t, { hosts: [host], path })
  await assert.rejects(openTestApp(t, { hosts: [host], path }), {
    code: 'STORE_LOCKED',
    remedy: 'End the other program, or give this application another `path`.',
  })
})

test('the Views that an application no longer follows go from its store', async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  const path = await temporaryFolder(t)
  const host = await openMadeHost(t, { chain })
  const first = await openTestApp(t, { hosts: [host], path })
  await untilState(first, (state) => topOf(state) === 4)
  await first.close()
  const other = `0x${'77'.repeat(32)}`
  const app = await openTestApp(t, { hosts: [host], path, views: [other] })
  await assert.rejects(amounts(app), { code: 'APP_QUERY_REFUSED' })
  assert.equal(app.state().views[0]?.rows, 0)
})

test('an application ends when its signal is aborted, and answers no more', async (t) => {
  const chain = createMadeChain()
  const host = await openMadeHost(t, { chain })
  const controller = new AbortController()
  const app = await openTestApp(t, { hosts: [host], signal: controller.signal })
  controller.abort()
  await assert.rejects(amounts(app), /the application is closed/)
  await app.close()
})

test('a signal that is aborted while an application opens closes it, with its reason', async (t) => {
  const chain = createMadeChain()
  const host = await openMadeHost(t, { chain })
  const controller = new AbortController()
  const path = await temporaryFolder(t)
  const opening = openTestApp(t, { hosts: [host], path, signal: controller.signal })
  controller.abort(new Error('changed my mind'))
  await assert.rejects(opening, /changed my mind/)
  await openTestApp(t, { hosts: [host], path })
})

test('a signal that was aborted before leaves nothing in the folder', async (t) => {
  const host = await openMadeHost(t, { chain: createMadeChain() })
  const path = await temporaryFolder(t)
  const signal = AbortSignal.abort(new Error('not needed any more'))
  await assert.rejects(openTestApp(t, { hosts: [host], path, signal }), /not needed any more/)
  assert.deepEqual(await readdir(path), [])
})

test('a wrong option is named with what is accepted, before anything is opened', async (t) => {
  const chain = createMadeChain()
  const host = await openMadeHost(t, { chain })
  const cases: [object, RegExp][] = [
    [{ views: [] }, /option views is \[\]/],
    [{ views: ['0x12'] }, /option views is "0x12"/],
    [{ views: Array.from({ length: 65 }, () => madeView) }, /option views/],
    [{ network: 'Ethereum' }, /option network is "Ethereum"/],
    [{ minimumHosts: 0 }, /option minimumHosts is 0/],
    [{ minimumHosts: 2 }, /option minimumHosts is 2/],
    [{ minimumAttestations: 1 }, /option minimumAttestations is 1/],
    [{ from: -1 }, /option from is -1/],
    [{ maxBytes: 1024 }, /option maxBytes is 1024/],
    [{ signers: ['me'] }, /option signers is "me"/],
    [
      { minAttestations: 1 },
      /^there is no option minAttestations; did you mean minimumAttestations\?$/,
    ],
  ]
  for (const [wrong, message] of cases)
    await assert.rejects(openTestApp(t, { hosts: [host], ...wrong }), {
      code: 'APP_OPTION_INVALID',
      message,
    })
  await assert.rejects(openTestApp(t, { hosts: [host], peers: ['/ip4/1.2.3.4'] } as never), {
    code: 'P2P_ADDRESS_INVALID',
  })
})

test('without a list the Hosts that the peers prove to be are accepted, and stay the same', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const path = await temporaryFolder(t)
  const host = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [host], path, isTrusting: true })
  await untilState(app, (state) => topOf(state) === 2)
  assert.equal(app.state().hosts[0]?.identity, host.identity)
  assert.notEqual(
    createSigner({ type: 'Ed25519', privateKey: new Uint8Array(32).fill(7) }).identity,
    host.identity,
  )
})
