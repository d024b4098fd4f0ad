import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { createFreshness, type Freshness } from '../../../../operator/runtime/cache/freshness.ts'
import { ServiceError } from '../../../../src/errors.ts'
import { captureLog } from '../../../support/captured-log.ts'

const away = new ServiceError('OPERATOR_API_UNREACHABLE', 'away', { remedy: '' })
const forbidden = new ServiceError('OPERATOR_API_FORBIDDEN', 'no', { remedy: '' })

const unknown = new ServiceError('OPERATOR_API_NOT_FOUND', 'unknown', { remedy: '' })

let freshness: Freshness
let turns: (string | null)[]

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
  turns = []
  const onTurn = (): void => void turns.push(freshness.unread()?.message ?? null)
  freshness = createFreshness({ plural: 'pods' }, { log: captureLog().log, onTurn })
})
afterEach(() => {
  freshness.close()
  mock.timers.reset()
})

test('what was never listed is unread, and the first list makes it readable', () => {
  assert.equal(freshness.unread()?.message, 'pods have not been listed yet')
  assert.equal(freshness.needsList(), true)
  freshness.failed(away)
  assert.equal(freshness.unread(), away)
  freshness.listed()
  assert.deepEqual([freshness.unread(), freshness.needsList()], [null, false])
})

test('a failure counts after a minute, and one that passes sooner does not', () => {
  freshness.listed()
  freshness.failed(away)
  mock.timers.tick(59_999)
  freshness.failed(away)
  assert.equal(freshness.unread(), null)
  freshness.watching()
  mock.timers.tick(60_000)
  freshness.failed(away)
  mock.timers.tick(59_999)
  assert.deepEqual(turns, [])
  mock.timers.tick(1)
  assert.deepEqual([turns, freshness.unread(), freshness.needsList()], [['away'], away, true])
})

test('a right that is missing counts at once, until there is a watch again', () => {
  freshness.listed()
  freshness.failed(forbidden)
  freshness.failed(forbidden)
  assert.deepEqual([freshness.unread(), freshness.needsList()], [forbidden, true])
  freshness.listed()
  assert.equal(freshness.unread(), forbidden)
  freshness.watching()
  assert.equal(freshness.unread(), null)
  assert.deepEqual(turns, ['no', null])
})

test('an API server that starts and refuses until it has read its roles is no reason to stop', () => {
  freshness.listed()
  freshness.failed(away)
  mock.timers.tick(5_000)
  freshness.failed(forbidden)
  mock.timers.tick(9_999)
  freshness.watching()
  mock.timers.tick(60_000)
  assert.deepEqual([freshness.unread(), turns], [null, []])
})

test('a right that is gone when the API server answers again counts ten seconds after that', () => {
  freshness.listed()
  freshness.failed(away)
  mock.timers.tick(30_000)
  freshness.failed(forbidden)
  mock.timers.tick(10_000)
  assert.deepEqual([freshness.unread(), turns], [forbidden, ['no']])
  mock.timers.tick(60_000)
  assert.deepEqual(turns, ['no'])
})

test('a refusal that goes on counts ten seconds after the first one', () => {
  freshness.listed()
  freshness.failed(away)
  freshness.failed(forbidden)
  mock.timers.tick(9_999)
  freshness.failed(forbidden)
  assert.deepEqual(turns, [])
  mock.timers.tick(1)
  assert.deepEqual([freshness.unread(), turns], [forbidden, ['no']])
})

test('a kind that was never known is unread at once, and one that was known after a minute', () => {
  freshness.failed(unknown)
  assert.deepEqual([freshness.unread(), turns], [unknown, ['unknown']])
  freshness.listed()
  assert.deepEqual([freshness.unread(), turns], [null, ['unknown', null]])
  freshness.failed(unknown)
  mock.timers.tick(59_999)
  assert.equal(freshness.unread(), null)
  mock.timers.tick(1)
  assert.deepEqual([freshness.unread(), turns.length], [unknown, 3])
})

test('what was closed turns no more', () => {
  freshness.listed()
  freshness.failed(away)
  freshness.failed(forbidden)
  freshness.close()
  mock.timers.tick(60_000)
  assert.deepEqual(turns, [])
})
