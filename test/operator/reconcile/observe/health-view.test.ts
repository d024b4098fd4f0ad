import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { isSameState, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { parseHostedViews } from '../../../../operator/reconcile/observe/view-at-replica.ts'
import { startingState, toHealthReport } from '../../../../src/service/health/health-report.ts'
import { identity } from '../../../support/resources/operator-cases.ts'

const genesis = `0x${'ab'.repeat(32)}`
const report = toHealthReport(
  {
    ...startingState('Ethereum', 'Mainnet'),
    ready: true,
    head: 120,
    lastProcessedMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    chainId: 1,
    genesis,
    sourceHead: 123,
    upstreamMode: 'http',
    identity,
    p2p: { self: { id: 'self', addresses: [] }, peers: [{ id: 'other', addresses: [] }] },
  },
  { program: 'generator', version: '0.1.0', startedMs: 0, nowMs: 1_000 },
)

test('what a program says of itself is read', () => {
  assert.deepEqual(parseHealth(JSON.stringify(report)), {
    peerID: 'self',
    identity,
    genesis,
    chainID: 1,
    head: 120,
    lastBlockTime: '2026-01-02T03:04:05Z',
    headStandsSince: null,
    signers: null,
    lag: 3,
    peers: ['other'],
    upstreamMode: 'http',
    schema: null,
    trust: null,
    unready: null,
    errors: [],
  })
})

test('the trust mode of a Host is read, and what is no identity is ignored', () => {
  const view = parseHealth(
    JSON.stringify({ ...report, program: 'host', trust: 'bootstrap', identity: 'me' }),
  )
  assert.deepEqual([view?.trust, view?.identity], ['bootstrap', null])
  assert.equal(parseHealth(JSON.stringify({ ...report, trust: 'whoever' }))?.trust, null)
})

test('the signers of a Host are read in an order of their own, and what is none is left out', () => {
  const [one, two] = [`02${'1'.repeat(64)}`, `02${'2'.repeat(64)}`]
  const moving = { head: { number: 7, hash: genesis }, counted: true, last_heard: null }
  const signers = [
    { identity: two, source: 'bootstrap', peer: 'other', ...moving },
    { identity: one, source: 'file', peer: null, ...moving },
    { identity: 'me', source: 'file', peer: null },
    { identity: one.replace('02', '03'), source: 'somewhere', peer: null },
    null,
    7,
  ]
  const read = (value: unknown): unknown =>
    parseHealth(JSON.stringify({ ...report, signers: value }))?.signers
  assert.deepEqual(read(signers), [
    { identity: one, source: 'file' },
    { identity: two, source: 'bootstrap', peer: 'other' },
  ])
  assert.deepEqual(read(signers.slice(0, 2).toReversed()), read(signers))
  for (const odd of [7, {}, 'x', null]) assert.equal(read(odd), null)
})

test('what is no hash, no time and no chain ID is not taken into a status', () => {
  for (const odd of [
    1,
    {},
    '',
    '0x12',
    `${genesis} `,
    genesis.toUpperCase(),
    '2026-13-40T99:00:00Z',
  ]) {
    const body = { ...report, genesis: odd, chain_id: `${odd}`, last_processed: odd }
    const view = parseHealth(JSON.stringify(body))
    assert.deepEqual([view?.genesis, view?.chainID, view?.lastBlockTime], [null, null, null])
  }
})

test('a head of the node stands still once it is a minute old by the clock of the program', () => {
  const timestamp = '2026-01-02T03:05:00.000Z'
  const seen = (since: unknown): unknown =>
    parseHealth(JSON.stringify({ ...report, timestamp, source_head_since: since }))?.headStandsSince
  assert.equal(seen('2026-01-02T03:04:00.000Z'), '2026-01-02T03:04:00Z')
  assert.equal(seen('2026-01-02T03:04:01.000Z'), null)
  assert.equal(seen(null), null)
  assert.equal(seen('yesterday'), null)
})

test('why it is not ready is read, and another reason than ours is none', () => {
  const read = (unready: unknown): unknown =>
    parseHealth(JSON.stringify({ ...report, unready }))?.unready
  assert.equal(read({ reason: 'lagging', message: 'It is 70 blocks behind.' }), 'lagging')
  for (const strange of [null, 'lagging', { reason: 'tired' }, { reason: 1 }]) {
    assert.equal(read(strange), null)
  }
})

test('what is the answer of another program, or of none, is no report', () => {
  const others = [{ ...report, program: 'proxy' }, { ...report, program: undefined }, {}, [], null]
  for (const other of others) assert.equal(parseHealth(JSON.stringify(other)), null)
  for (const program of ['generator', 'host'])
    assert.ok(parseHealth(JSON.stringify({ program })), program)
})

test('peers without an ID are left out', () => {
  const peers = [{ id: '' }, { id: 'a' }, {}, null, { id: 7 }]
  const view = parseHealth(JSON.stringify({ ...report, p2p: { self: { id: 'self' }, peers } }))
  assert.deepEqual(view?.peers, ['a'])
})

test('a peer ID is letters and digits, since it becomes part of addresses', () => {
  for (const id of ['me\n/dns4/evil.example.org/tcp/9171/p2p/me', 'a/b', 'a b', '']) {
    const p2p = { self: { id, addresses: [] }, peers: [] }
    assert.equal(parseHealth(JSON.stringify({ ...report, p2p }))?.peerID, null)
  }
})

/** Bytes in use, without what is garbage. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

test('of peers a thousand are read, more than any program has', () => {
  const peersOf = (count: number): number | undefined => {
    const peers = Array.from({ length: count }, (_, index) => ({ id: `p${index}` }))
    return parseHealth(JSON.stringify({ ...report, p2p: { self: { id: 'a' }, peers } }))?.peers
      .length
  }
  assert.deepEqual([peersOf(1_024), peersOf(1_025)], [1_024, 1_024])
})

test('of errors twenty are read, and of signers 512', () => {
  const many = (count: number) => {
    const errors = Array.from({ length: count }, () => ({ code: 'A', message: 'no' }))
    const signers = Array.from({ length: count }, (_, index) => ({
      identity: `02${index.toString(16).padStart(64, '0')}`,
      source: 'file',
    }))
    return parseHealth(JSON.stringify({ ...report, errors, signers }))
  }
  assert.deepEqual(
    [20, 21].map(many).map((view) => view?.errors.length),
    [20, 20],
  )
  assert.deepEqual(
    [512, 513].map(many).map((view) => view?.signers?.length),
    [512, 512],
  )
})

test('texts, times and numbers are read up to their bounds, and nothing beyond', () => {
  const read = (more: object) => parseHealth(JSON.stringify({ ...report, ...more }))
  const idOf = (length: number): unknown => read({ p2p: { self: { id: 'a'.repeat(length) } } })
  assert.partialDeepStrictEqual(idOf(128), { peerID: 'a'.repeat(128) })
  assert.partialDeepStrictEqual(idOf(129), { peerID: null })
  const timeOf = (digits: number): unknown =>
    read({ last_processed: `2026-01-02T03:04:05.${'0'.repeat(digits)}Z` })?.lastBlockTime
  assert.deepEqual([timeOf(19), timeOf(20)], ['2026-01-02T03:04:05Z', null])
  const numbers = [0, -1, Number.MAX_SAFE_INTEGER, 2 ** 53]
  assert.deepEqual(
    numbers.map((head) => read({ head })?.head),
    [0, null, Number.MAX_SAFE_INTEGER, null],
  )
})

test('what is kept of answers takes little memory, however long they are', () => {
  const before = usedBytes()
  const views = Array.from({ length: 50 }, () =>
    parseHealth(
      JSON.stringify({ ...report, errors: [{ code: 'A', message: 'm'.repeat(1_000_000) }] }),
    ),
  )
  const hosted = Array.from({ length: 50 }, () => {
    const error = { message: 'm'.repeat(1_000_000) }
    return parseHostedViews(JSON.stringify({ views: [{ id: '0x1', state: 'failed', error }] }), [
      '0x1',
    ])
  })
  assert.ok(usedBytes() - before < 10_000_000)
  assert.deepEqual([views.length, hosted.length], [50, 50])
})

test('an error keeps its remedy, which is cut like its message', () => {
  const cut = { code: 'A'.repeat(513), message: 'm'.repeat(513) }
  assert.deepEqual(parseHealth(JSON.stringify({ ...report, errors: [cut] }))?.errors, [
    { code: 'A'.repeat(512), message: 'm'.repeat(512) },
  ])
  const error = { code: 'CHAIN_TIMEOUT', message: 'no', remedy: 'x'.repeat(513) }
  const view = parseHealth(JSON.stringify({ ...report, errors: [error, { ...error, remedy: 1 }] }))
  assert.deepEqual(view?.errors, [
    { ...error, remedy: 'x'.repeat(512) },
    { code: 'CHAIN_TIMEOUT', message: 'no' },
  ])
})

test('an error without a code or a message is none, and one names the peer that was expected', () => {
  const error = { code: 'A', message: 'no', expected_peer: 'other' }
  const errors = [{ code: 'A' }, { message: 'no' }, error, null, 7]
  assert.deepEqual(parseHealth(JSON.stringify({ ...report, errors }))?.errors, [error])
})

test('blocks that come and another peer are no change of state, the last peer that goes is', () => {
  const view = parseHealth(JSON.stringify(report))
  assert.ok(view)
  const lastBlockTime = '2026-01-02T03:04:06Z'
  assert.equal(isSameState(view, { ...view, head: 121, lastBlockTime, lag: 2 }), true)
  assert.equal(isSameState(view, { ...view, genesis: `0x${'cd'.repeat(32)}` }), false)
  assert.equal(isSameState(view, { ...view, headStandsSince: lastBlockTime }), false)
  assert.equal(isSameState(view, { ...view, peers: [...view.peers, 'another'] }), true)
  assert.equal(isSameState(view, { ...view, peers: [] }), false)
  const hosted = { id: '0x1', state: 'live', name: 'A', type: 'A', message: null } as const
  const serving = { ...view, views: [{ ...hosted, rows: 7, lastBlock: 9 }] }
  const further = { ...view, views: [{ ...hosted, rows: 8, lastBlock: 10 }] }
  assert.equal(isSameState(serving, further), true)
  const behind = { ...hosted, state: 'lagging', rows: 7, lastBlock: 9 } as const
  assert.equal(isSameState(serving, { ...view, views: [behind] }), false)
  assert.equal(isSameState(view, null), false)
})

test('nothing that a pod answers breaks the reading', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.equal(parseHealth(text), null)))
  const shapes = fc.record(
    {
      program: fc.constant('host'),
      p2p: fc.anything(),
      head: fc.anything(),
      error: fc.anything(),
      errors: fc.anything(),
    },
    { requiredKeys: ['program'] },
  )
  fc.assert(
    fc.property(shapes, (body) => {
      const text = JSON.stringify(body)
      const view = parseHealth(text)
      assert.ok(view)
      assert.ok(view.head === null || Number.isSafeInteger(view.head))
    }),
  )
})
