import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSlots } from '../../../src/p2p/limits/slots.ts'

const never = new AbortController().signal

/** Whether a promise has settled once everything that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const note = (): void => {
    settled = true
  }
  promise.then(note, note)
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

describe('slots', () => {
  it('are given so many at a time for each key, and in the order of those that wait', async () => {
    const slots = createSlots(2)
    const [first] = await Promise.all([slots.acquire('a', never), slots.acquire('a', never)])
    await slots.acquire('b', never)
    const third = slots.acquire('a', never)
    const fourth = slots.acquire('a', never)
    assert.deepEqual([await isSettled(third), await isSettled(fourth)], [false, false])
    first()
    const giveBack = await third
    assert.equal(await isSettled(fourth), false)
    giveBack()
    await fourth
  })

  it('are given back once, however often that is said', async () => {
    const slots = createSlots(1)
    const first = await slots.acquire('a', never)
    first()
    first()
    const second = await slots.acquire('a', never)
    first()
    const third = slots.acquire('a', never)
    assert.equal(await isSettled(third), false)
    second()
    await third
  })

  it('are as many as before when one of them was given back', async () => {
    const slots = createSlots(2)
    const [first] = await Promise.all([slots.acquire('a', never), slots.acquire('a', never)])
    first()
    await slots.acquire('a', never)
    assert.equal(await isSettled(slots.acquire('a', never)), false)
  })

  it('are all there again when all were given back', async () => {
    const slots = createSlots(2)
    const [first, second] = await Promise.all([
      slots.acquire('a', never),
      slots.acquire('a', never),
    ])
    const waiting = slots.acquire('a', never)
    first()
    for (const release of [await waiting, second]) release()
    await Promise.all([slots.acquire('a', never), slots.acquire('a', never)])
    assert.equal(await isSettled(slots.acquire('a', never)), false)
  })

  it('go past who gave up waiting, and not to who had when it came', async () => {
    const slots = createSlots(1)
    const release = await slots.acquire('a', never)
    const leaving = new AbortController()
    const left = slots.acquire('a', leaving.signal)
    const next = slots.acquire('a', never)
    const reason = new Error('it takes too long')
    leaving.abort(reason)
    await assert.rejects(left, reason)
    await assert.rejects(slots.acquire('b', leaving.signal), reason)
    release()
    await next
  })

  it('are kept by who gives up once it has one', async () => {
    const slots = createSlots(1)
    const release = await slots.acquire('a', never)
    const leaving = new AbortController()
    const second = slots.acquire('a', leaving.signal)
    release()
    const giveBack = await second
    const third = slots.acquire('a', never)
    leaving.abort(new Error('too late'))
    assert.equal(await isSettled(third), false)
    giveBack()
    await third
  })
})
