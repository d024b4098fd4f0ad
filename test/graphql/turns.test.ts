import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from '../../src/graphql/turns.ts'

test('those who wait go on one after the other, one in each turn of the event loop', async () => {
  const turns = createTurns()
  const resumed: { readonly name: string; readonly turn: number }[] = []
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const work = async (name: string, slices: number): Promise<void> => {
    for (let slice = 0; slice < slices; slice++) {
      await turns.next()
      resumed.push({ name, turn })
    }
  }
  assert.equal(turns.isBusy(), false)
  const all = Promise.all([work('a', 2), work('b', 2), work('c', 1)])
  assert.equal(turns.isBusy(), true)
  await all
  isOver = true
  assert.deepEqual(
    resumed.map(({ name }) => name),
    ['a', 'b', 'c', 'a', 'b'],
  )
  assert.equal(new Set(resumed.map((one) => one.turn)).size, resumed.length)
})
