/** How a run chooses its changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeededRandom } from '../support/seeded-random.ts'
import { chooseMutants } from './choose-mutants.ts'
import type { Mutant, Place } from './place.ts'

const places: readonly Place[] = Array.from({ length: 50 }, (_, start) => ({
  path: 'src/x.ts',
  start,
  mutants: ['a', 'b', 'c'].map((text) => ({ path: 'src/x.ts', start, end: start + 1, text })),
}))

function choose(seed: string, count: number, compiles = (_: Mutant): boolean => true): Mutant[] {
  return [...chooseMutants(places, count, createSeededRandom(seed), compiles)]
}

test('the same seed chooses the same changes, another seed others', () => {
  assert.deepEqual(choose('one', 10), choose('one', 10))
  assert.notDeepEqual(choose('one', 10), choose('two', 10))
})

test('no place is chosen twice, and all of them where more are asked for', () => {
  const starts = choose('all', 99).map(({ start }) => start)
  assert.deepEqual(
    starts.toSorted((a, b) => a - b),
    places.map(({ start }) => start),
  )
})

test('of a place a change is chosen that compiles; a place without one does not count', () => {
  const chosen = choose('some', 10, ({ start, text }) => start % 2 === 0 && text === 'b')
  assert.equal(chosen.length, 10)
  assert.ok(chosen.every(({ start, text }) => start % 2 === 0 && text === 'b'))
})
