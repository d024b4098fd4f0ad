import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mainConditions } from '../../../../operator/api/main-conditions.ts'
import { partConditions } from '../../../../operator/api/part-conditions.ts'
import {
  conditionsOf,
  occurrencesOf,
} from '../../../../operator/reconcile/statements/conditions.ts'

const at = { lastTransitionTime: '2026-01-01T00:00:00Z' }

test('conditions come in the order of the table, with the status of their reasons', () => {
  const found = conditionsOf({
    StorageReady: { reason: 'Bound', message: 'All claims are bound.' },
    Ready: { reason: 'Initializing', message: '0 of 1 pods are ready.' },
    UpstreamReachable: { reason: 'Unobserved', message: 'No pod could be asked.' },
  })
  assert.deepEqual(
    found.map(({ type, status }) => [type, status]),
    [
      ['Ready', 'False'],
      ['StorageReady', 'True'],
      ['UpstreamReachable', 'Unknown'],
    ],
  )
})

test('an Event is recorded when a reason changes, not when a message does', () => {
  const after = conditionsOf({ Stalled: { reason: 'Forbidden', message: 'no' } })
  assert.deepEqual(occurrencesOf([], after), [
    { type: 'Warning', reason: 'Forbidden', action: 'Stalled', note: 'no' },
  ])
  const before = [
    { type: 'Ready', status: 'False', reason: 'Initializing', message: 'other', ...at },
    { type: 'Stalled', status: 'True', reason: 'Forbidden', message: 'other', ...at },
  ]
  assert.deepEqual(occurrencesOf(before as never, after), [])
})

test('the smallest steps on the way are no Events', () => {
  const after = conditionsOf({ Ready: { reason: 'Initializing', message: 'starting' } })
  assert.deepEqual(occurrencesOf([], after), [])
})

test('what was asked for and what passes by itself is no warning; what failed is one', () => {
  const typeOf = (statements: Parameters<typeof conditionsOf>[0]): string[] =>
    occurrencesOf([], conditionsOf(statements)).map(({ type, reason }) => `${type} ${reason}`)
  const message = 'said'
  for (const [statements, reported] of [
    [{ StorageReady: { reason: 'Expanding', message } }, 'Normal Expanding'],
    [
      { StorageReady: { reason: 'FileSystemResizePending', message } },
      'Normal FileSystemResizePending',
    ],
    [{ StorageReady: { reason: 'Bound', message } }, 'Normal Bound'],
    [{ Paused: { reason: 'ChangesWaiting', message } }, 'Normal ChangesWaiting'],
    [{ Reconciling: { reason: 'ProgressingWithRetry', message } }, 'Warning ProgressingWithRetry'],
    [{ StorageReady: { reason: 'ExpansionFailed', message } }, 'Warning ExpansionFailed'],
    [{ Ready: { reason: 'PodsFailing', message } }, 'Warning PodsFailing'],
    [{ Ready: { reason: 'WaitingForUpstream', message } }, 'Warning WaitingForUpstream'],
  ] as const) {
    assert.deepEqual(typeOf(statements), [reported])
  }
})

test('what Stalled and a part say for one reason is reported once, by Stalled', () => {
  const message = 'gone'
  const { reasons } = mainConditions.Stalled
  const shared = typedKeys(reasons).filter((reason) =>
    Object.values(partConditions).some((part) => reason in part.reasons),
  )
  assert.ok(shared.includes('KeysClaimMissing') && shared.includes('DuplicateKey'))
  for (const reason of shared) {
    const part = { type: 'IdentityReady', status: 'False', reason, message } as const
    const after = [...conditionsOf({ Stalled: { reason, message } }), part]
    const reported = occurrencesOf([], after).map((event) => `${event.action} ${event.reason}`)
    assert.deepEqual(reported, [`Stalled ${reason}`])
    assert.deepEqual(occurrencesOf([{ ...after[0], ...at }] as never, after), [])
  }
})

test('a roll-out and larger volumes are reported once, by what says why', () => {
  const message = 'pods are being replaced'
  const rolling = conditionsOf({
    Ready: { reason: 'RollingOut', message },
    Reconciling: { reason: 'WaitingForRollout', message },
  })
  assert.deepEqual(occurrencesOf([], rolling), [])
  const growing = conditionsOf({
    Ready: { reason: 'WaitingForStorage', message },
    Reconciling: { reason: 'ExpandingStorage', message },
    StorageReady: { reason: 'Expanding', message },
  })
  const reported = occurrencesOf([], growing).map(({ reason }) => reason)
  assert.deepEqual(reported, ['Expanding'])
})

function typedKeys<T extends object>(object: T): (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[]
}
