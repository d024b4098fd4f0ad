import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionsOf, occurrencesOf } from '../../../operator/reconcile/condition-list.ts'
import type { Statements } from '../../../operator/reconcile/kind-logic.ts'
import {
  lastingMs,
  type Troubles,
  tellLasting,
} from '../../../operator/reconcile/lasting-trouble.ts'
import type { WantedCondition } from '../../../operator/runtime/status-writer.ts'

const lonely = { PeersConnected: { reason: 'NotConnected', message: 'no peer' } } as const
const unseen = { PeersConnected: { reason: 'Unobserved', message: 'no pod' } } as const
const connected = { PeersConnected: { reason: 'Connected', message: 'two peers' } } as const

/** What is told when a resource comes to be so, at these times. */
function toldOf(steps: readonly (readonly [atMs: number, Statements])[]): string[][] {
  const troubles: Troubles = new Map()
  let before: WantedCondition[] = []
  return steps.map(([atMs, statements]) => {
    const conditions = conditionsOf(statements)
    const changes = occurrencesOf(before as never, conditions)
    before = conditions
    const { now, nextMs } = tellLasting(troubles, changes, conditions, atMs)
    return [...now.map(({ type, reason }) => `${type} ${reason}`), `again in ${nextMs}`]
  })
}

test('what replicas see and passes within a minute is no warning', () => {
  assert.deepEqual(
    toldOf([
      [0, lonely],
      [lastingMs - 1, lonely],
      [lastingMs - 1, connected],
      [lastingMs, connected],
    ]),
    [['again in 60000'], ['again in 1'], ['Normal Connected', 'again in null'], ['again in null']],
  )
})

test('what lasts is told once, with the reason that it has by then', () => {
  const foreign = { PeersConnected: { reason: 'PeerIDMismatch', message: 'another' } } as const
  assert.deepEqual(
    toldOf([
      [0, lonely],
      [10_000, foreign],
      [lastingMs, foreign],
      [2 * lastingMs, foreign],
    ]),
    [
      ['again in 60000'],
      ['again in 50000'],
      ['Warning PeerIDMismatch', 'again in null'],
      ['again in null'],
    ],
  )
})

test('what nobody sees any more is no trouble', () => {
  assert.deepEqual(
    toldOf([
      [0, lonely],
      [1, unseen],
      [lastingMs, unseen],
    ]),
    [['again in 60000'], ['again in null'], ['again in null']],
  )
})

test('what stops the operator itself is told at once', () => {
  const stalled = { Stalled: { reason: 'Forbidden', message: 'no right' } } as const
  assert.deepEqual(toldOf([[0, stalled]]), [['Warning Forbidden', 'again in null']])
})
