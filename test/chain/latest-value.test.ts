/** What a slow consumer gets of values that come faster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLatestValue } from '../../src/chain/latest-value.ts'

const open = () => createLatestValue<number>((a, b) => a === b)

test('who takes a value gets the newest one, and waits for another one after it', async () => {
  const values = open()
  const taken: (number | null)[] = []
  for (const value of [1, 2]) values.put(value)
  assert.equal(await values.take(), 2)
  const next = values.take().then((value) => taken.push(value))
  values.put(2)
  await nextTurn()
  assert.deepEqual(taken, [], 'the same again is nothing new')
  values.put(1)
  await next
  assert.deepEqual(taken, [1])
})

test('after the end there is no value, neither for who waits nor of what came before', async () => {
  const values = open()
  const waiting = values.take()
  values.end()
  assert.equal(await waiting, null)
  values.put(1)
  assert.equal(await values.take(), null)
})

test('a failure is thrown to who waits, and to whoever takes a value after it', async () => {
  const values = open()
  const failure = new Error('no more values')
  const waiting = values.take()
  values.fail(failure)
  await assert.rejects(waiting, failure)
  values.put(1)
  await assert.rejects(values.take(), failure)
})
