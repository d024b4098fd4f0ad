import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCometQuery } from '../../../src/devnet/registry/comet-query.ts'

const values = new Map([
  ['tm.event', ['Tx']],
  ['tx.height', ['12']],
  ['view.view_pending.name', ['First', 'Second']],
])

/** Whether a query fits the transaction; null where it cannot be parsed. */
const fits = (text: string): boolean | null => parseCometQuery(text)?.(values) ?? null

test('a query fits by values, by order of numbers and by what is there, all of it', () => {
  const fitting = [
    "tm.event='Tx'",
    "tm.event = 'Tx' AND view.view_pending.name EXISTS",
    "view.view_pending.name='Second'",
    "view.view_pending.name CONTAINS 'eco'",
    ...[
      'tx.height=12',
      'tx.height=012',
      'tx.height>11',
      'tx.height<13',
      'tx.height>=12',
      'tx.height<=12',
    ],
  ]
  for (const text of fitting) assert.equal(fits(text), true, text)
  const other = [
    "tm.event='NewBlock'",
    "tm.event='T'",
    "tm.event='Tx' AND view.view_registered.name EXISTS",
    "view.view_pending.name='Third'",
    "view.view_pending.name CONTAINS 'eko'",
    'view.view_registered.height>0',
    ...['tx.height=13', 'tx.height>12', 'tx.height<12', 'tx.height>=13', 'tx.height<=11'],
    "tx.height='12.0'",
  ]
  for (const text of other) assert.equal(fits(text), false, text)
})

test('what is no query is refused', () => {
  const halves = ["tm.event='Tx' AND", "tm.event='Tx' AND ?", "? AND tm.event='Tx'"]
  for (const text of ['', 'tm.event', ...halves, "tm.event='Tx", 'tm.event=Tx', 'a OR b'])
    assert.equal(fits(text), null, text)
})
