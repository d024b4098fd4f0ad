import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWakeUp } from '../../src/registry/wake-up.ts'
import { runningTimers } from '../support/leaks/timers.ts'

const never = new AbortController().signal

test('a pause does not keep the program from ending', async () => {
  const wakeUp = createWakeUp()
  const before = runningTimers()
  const pause = wakeUp.pause(60_000, never)
  assert.equal(runningTimers(), before)
  wakeUp.wake()
  assert.equal(await pause, true)
})

test('a pause ends when it is woken, and the next one lasts as long as it is to', async () => {
  const wakeUp = createWakeUp()
  const pause = wakeUp.pause(60_000, never)
  wakeUp.wake()
  assert.equal(await pause, true)
  assert.equal(await wakeUp.pause(1, never), false)
})

test('what is woken before its pause does not pause, once, however often it was woken', async () => {
  const wakeUp = createWakeUp()
  for (let time = 0; time < 2; time++) wakeUp.wake()
  assert.equal(await wakeUp.pause(60_000, never), true)
  assert.equal(await wakeUp.pause(1, never), false)
})

test('a pause that nobody wakes does not keep the next one from being woken', async () => {
  const wakeUp = createWakeUp()
  assert.equal(await wakeUp.pause(1, never), false)
  const pause = wakeUp.pause(60_000, never)
  wakeUp.wake()
  assert.equal(await pause, true)
})

test('an abort ends a pause with its reason, and keeps what it was woken by for the next', async () => {
  const wakeUp = createWakeUp()
  const stop = new AbortController()
  const pause = wakeUp.pause(60_000, stop.signal)
  stop.abort(new Error('stopped'))
  await assert.rejects(pause, { message: 'stopped' })
  wakeUp.wake()
  await assert.rejects(wakeUp.pause(60_000, stop.signal), { message: 'stopped' })
  assert.equal(await wakeUp.pause(60_000, never), true)
})
