/** What an event or a former list had is not missed, whoever has forgotten it since. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMissedViews } from '../../src/registry/missed-views.ts'

const idOf = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`

function listed(missed: ReturnType<typeof createMissedViews>, ...ids: readonly number[]): number {
  const list = missed.begin()
  list.add(ids.map(idOf))
  return list.end()
}

test('a View that neither an event nor the former list had is missed, once', () => {
  const missed = createMissedViews()
  listed(missed, 1, 2)
  assert.equal(listed(missed, 1, 2, 3), 1)
  assert.equal(listed(missed, 1, 2, 3), 0)
  missed.announced(idOf(4))
  assert.equal(listed(missed, 1, 2, 3, 4, 5, 6), 2)
})

test('Views are told apart by the last digits of their IDs, the first of which may be the same', () => {
  const ids = ['0', '1'].map((last) => `0x${'fedcba9876543210'.repeat(4).slice(1)}${last}`)
  const list = createMissedViews().begin()
  list.add([...ids, ...ids])
  assert.equal(list.end(), 2)
})

test('an event that arrives during a list counts for that list and the next one', () => {
  const missed = createMissedViews()
  listed(missed, 1)
  const list = missed.begin()
  missed.announced(idOf(2))
  list.add([idOf(1), idOf(2)])
  assert.equal(list.end(), 0)
  const early = missed.begin()
  early.add([idOf(1), idOf(2)])
  missed.announced(idOf(3))
  assert.equal(early.end(), 0)
  assert.equal(listed(missed, 1, 2, 3), 0)
})

test('an event whose View the next list does not have yet counts for the list after that', () => {
  const missed = createMissedViews()
  listed(missed, 1)
  missed.announced(idOf(2))
  assert.equal(listed(missed, 1), 0)
  assert.equal(listed(missed, 1, 2), 0)
})

test('a list that breaks off changes nothing', () => {
  const missed = createMissedViews()
  listed(missed, 1)
  missed.begin().add([idOf(2)])
  assert.equal(listed(missed, 1, 2), 1)
})

test('what is remembered is counted over both lists and the events after them', () => {
  const events = (...added: readonly number[]): number => {
    const missed = createMissedViews(3)
    listed(missed, 1)
    missed.announced(idOf(2))
    listed(missed, 1)
    for (const index of added) missed.announced(idOf(index))
    return listed(missed, 1, 2, 9)
  }
  assert.equal(events(3), 1)
  assert.equal(events(3, 4), 0, 'a fourth one is too many')
})

test('where more was announced than is remembered, the next list counts nothing as missed', () => {
  const missed = createMissedViews(3)
  listed(missed, 1, 2)
  for (const index of [3, 4]) missed.announced(idOf(index))
  assert.equal(listed(missed, 1, 2, 3, 4), 0)
  assert.equal(listed(missed, 1, 2, 3, 4, 5), 1)
})

test('an event that arrives after its View was listed counts for that list', () => {
  const missed = createMissedViews()
  listed(missed, 1)
  const list = missed.begin()
  list.add([idOf(2), idOf(3), idOf(2)])
  for (const index of [2, 2, 4]) missed.announced(idOf(index))
  assert.equal(list.end(), 1)
  assert.equal(listed(missed, 2, 3, 4), 0)
})

/** All IDs are compared once a list has ended. */
function createComparison() {
  let seen = new Set<number>()
  let recent = new Set<number>()
  return {
    announced: (index: number) => [seen, recent].map((set) => set.add(index)),
    end: (list: ReadonlySet<number>): number => {
      const missed = [...list].filter((index) => !seen.has(index)).length
      seen = new Set([...list, ...recent])
      recent = new Set()
      return missed
    },
  }
}

test('what is compared as it comes is what a comparison at the end finds', () => {
  const index = fc.nat({ max: 7 })
  const step = fc.record({ isEvent: fc.boolean(), index })
  const list = fc.record({ steps: fc.array(step, { maxLength: 10 }), isWhole: fc.boolean() })
  fc.assert(
    fc.property(fc.array(list, { maxLength: 6 }), (lists) => {
      const missed = createMissedViews()
      const comparison = createComparison()
      for (const { steps, isWhole } of lists) {
        const ids = missed.begin()
        for (const { isEvent, index: at } of steps) {
          if (!isEvent) ids.add([idOf(at)])
          else {
            missed.announced(idOf(at))
            comparison.announced(at)
          }
        }
        const whole = new Set(steps.filter(({ isEvent }) => !isEvent).map(({ index: at }) => at))
        if (isWhole) assert.equal(ids.end(), comparison.end(whole))
      }
    }),
  )
})
