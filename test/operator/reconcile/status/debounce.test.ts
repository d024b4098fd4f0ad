import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PendingWarnings } from '../../../../operator/reconcile/apply/resource-memory.ts'
import {
  conditionsOf,
  occurrencesOf,
} from '../../../../operator/reconcile/statements/conditions.ts'
import type { Statements } from '../../../../operator/reconcile/statements/problem.ts'
import { debounceMs, debounceWarnings } from '../../../../operator/reconcile/status/debounce.ts'
import type { WantedCondition } from '../../../../operator/runtime/status-writer.ts'

const isolated = { PeersConnected: { reason: 'NotConnected', message: 'no peer' } } as const
const unwatched = { PeersConnected: { reason: 'Unobserved', message: 'no pod' } } as const
const connected = { PeersConnected: { reason: 'Connected', message: 'two peers' } } as const

/** What is recorded when a resource comes to be so, at these times. */
function recordedOf(steps: readonly (readonly [atMs: number, Statements])[]): string[][] {
  const pendingWarnings: PendingWarnings = new Map()
  let before: WantedCondition[] = []
  return steps.map(([atMs, statements]) => {
    const conditions = conditionsOf(statements)
    const changes = occurrencesOf(before as never, conditions)
    before = conditions
    const { now, nextMs } = debounceWarnings(pendingWarnings, changes, conditions, atMs)
    return [...now.map(({ type, reason }) => `${type} ${reason}`), `again in ${nextMs}`]
  })
}

test('what replicas see and passes within a minute is no warning', () => {
  assert.deepEqual(
    recordedOf([
      [0, isolated],
      [debounceMs - 1, isolated],
      [debounceMs - 1, connected],
      [debounceMs, connected],
    ]),
    [['again in 60000'], ['again in 1'], ['Normal Connected', 'again in null'], ['again in null']],
  )
  assert.deepEqual(
    recordedOf([
      [0, isolated],
      [debounceMs, connected],
    ]),
    [['again in 60000'], ['Normal Connected', 'again in null']],
  )
})

test('a warning that lasts is recorded once, with the reason that it has by then', () => {
  const foreign = { PeersConnected: { reason: 'PeerIDMismatch', message: 'another' } } as const
  assert.deepEqual(
    recordedOf([
      [0, isolated],
      [10_000, foreign],
      [debounceMs, foreign],
      [2 * debounceMs, foreign],
    ]),
    [
      ['again in 60000'],
      ['again in 50000'],
      ['Warning PeerIDMismatch', 'again in null'],
      ['again in null'],
    ],
  )
})

test('of several warnings the one that began first is due first', () => {
  const different = { SchemaInSync: { reason: 'Different', message: 'fields' } } as const
  assert.deepEqual(
    recordedOf([
      [0, isolated],
      [10_000, { ...isolated, ...different }],
      [debounceMs, { ...isolated, ...different }],
    ]),
    [['again in 60000'], ['again in 50000'], ['Warning NotConnected', 'again in 10000']],
  )
})

test('a warning that has passed is not recorded', () => {
  assert.deepEqual(
    recordedOf([
      [0, isolated],
      [1, unwatched],
      [debounceMs, unwatched],
    ]),
    [['again in 60000'], ['again in null'], ['again in null']],
  )
})

test('a warning that has become what is no Event by then is not recorded', () => {
  const failing = { Served: { reason: 'Failing', message: 'a lens traps' } } as const
  const pending = { Served: { reason: 'Pending', message: 'no block yet' } } as const
  assert.deepEqual(
    recordedOf([
      [0, failing],
      [10_000, pending],
      [debounceMs, pending],
    ]),
    [['again in 60000'], ['again in 50000'], ['again in null']],
  )
})

test('what stops the operator itself is recorded at once', () => {
  const stalled = { Stalled: { reason: 'Forbidden', message: 'no right' } } as const
  assert.deepEqual(recordedOf([[0, stalled]]), [['Warning Forbidden', 'again in null']])
  const failing = { Ready: { reason: 'PodsFailing', message: 'it crashes' } } as const
  assert.deepEqual(
    recordedOf([
      [0, failing],
      [debounceMs, failing],
    ]),
    [['Warning PodsFailing', 'again in null'], ['again in null']],
  )
})
