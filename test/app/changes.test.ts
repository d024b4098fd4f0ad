/** How listeners hear of changes, and what is left of a wait that is over. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { type TestContext, test } from 'node:test'
import { type Changes, createChanges, untilSo } from '../../src/app/changes.ts'
import type { AppState } from '../../src/app/contract.ts'
import { captureLog } from '../support/captured-log.ts'

interface Scene {
  readonly changes: Changes
  /** Listens, and returns what it heard so far; how often something was stored is `bytes`. */
  hear(): readonly number[]
  /** Something is stored. */
  store(): void
  /** Lets so much time pass. */
  pass(ms: number): void
  readonly errors: () => readonly string[]
}

function openScene(t: TestContext): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, messages } = captureLog()
  let bytes = 0
  const state = (): AppState => ({ views: [], hosts: [], bytes, failure: null })
  const changes = createChanges(state, log)
  return {
    changes,
    hear: () => {
      const heard: number[] = []
      changes.listen((now) => void heard.push(now.bytes))
      return heard
    },
    store: () => {
      bytes += 1
      changes.note()
    },
    pass: (ms) => t.mock.timers.tick(ms),
    errors: () => messages('error'),
  }
}

test('listeners hear at most every 250 ms how everything stands then', (t) => {
  const { hear, store, pass } = openScene(t)
  const [one, other] = [hear(), hear()]
  store()
  pass(100)
  store()
  pass(149)
  assert.deepEqual(one, [])
  pass(1)
  assert.deepEqual([one, other], [[2], [2]])
  pass(1_000)
  store()
  pass(250)
  assert.deepEqual(one, [2, 3])
})

test('a listener does not hear of what changed before it listened', (t) => {
  const { hear, store, pass } = openScene(t)
  store()
  const heard = hear()
  pass(250)
  assert.deepEqual(heard, [])
})

test('a listener that throws is logged, and others hear nevertheless', (t) => {
  const { changes, hear, store, pass, errors } = openScene(t)
  changes.listen(() => {
    throw new Error('of the application')
  })
  const heard = hear()
  store()
  pass(250)
  assert.deepEqual([heard, errors()], [[1], ['a listener of the application failed']])
})

test('nobody hears of anything once that is closed, not even of what changed before', (t) => {
  const { changes, hear, store, pass } = openScene(t)
  const heard = hear()
  store()
  changes.close()
  pass(250)
  store()
  pass(250)
  assert.deepEqual(heard, [])
})

interface Waiting {
  readonly waiting: Promise<void>
  readonly listeners: ReadonlySet<() => void>
  readonly ending: AbortController
  /** From now on it is so; listeners are notified. */
  become(): void
}

function wait(): Waiting {
  const listeners = new Set<() => void>()
  const ending = new AbortController()
  let isSo = false
  const listen = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    ...{ listeners, ending, waiting: untilSo(() => isSo, listen, ending.signal) },
    become: () => {
      isSo = true
      for (const listener of listeners) listener()
    },
  }
}

test('who waits hears of changes until it is so, and leaves no listener behind', async () => {
  const { waiting, listeners, ending, become } = wait()
  const [listener] = listeners
  listener?.()
  assert.deepEqual([listeners.size, getEventListeners(ending.signal, 'abort').length], [1, 1])
  become()
  await waiting
  assert.deepEqual([listeners.size, getEventListeners(ending.signal, 'abort').length], [0, 0])
})

test('who waits in vain gets the reason of the signal, and leaves no listener behind', async () => {
  const { waiting, listeners, ending } = wait()
  ending.abort(new Error('it takes too long'))
  await assert.rejects(waiting, /it takes too long/)
  assert.deepEqual([listeners.size, getEventListeners(ending.signal, 'abort').length], [0, 0])
})
