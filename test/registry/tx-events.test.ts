/** What is read of the events of a transaction, and how much of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributesOf, eventsOf, readTxEvents } from '../../src/registry/tx-events.ts'

/** What arrives for a subscription. */
const message = (events: unknown, height: unknown = '7') => ({
  data: { value: { TxResult: { height, result: { events } } } },
})
const attribute = (key: unknown, value: unknown) => ({ key, value, index: true })
const registered = (type: string) => ({ type, attributes: [] })

test('Views are those of the events of either generation, and all others are left out', () => {
  const events = ['view.view_registered', 'Registered', 'view.view_pending', 'tx'].map(registered)
  const { views, isCut } = readTxEvents(message(events))
  assert.deepEqual([views.length, isCut], [2, false])
})

test('of more than 256 Views in a transaction the first are read, and that there are more', () => {
  const events = (count: number) => Array.from({ length: count }, () => registered('Registered'))
  const read = (count: number): readonly unknown[] => {
    const { views, isCut } = readTxEvents(message(events(count)))
    return [views.length, isCut]
  }
  assert.deepEqual(
    [read(256), read(257)],
    [
      [256, false],
      [256, true],
    ],
  )
})

test('a height is a number of up to 15 digits in a text, or unknown', () => {
  const heightOf = (height: unknown): number | null => readTxEvents(message([], height)).height
  assert.deepEqual(['0', '9'.repeat(15)].map(heightOf), [0, 999_999_999_999_999])
  for (const height of ['', '-1', '1.5', '1'.repeat(16), 7, null])
    assert.equal(heightOf(height), null)
})

test('what is no transaction says nothing', () => {
  const nothing = { height: null, views: [], isCut: false }
  for (const other of [null, 7, {}, { data: { value: null } }, message({}, null)])
    assert.deepEqual(readTxEvents(other), nothing)
  assert.deepEqual(
    [eventsOf(null), eventsOf({ events: 'x' }), eventsOf({ events: [1] })],
    [[], [], [{}]],
  )
})

test('the first 32 attributes of an event are read by name, and what has no name is none', () => {
  const attributes = [attribute('a', '1'), attribute(7, '2'), null, attribute('b', null)]
  assert.deepEqual(attributesOf({ attributes }), { a: '1', b: null })
  const many = Array.from({ length: 33 }, (_, index) => attribute(`k${index}`, index))
  assert.deepEqual(
    Object.keys(attributesOf({ attributes: many })),
    many.slice(0, 32).map(({ key }) => key),
  )
  assert.deepEqual(attributesOf({ attributes: 'x' }), {})
})
