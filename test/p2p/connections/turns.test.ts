import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from '../../../src/p2p/connections/turns.ts'

const never = new AbortController().signal

test('who had no turn yet is served before those who wait for one more', async () => {
  const turns = createTurns(5, 100)
  const order: string[] = []
  const take = async (key: string): Promise<void> => {
    assert(await turns.take(key, never))
    order.push(key)
  }
  const flood = Array.from({ length: 12 }, () => take('flood'))
  const late = take('late')
  await Promise.all([...flood, late])
  const burst = 10
  assert.equal(order.indexOf('late'), burst)
})

test('who leaves while waiting gets no turn, and takes none from others', async () => {
  const turns = createTurns(20, 100)
  const leaving = new AbortController()
  await Promise.all(Array.from({ length: 40 }, () => turns.take('a', never)))
  const left = turns.take('b', leaving.signal)
  const next = turns.take('c', never)
  leaving.abort()
  assert.equal(await left, false)
  assert.equal(await next, true)
  assert.equal(await turns.take('d', leaving.signal), false)
})
