import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isSameState, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { startingState, toHealthReport } from '../../../../src/service/health/health-report.ts'
import { identity } from '../../../support/resources/operator-cases.ts'

const report = toHealthReport(
  {
    ...startingState('Ethereum', 'Mainnet'),
    ready: true,
    head: 120,
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
    head: 120,
    lag: 3,
    peers: ['other'],
    upstreamMode: 'http',
    schema: null,
    trust: null,
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

test('an error keeps its remedy, which is cut like its message', () => {
  const error = { code: 'CHAIN_TIMEOUT', message: 'no', remedy: 'x'.repeat(513) }
  const view = parseHealth(JSON.stringify({ ...report, errors: [error, { ...error, remedy: 1 }] }))
  assert.deepEqual(view?.errors, [
    { ...error, remedy: 'x'.repeat(512) },
    { code: 'CHAIN_TIMEOUT', message: 'no' },
  ])
})

test('blocks that come and another peer are no change of state, the last peer that goes is', () => {
  const view = parseHealth(JSON.stringify(report))
  assert.ok(view)
  assert.equal(isSameState(view, { ...view, head: 121, lag: 2 }), true)
  assert.equal(isSameState(view, { ...view, peers: [...view.peers, 'another'] }), true)
  assert.equal(isSameState(view, { ...view, peers: [] }), false)
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
