import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  nearness,
  parseHostedViews,
  viewsUrl,
} from '../../../../operator/reconcile/observe/view-at-replica.ts'

const id = `0x${'ab'.repeat(32)}`
const address = `0x${'Cd'.repeat(20)}`
const report = {
  ...{ id, address, name: 'Sender_abababab', type: 'Sender', state: 'failed', rows: 3 },
  last_block: 7,
  error: { code: 'LENS_TIMEOUT', message: 'It took 5 s', remedy: 'Write a faster lens.' },
}
const read = {
  ...{ id, state: 'failed', name: 'Sender_abababab', type: 'Sender', rows: 3, lastBlock: 7 },
  message: 'It took 5 s. Write a faster lens.',
}

test('a View is found by either ID, whatever the case of its digits, and no other one is kept', () => {
  const text = JSON.stringify({ views: [{ ...report, id: '0x00', address: '0x01' }, report] })
  assert.deepEqual(parseHostedViews(text, [id]), [read])
  const short = address.toLowerCase()
  assert.deepEqual(parseHostedViews(text, [short]), [{ ...read, id: short }])
})

test('a replica is asked for its Views at its API, at an address of either family', () => {
  assert.equal(viewsUrl('10.0.0.1'), 'http://10.0.0.1:9181/api/v0/views')
  assert.equal(viewsUrl('fd00::1'), 'http://[fd00::1]:9181/api/v0/views')
})

test('a View that is refused is furthest from live, one that lags is next to it', () => {
  const inOrder = ['refused', 'failed', 'waiting', 'backfilling', 'lagging', 'live'] as const
  assert.deepEqual(inOrder.map(nearness), [0, 3, 4, 5, 6, 7])
})

test('a failure counts where nothing is done: not while blocks are, nor while lenses are busy', () => {
  const messageOf = (more: object): string | null | undefined =>
    parseHostedViews(JSON.stringify({ views: [{ ...report, ...more }] }), [id])?.[0]?.message
  for (const state of ['waiting', 'backfilling', 'lagging']) {
    for (const rate of [null, 0, 'fast', undefined])
      assert.equal(messageOf({ state, blocks_per_second: rate }), read.message)
    assert.equal(messageOf({ state, blocks_per_second: 0.1 }), null)
    assert.equal(messageOf({ state, error: { ...report.error, code: 'LENS_BUSY' } }), null)
  }
  for (const state of ['failed', 'quarantined'])
    assert.equal(messageOf({ state, blocks_per_second: 3 }), read.message)
})

test('a View that the folder or the registry has and the Host refuses comes with the reason', () => {
  const other = { id, state: 'refused', reason: 'HOST_VIEWS_FULL: it has 100' }
  for (const place of ['folder', 'registry']) {
    assert.deepEqual(
      parseHostedViews(JSON.stringify({ views: [], [place]: { others: [other] } }), [id]),
      [
        {
          ...{ id, state: 'refused', name: null, type: null, rows: null, lastBlock: null },
          message: other.reason,
        },
      ],
    )
  }
})

test('a Host of an earlier version, which has no folder, is read like the others', () => {
  assert.deepEqual(parseHostedViews('{"views": []}', [id]), [])
  assert.equal(parseHostedViews('{"error": "not found"}', [id]), null)
})

test('of a View that is listed twice the first counts, and what says nothing is left out', () => {
  const empty = {
    name: '',
    type: '',
    rows: 0,
    last_block: -1,
    error: { message: '' },
    state: 'odd',
  }
  const views = [{ ...report, ...empty }, report]
  assert.deepEqual(parseHostedViews(JSON.stringify({ views }), [id]), [
    { id, state: 'waiting', name: null, type: null, rows: 0, lastBlock: null, message: null },
  ])
})

test('nothing that a pod answers is taken for something else, and texts have a bound', () => {
  const long = { ...report, error: { message: 'x'.repeat(10_000) } }
  const [found] = parseHostedViews(JSON.stringify({ views: [long] }), [id]) ?? []
  assert.equal(found?.message?.length, 256)
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (entry, state, others) => {
      const views = [entry, { ...report, state, rows: entry, error: others }]
      const text = JSON.stringify({ views, folder: { others: [others, entry] }, registry: others })
      for (const one of parseHostedViews(text, [id]) ?? []) {
        assert.equal(one.id, id)
        assert.ok(one.rows === null || (Number.isSafeInteger(one.rows) && one.rows >= 0))
        assert.ok(one.message === null || one.message.length <= 514)
      }
    }),
  )
})
