import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConditionDefinition, conditions } from '../../../operator/api/conditions.ts'
import { occurrencesOf } from '../../../operator/reconcile/statements/conditions.ts'
import { readyCounts } from '../support/operator-findings.ts'
import { advice, host, ofHost, situations, withSpec } from './situations.ts'
import { viewSituations } from './view-situations.ts'

const table: Readonly<Record<string, ConditionDefinition>> = conditions

/** The reason of Ready of a paused Host with two replicas whose StatefulSet has three. */
function readyWhileScaled(three: object): string | undefined {
  const state = { counts: { ...readyCounts, wantedReplicas: 3, replicas: 3, ...three } }
  const said = ofHost(
    state,
    { waiting: ['StatefulSet a changed'] },
    withSpec(host, { replicas: 2 }),
  )
  return said.find(({ type }) => type === 'Ready')?.reason
}

test('a scale that waits while paused does not read as pods that come or go', () => {
  assert.equal(readyWhileScaled({ readyReplicas: 3, updatedReplicas: 3 }), 'Paused')
  assert.notEqual(readyWhileScaled({ readyReplicas: 2, updatedReplicas: 3 }), 'Paused')
})

const reported = Object.entries({ ...situations, ...viewSituations }).flatMap(([situation, of]) =>
  of().map((condition) => ({ situation, ...condition })),
)

test('every reason of the table is one that a status comes to', () => {
  const found = new Set(reported.map(({ type, reason }) => `${type}.${reason}`))
  const known = Object.entries(table).flatMap(([type, { reasons }]) =>
    Object.keys(reasons).map((reason) => `${type}.${reason}`),
  )
  assert.deepEqual(
    known.filter((name) => !found.has(name)),
    [],
  )
  assert.deepEqual(
    [...found].filter((name) => !known.includes(name)),
    [],
  )
})

test('every message is a sentence', () => {
  const odd = reported.filter(
    ({ message }) => !/^.{10,}[.)]$/s.test(message) && !/kubectl .*$/.test(message),
  )
  assert.deepEqual(odd, [])
})

test('every message about something bad says what to do, or hands on advice', () => {
  const imperative =
    /(?:^|[.:;] )(?:(?:if|where) [^.:;]*, )?(?:add|ask|correct|create|delete|free|give|kubectl|make|name|put|raise|restore|run|see|set|stop|take|uninstall|use|write)\b/i
  const bad = reported.filter((condition) =>
    occurrencesOf([], [condition]).some(({ type }) => type === 'Warning'),
  )
  const silent = bad.filter(({ message }) => !imperative.test(message) && !message.endsWith(advice))
  assert.deepEqual(silent, [])
  const handedOn = bad.filter(({ message }) => message.endsWith(advice))
  assert.deepEqual(
    handedOn.map(({ type, reason }) => `${type}.${reason}`),
    [
      'Reconciling.ProgressingWithRetry',
      'StorageReady.ExpansionUnsupported',
      'UpstreamReachable.Failing',
      'SignersAgree.SignersDisagree',
      'SignersAgree.KeyRunsTwice',
    ],
  )
})
