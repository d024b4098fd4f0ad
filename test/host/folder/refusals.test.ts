import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import { isOver, toRefusal } from '../../../src/host/folder/refusals.ts'

const refusedAtMs = 1_000
const localViews = 3
const file = { name: 'a.view', version: '1' }

/** Whether a file that was refused for this reason, beside three local Views, is tried again. */
function isTriedAgain(
  code: ErrorCode,
  now: { readonly afterMs?: number; readonly views?: number; readonly version?: string },
): boolean {
  const error = new ServiceError(code, 'not served')
  const refused = toRefusal({ file, error, address: null }, localViews, refusedAtMs)
  const { afterMs = 0, views = localViews, version = file.version } = now
  return isOver(refused, { ...file, version }, views, refusedAtMs + afterMs)
}

const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs

test('a file that was refused is tried again once it is another one, whatever the reason', () => {
  for (const code of [
    'HOST_VIEW_REFUSED',
    'HOST_VIEWS_FULL',
    'HOST_VIEW_FILE_UNREADABLE',
  ] as const) {
    assert.equal(isTriedAgain(code, {}), false)
    assert.equal(isTriedAgain(code, { version: '2' }), true)
  }
})

test('a file is read again after a minute, and checked again after an hour, where that failed', () => {
  for (const [code, ms] of [
    ['HOST_VIEW_FILE_UNREADABLE', 60_000],
    ['HOST_VIEW_CHECK_TIMEOUT', hourMs],
    ['SERVICE_THREAD_DIED', hourMs],
  ] as const) {
    assert.equal(isTriedAgain(code, { afterMs: ms - 1 }), false)
    assert.equal(isTriedAgain(code, { afterMs: ms }), true)
  }
  assert.equal(isTriedAgain('HOST_VIEW_REFUSED', { afterMs: yearMs }), false)
})

test('a file for which there was no room is tried again once there are fewer local Views', () => {
  for (const code of ['HOST_VIEWS_FULL', 'HOST_VIEW_FIELDS_FULL'] as const) {
    assert.equal(isTriedAgain(code, { afterMs: yearMs, views: localViews }), false)
    assert.equal(isTriedAgain(code, { views: localViews - 1 }), true)
  }
  assert.equal(isTriedAgain('HOST_VIEW_REFUSED', { views: 0 }), false)
})
