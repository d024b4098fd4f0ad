/** What goes wrong in a soak: enough of everything, however short it is, and the same again for the same seed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeededRandom } from '../support/seeded-random.ts'
import { generatorNames, hostNames, planTroubles, type Trouble } from './plan.ts'

const planOf = (minutes: number, seed: string): Trouble[] =>
  planTroubles(minutes, createSeededRandom(seed))
const seeds = Array.from({ length: 200 }, (_, index) => `seed ${index}`)
const countOf = (plan: readonly Trouble[], kind: Trouble['kind']): number =>
  plan.filter((trouble) => trouble.kind === kind).length

test('three minutes have three reorganisations, a kill of each program and a node outage', () => {
  for (const plan of seeds.map((seed) => planOf(3, seed))) {
    const killed = plan.flatMap((trouble) => (trouble.kind === 'kill' ? [trouble.name] : []))
    assert.equal(countOf(plan, 'reorganisation'), 3)
    assert.equal(killed.filter((name) => generatorNames.some((each) => each === name)).length, 1)
    assert.equal(killed.filter((name) => hostNames.some((each) => each === name)).length, 1)
    assert.equal(countOf(plan, 'absence'), 1)
  }
})

test('an hour has a reorganisation a minute and a kill every two', () => {
  const plan = planOf(60, 'an hour')
  const kinds = ['reorganisation', 'kill', 'absence'] as const
  assert.deepEqual(
    kinds.map((kind) => countOf(plan, kind)),
    [60, 30, 20],
  )
})

test('troubles come in the order of their times, and leave quiet at the end', () => {
  for (const plan of seeds.map((seed) => planOf(4, seed))) {
    const times = plan.map(({ atS }) => atS)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    for (const trouble of plan) {
      const lastsS = trouble.kind === 'absence' ? trouble.forS : 0
      assert.ok(trouble.atS >= 25 && trouble.atS + lastsS <= 4 * 60 - 15)
    }
  }
})

test('reorganisations take one to ten blocks back', () => {
  const depths = planOf(300, 'depths').flatMap((trouble) =>
    trouble.kind === 'reorganisation' ? [trouble.depth] : [],
  )
  assert.deepEqual(
    [...new Set(depths)].sort((a, b) => a - b),
    Array.from({ length: 10 }, (_, index) => index + 1),
  )
})

test('the same seed makes the same plan, another one another', () => {
  assert.deepEqual(planOf(10, 'this'), planOf(10, 'this'))
  assert.notDeepEqual(planOf(10, 'this'), planOf(10, 'that'))
})
