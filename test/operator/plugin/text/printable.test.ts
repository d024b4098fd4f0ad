import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inColumns } from '../../../../operator/plugin/text/columns.ts'
import { printable } from '../../../../operator/plugin/text/printable.ts'
import { wrapped } from '../../../../operator/plugin/text/wrapped.ts'

/** What moves a cursor, changes colours, ends a line or turns the direction of reading. */
const moving = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

test('escapes, line ends and marks of direction are shown as what they are', () => {
  assert.equal(
    printable('a\x1b[31mred\x1b[0m\r\nb\u009b2J\u202egnp.exe'),
    'a\\u001b[31mred\\u001b[0m\\u000d\\u000ab\\u009b2J\\u202egnp.exe',
  )
  assert.equal(printable('plain text, déjà vu, 日本, 🔑'), 'plain text, déjà vu, 日本, 🔑')
})

test('no text of a cluster reaches a terminal with a character that does something there', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(printable(text), moving)
      for (const line of [...inColumns([[text, 'x']]), ...wrapped(text, 20)]) {
        assert.doesNotMatch(line, moving)
      }
    }),
  )
})

test('an escaped text within JSON is still JSON, and the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = JSON.stringify({ text }).split('\n').map(printable).join('\n')
      assert.deepEqual(JSON.parse(shown), { text })
    }),
  )
})

test('columns are as wide as their widest cell, whichever row it is in', () => {
  assert.deepEqual(
    inColumns([
      ['A', 'LONG', 'C'],
      ['abc', 'd'],
      ['', 'e', 'f'],
    ]),
    ['A     LONG   C', 'abc   d', '      e      f'],
  )
  assert.deepEqual(inColumns([['', 'a']]), ['   a'])
})

test('sentences are broken between words, and a word that is too long is left whole', () => {
  assert.deepEqual(wrapped('one two three-and-more four', 8), ['one two', 'three-and-more', 'four'])
  assert.deepEqual(wrapped('three-and-more one four', 8), ['three-and-more', 'one four'])
  assert.deepEqual(wrapped('', 8), [''])
})
