/** What goes wrong in a soak: enough of everything, however short it is, and the same again for the same seed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeededRandom } from '../support/seeded-random.ts'
import { type Disruption, generatorNames, hostNames, planDisruptions } from './plan.ts'

const planOf = (minutes: number, seed: string): Disruption[] =>
  planDisruptions(minutes, createSeededRandom(seed))
const seeds = Array.from({ length: 200 }, (_, index) => `seed ${index}`)
const countOf = (plan: readonly Disruption[], kind: Disruption['kind']): number =>
  plan.filter((disruption) => disruption.kind === kind).length

test('three minutes have three reorganisations, a kill of each program and a node outage', () => {
  for (const plan of seeds.map((seed) => planOf(3, seed))) {
    const killed = plan.flatMap((disruption) =>
      disruption.kind === 'kill' ? [disruption.name] : [],
    )
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

test('disruptions come in the order of their times, and leave quiet at the end', () => {
  for (const plan of seeds.map((seed) => planOf(4, seed))) {
    const times = plan.map(({ atS }) => atS)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    for (const disruption of plan) {
      const lastsS = disruption.kind === 'absence' ? disruption.forS : 0
      assert.ok(disruption.atS >= 25 && disruption.atS + lastsS <= 4 * 60 - 15)
    }
  }
})

test('reorganisations take one to ten blocks back', () => {
  const depths = planOf(300, 'depths').flatMap((disruption) =>
    disruption.kind === 'reorganisation' ? [disruption.depth] : [],
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
