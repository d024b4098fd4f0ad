import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ErrorCode, ServiceError } from '../../../../../src/errors.ts'
import {
  isOfView,
  isRetried,
  retryDelayMs,
  toFailure,
} from '../../../../../src/host/views/engine/failures/block-failure.ts'
import { decodeFailure, encodeFailure } from '../../../../../src/views/rows/block-rows.ts'

const error = (code: ErrorCode, cause?: unknown): ServiceError =>
  new ServiceError(code, 'it failed', { remedy: 'mend it', cause })
const minutes = 60_000

describe('a failure of a View’s block', () => {
  it('is kept as it was, cut where it is long, and with whole characters', () => {
    const failure = toFailure(error('LENS_TRAPPED'), 1)
    assert.deepEqual(decodeFailure(encodeFailure(failure)), {
      code: 'LENS_TRAPPED',
      message: 'it failed',
      remedy: 'mend it',
      attempts: 1,
    })
    const long = toFailure(new ServiceError('LENS_FAILED', `${'x'.repeat(999)}😀`), 2)
    assert.deepEqual(decodeFailure(encodeFailure(long)), long)
    assert.equal(long.message.length, 1_000)
    assert.equal(long.remedy, null)
  })

  it('is said to be tried again exactly where it is', () => {
    const again =
      'It is tried again later, unless the View is quarantined; if this stays, remove the View.'
    assert.equal(toFailure(error('LENS_MEMORY_LIMIT'), 1).remedy, `mend it ${again}`)
    assert.equal(toFailure(new ServiceError('LENS_TIME_LIMIT', 'late'), 1).remedy, again)
    assert.equal(toFailure(error('LENS_TRAPPED'), 1).remedy, 'mend it')
  })

  it('is tried again after 1 to 60 minutes where time or memory was short', () => {
    for (const code of ['LENS_TIME_LIMIT', 'LENS_MEMORY_LIMIT', 'LENS_PROCESS_DIED'] as const)
      assert.ok(isRetried(error(code)))
    for (const code of ['LENS_TRAPPED', 'LENS_OUTPUT_LIMIT', 'VIEWS_SELECTION_TOO_LARGE'] as const)
      assert.ok(!isRetried(error(code)))
    const delays = [1, 2, 3, 6, 7, 50].map((attempts) =>
      retryDelayMs(toFailure(error('LENS_TIME_LIMIT'), attempts)),
    )
    assert.deepEqual(
      delays,
      [1, 2, 4, 32, 60, 60].map((each) => each * minutes),
    )
  })

  it('is the View’s only where its lenses or its query caused it', () => {
    assert.ok(isOfView(error('LENS_TRAPPED')))
    assert.ok(isOfView(error('LENS_TRAPPED', new Error('unreachable'))))
    assert.ok(isOfView(error('LENS_PROCESS_DIED')))
    assert.ok(isOfView(error('VIEWS_SELECTION_TOO_LARGE')))
    assert.ok(!isOfView(error('LENS_BUSY')))
    assert.ok(!isOfView(error('LENS_PROCESS_DIED', new Error('a thread did not start'))))
    assert.ok(!isOfView(error('STORE_NOT_OPEN')))
    assert.ok(!isOfView(new Error('anything')))
  })
})
