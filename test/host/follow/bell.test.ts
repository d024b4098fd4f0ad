import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBell } from '../../../src/host/follow/bell.ts'

/** Which of these have resolved by now, in order. */
async function heardOf(...waits: Promise<string>[]): Promise<string[]> {
  const heard: string[] = []
  for (const wait of waits) void wait.then((name) => heard.push(name))
  await new Promise(setImmediate)
  return heard
}

test('a bell that rang before anybody waits is heard at once, however often it rang', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const bell = createBell()
  bell.ring()
  bell.ring()
  const first = bell.heard(1_000).then(() => 'first')
  assert.deepEqual(await heardOf(first), ['first'])
  const second = bell.heard(1_000).then(() => 'second')
  assert.deepEqual(await heardOf(second), [])
  bell.ring()
  assert.deepEqual(await heardOf(second), ['second'])
})

test('a bell that does not ring is heard after the time that was given', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const bell = createBell()
  const first = bell.heard(1_000).then(() => 'first')
  t.mock.timers.tick(999)
  assert.deepEqual(await heardOf(first), [])
  t.mock.timers.tick(1)
  assert.deepEqual(await heardOf(first), ['first'])
  bell.ring()
  const second = bell.heard(1_000).then(() => 'second')
  assert.deepEqual(await heardOf(second), ['second'])
})
