import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConditionDefinition, conditions } from '../../../operator/api/conditions.ts'
import { eventReasons } from '../../../operator/api/event-reasons.ts'
import { occurrencesOf } from '../../../operator/reconcile/statements/conditions.ts'
import { readSourceFiles } from '../../support/source-files.ts'

const table: Readonly<Record<string, ConditionDefinition>> = conditions
const reasons = Object.entries(table).flatMap(([type, { reasons: found }]) =>
  Object.entries(found).map(([name, reason]) => ({ type, name, ...reason })),
)

test('every condition and every reason says in a sentence what it means', () => {
  const meanings = [...Object.values(table), ...reasons].map(({ meaning }) => meaning)
  assert.deepEqual(
    meanings.filter((meaning) => !/^(?:[A-Z].{10,}|See \w+)\.$/.test(meaning)),
    [],
  )
})

test('names are words that kubectl wait and Events accept', () => {
  const names = [...Object.keys(table), ...reasons.map(({ name }) => name)]
  assert.deepEqual(
    names.filter((name) => !/^[A-Z][A-Za-z]*$/.test(name)),
    [],
  )
})

test('a condition that is only there while something is wrong is never False', () => {
  const wrong = reasons.filter(
    ({ type, status }) => table[type]?.polarity === 'abnormal-true' && status !== 'True',
  )
  assert.deepEqual(wrong, [])
})

test('a condition whose True is good has reasons for both', () => {
  for (const [type, { polarity, reasons: found }] of Object.entries(table)) {
    if (polarity !== 'normal-true') continue
    const statuses = new Set(Object.values(found).map(({ status }) => status))
    assert.ok(statuses.has('True') && statuses.has('False'), type)
  }
})

test('every reason that is bad says what a person has to do, or where that is said', () => {
  const bad = reasons.filter(({ type, name }) => {
    const condition = { type, status: 'Unknown', reason: name, message: '' } as const
    return occurrencesOf([], [condition]).some((event) => event.type === 'Warning')
  })
  assert.ok(bad.length > 20)
  const silent = bad.filter(
    ({ meaning }) => !meaning.includes(': ') && !/^See \w+\.$/.test(meaning),
  )
  assert.deepEqual(silent, [])
})

test('further Events have names that no condition’s reason has, and say what they mean', () => {
  const taken = reasons.map(({ name }) => name)
  for (const [name, { meaning }] of Object.entries(eventReasons)) {
    assert.match(name, /^[A-Z][A-Za-z]*$/)
    assert.ok(!taken.includes(name), name)
    assert.match(meaning, /^[A-Z].{10,}\.$/)
  }
})

test('Events are recorded where a table says their reason, and nowhere else', () => {
  const places = readSourceFiles('operator')
    .filter(({ text }) => /\bevents\.record\(/.test(text))
    .map(({ path }) => path)
  assert.deepEqual(places.toSorted(), [
    'operator/reconcile/statements/record-event.ts',
    'operator/reconcile/status/record-changes.ts',
  ])
})
