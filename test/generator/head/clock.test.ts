/** The clock by which heads are signed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/generator/head/clock.ts'

test('what is due after a time is done then, unless it is cancelled before', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const done: string[] = []
  systemClock.after(10, () => done.push('kept'))
  const cancel = systemClock.after(10, () => done.push('cancelled'))
  t.mock.timers.tick(9)
  assert.deepEqual(done, [])
  cancel()
  t.mock.timers.tick(1)
  assert.deepEqual(done, ['kept'])
})
