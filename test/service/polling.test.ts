import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openPolling } from '../../src/service/polling.ts'
import { runningTimers } from '../support/leaks/timers.ts'

test('what is read again and again does not keep the program from ending', (t) => {
  const before = runningTimers()
  const polling = openPolling(60_000, async () => undefined)
  t.after(() => polling.close())
  assert.equal(runningTimers(), before)
})

test('one reading at a time begins after each interval, and none after the close', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const readings: PromiseWithResolvers<void>[] = []
  const polling = openPolling(1_000, () => {
    const reading = Promise.withResolvers<void>()
    readings.push(reading)
    return reading.promise
  })
  const finish = async (): Promise<void> => {
    readings.at(-1)?.resolve()
    await setImmediate()
  }
  t.mock.timers.tick(999)
  assert.equal(readings.length, 0)
  t.mock.timers.tick(1)
  assert.equal(readings.length, 1)
  t.mock.timers.tick(1_000)
  polling.poll()
  assert.equal(readings.length, 1)
  await finish()
  polling.poll()
  assert.equal(readings.length, 2)
  await finish()
  t.mock.timers.tick(1_000)
  assert.equal(readings.length, 3)
  let isClosed = false
  const closing = polling.close().then(() => {
    isClosed = true
  })
  await setImmediate()
  assert.equal(isClosed, false)
  await finish()
  await closing
  t.mock.timers.tick(5_000)
  assert.equal(readings.length, 3)
})
