import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHandshakeScheduler } from '../../../src/p2p/connections/handshake-scheduler.ts'
import { clockOf } from '../../app/support/test-clock.ts'

const never = new AbortController().signal

/** A scheduler of so many handshakes a second, and the order in which those that were asked for began. */
function openTurns(
  t: TestContext,
  perSecond = 4,
): {
  ask(keys: string, signal?: AbortSignal): void
  /** Lets time pass; all that began until then. */
  after(ms: number): Promise<string>
} {
  const { pass } = clockOf(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turns = createHandshakeScheduler(perSecond, 100)
  const order: string[] = []
  return {
    ask: (keys, signal = never) => {
      for (const key of keys)
        void turns.schedule(key, signal).then((isTurn) => order.push(isTurn ? key : `-${key}`))
    },
    after: async (ms) => {
      pass(ms)
      t.mock.timers.tick(ms)
      await nextTurn()
      return order.join('')
    },
  }
}

test('two seconds’ worth of handshakes begin at once, and then one after the other', async (t) => {
  const { ask, after } = openTurns(t)
  ask('aaaaaaaaaa')
  assert.equal(await after(0), 'aaaaaaaa')
  assert.equal(await after(249), 'aaaaaaaa')
  assert.equal(await after(1), 'aaaaaaaaa')
  assert.equal(await after(250), 'aaaaaaaaaa')
  ask('b')
  assert.equal(await after(249), 'aaaaaaaaaa')
  assert.equal(await after(1), 'aaaaaaaaaab')
})

test('one handshake begins at once however few may a second, and the next one in its time', async (t) => {
  const { ask, after } = openTurns(t, 0.25)
  ask('aa')
  assert.equal(await after(0), 'a')
  assert.equal(await after(3_999), 'a')
  assert.equal(await after(1), 'aa')
})

test('of addresses that were served as long ago the one that asked first is next', async (t) => {
  const { ask, after } = openTurns(t)
  ask('aaaaaaaa')
  await after(0)
  ask('abcabc')
  for (const served of ['b', 'bc', 'bca', 'bcab', 'bcabc', 'bcabca'])
    assert.equal((await after(250)).slice(8), served)
})

test('an address that had no handshake yet is served before those that wait for another', async (t) => {
  const { ask, after } = openTurns(t)
  ask('abbbbbbb')
  assert.equal(await after(0), 'abbbbbbb')
  ask('ac')
  assert.equal(await after(250), 'abbbbbbbc')
})

test('a connection that closes while it waits gets no handshake, and takes none from others', async (t) => {
  const { ask, after } = openTurns(t)
  const leaving = new AbortController()
  ask('aaaaaaaa')
  await after(0)
  ask('b', leaving.signal)
  ask('c')
  leaving.abort()
  ask('d', leaving.signal)
  assert.equal((await after(0)).slice(8), '-d-b')
  assert.equal((await after(250)).slice(12), 'c')
})
