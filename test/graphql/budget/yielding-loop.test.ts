import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapYielding, visitYielding } from '../../../src/graphql/budget/yielding-loop.ts'

/** What happens in which order, where after each item is or is not the turn of others. */
function record(isDue: (items: number) => boolean) {
  const events: string[] = []
  let items = 0
  const budget = {
    shouldYield: () => isDue(++items),
    yieldThread: async () => {
      events.push('others begin')
      await undefined
      events.push('others end')
    },
  }
  return { events, budget }
}

const everySecond = (items: number): boolean => items % 2 === 0
const interleaved = [
  '1',
  '2',
  'others begin',
  'others end',
  '3',
  '4',
  'others begin',
  'others end',
  '5',
]

test('items are visited one after the other, and others run in between where it is their turn', async () => {
  const { events, budget } = record(everySecond)
  const items = new Set([1, 2, 3, 4, 5])
  await visitYielding(budget, items, (item) => {
    events.push(`${item}`)
  })
  assert.deepEqual(events, interleaved)
})

test('each item has its result, in order, and others run in between where it is their turn', async () => {
  const { events, budget } = record(everySecond)
  const results = await mapYielding(budget, new Set([1, 2, 3, 4, 5]), (item, index) => {
    events.push(`${item}`)
    return [index, item]
  })
  assert.deepEqual(events, interleaved)
  assert.deepEqual(results, [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
    [4, 5],
  ])
})

test('an item that takes a while is done before the next one is begun', async () => {
  const { events, budget } = record(() => true)
  const slowly = async (item: number): Promise<number> => {
    events.push(`${item} begins`)
    await undefined
    events.push(`${item} ends`)
    return 10 * item
  }
  const one = (item: number) => [`${item} begins`, `${item} ends`, 'others begin', 'others end']
  await visitYielding(budget, [1, 2], async (item) => void (await slowly(item)))
  assert.deepEqual(events.splice(0), [...one(1), ...one(2)])
  assert.deepEqual(await mapYielding(budget, [1, 2], slowly), [10, 20])
  assert.deepEqual(events, [...one(1), ...one(2)])
})

test('items that are done at once are all done before anything else of the program runs', async () => {
  const { events, budget } = record(() => false)
  const add = (item: number) => {
    events.push(`${item}`)
  }
  void Promise.resolve().then(() => events.push('something else'))
  await Promise.all([visitYielding(budget, [1, 2], add), mapYielding(budget, [3, 4], add)])
  assert.deepEqual(events, ['1', '2', '3', '4', 'something else'])
})
