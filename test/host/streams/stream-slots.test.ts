import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { createStreamSlots } from '../../../src/host/streams/stream-slots.ts'

const never = new AbortController().signal
const open = (maxWaitMs = 60_000) => createStreamSlots({ slots: 2, maxWaiting: 2, maxWaitMs })

describe('slots', () => {
  test('are taken by so many at once, each its own, and go to those that wait in their order', async () => {
    const slots = open()
    const [first, second] = [await slots.take(never), await slots.take(never)]
    assert.notEqual(first.number, second.number)
    const order: string[] = []
    const waiting = ['a', 'b'].map(async (name) => {
      const slot = await slots.take(never)
      order.push(name)
      return slot
    })
    first.release()
    first.release()
    const third = await waiting[0]
    assert.equal(third?.number, first.number)
    assert.deepEqual(order, ['a'])
    third?.release()
    await waiting[1]
    assert.deepEqual(order, ['a', 'b'])
    assert.deepEqual(getEventListeners(never, 'abort'), [])
  })

  test('are waited for by nobody who has one, nor by a timer', async (t) => {
    const begun = t.mock.method(globalThis, 'setTimeout')
    const ended = t.mock.method(globalThis, 'clearTimeout')
    const slots = open()
    const [first] = [await slots.take(never), await slots.take(never)]
    const waiting = slots.take(never)
    first.release()
    await waiting
    assert.equal(begun.mock.callCount(), 1)
    assert.equal(ended.mock.calls[0]?.arguments[0], begun.mock.calls[0]?.result)
  })

  test('refuse who would be one too many to wait', async () => {
    const slots = open()
    const taken = [await slots.take(never), await slots.take(never)]
    const waiting = [slots.take(never), slots.take(never)]
    await assert.rejects(slots.take(never), {
      code: 'HOST_VIEW_BUSY',
      message: '2 queries compute Views, as many as may at once, and 2 others wait',
    })
    for (const slot of taken) slot.release()
    assert.equal((await Promise.all(waiting)).length, 2)
  })

  test('refuse who waited for too long, and are free for the next one', async () => {
    const slots = open(1)
    const first = await slots.take(never)
    await slots.take(never)
    await assert.rejects(slots.take(never), { code: 'HOST_VIEW_BUSY', message: /waited 1 ms$/ })
    first.release()
    assert.equal((await slots.take(never)).number, first.number)
  })

  test('let who goes away stop waiting', async () => {
    const slots = open()
    const first = await slots.take(never)
    await slots.take(never)
    const controller = new AbortController()
    const waiting = slots.take(controller.signal)
    controller.abort(new Error('gone'))
    await assert.rejects(waiting, /gone/)
    await assert.rejects(slots.take(controller.signal), /gone/)
    first.release()
    assert.equal((await slots.take(never)).number, first.number)
  })

  test('go to those behind who went away, whether or not it had got one by then', async () => {
    const slots = open()
    let held = await slots.take(never)
    await slots.take(never)
    for (const isGiven of [false, true]) {
      const controller = new AbortController()
      const leaving = slots.take(controller.signal)
      const staying = slots.take(never)
      if (isGiven) held.release()
      controller.abort(new Error('gone'))
      if (isGiven) (await leaving).release()
      else await assert.rejects(leaving, /gone/).then(held.release)
      const next = await staying
      assert.equal(next.number, held.number)
      held = next
    }
  })
})
