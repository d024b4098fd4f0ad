/** Work that peers ask for leaves the thread to others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShareOfTime } from '../src/share-of-time.ts'

test('pieces run one after the other, each in a turn of its own, and answer or throw', async () => {
  const time = createShareOfTime()
  const order: string[] = []
  const first = time.run(() => order.push('first'))
  const second = time.run(() => {
    throw new Error('no')
  })
  const third = time.run(() => order.push('third'))
  order.push('meanwhile')
  await assert.rejects(second, /no/)
  assert.deepEqual(await Promise.all([first, third]), [2, 3])
  assert.deepEqual(order, ['meanwhile', 'first', 'third'])
})

test('what uses up its share waits until there is some again', async () => {
  let nowMs = 0
  const pauses: number[] = []
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms)
    nowMs += ms
  }
  const time = createShareOfTime({ share: 0.1, burstMs: 20 }, { nowMs: () => nowMs, pause })
  const work = (ms: number) => (): void => {
    nowMs += ms
  }
  for (const ms of [10, 10, 50, 1]) await time.run(work(ms))
  // At first there are 20 ms; a tenth of what passes comes back.
  assert.deepEqual(pauses.map(Math.round), [0, 0, 0, 430])
  nowMs += 1_000_000
  for (const ms of [20, 1]) await time.run(work(ms))
  assert.deepEqual(pauses.slice(-2).map(Math.round), [0, 0])
})
