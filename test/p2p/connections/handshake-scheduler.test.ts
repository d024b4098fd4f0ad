import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHandshakeScheduler } from '../../../src/p2p/connections/handshake-scheduler.ts'

const never = new AbortController().signal

test('an address that had no handshake yet is served before those that wait for another', async () => {
  const turns = createHandshakeScheduler(5, 100)
  const order: string[] = []
  const take = async (key: string): Promise<void> => {
    assert(await turns.schedule(key, never))
    order.push(key)
  }
  const flood = Array.from({ length: 12 }, () => take('flood'))
  const late = take('late')
  await Promise.all([...flood, late])
  const burst = 10
  assert.equal(order.indexOf('late'), burst)
})

test('a connection that closes while it waits gets no handshake, and takes none from others', async () => {
  const turns = createHandshakeScheduler(20, 100)
  const leaving = new AbortController()
  await Promise.all(Array.from({ length: 40 }, () => turns.schedule('a', never)))
  const left = turns.schedule('b', leaving.signal)
  const next = turns.schedule('c', never)
  leaving.abort()
  assert.equal(await left, false)
  assert.equal(await next, true)
  assert.equal(await turns.schedule('d', leaving.signal), false)
})
