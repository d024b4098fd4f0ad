import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineDifference } from '../../../src/toolkit/views/line-difference.ts'

const difference = (before: string, after: string): string[] =>
  lineDifference(before.split('').join('\n'), after.split('').join('\n'))

test('what went stands before what came, and lines that stay are left out', () => {
  assert.deepEqual(difference('abc', 'abc'), [])
  assert.deepEqual(difference('abc', 'axc'), ['- b', '+ x'])
  assert.deepEqual(difference('abc', 'ac'), ['- b'])
  assert.deepEqual(difference('ac', 'abcd'), ['+ b', '+ d'])
  assert.deepEqual(difference('', 'ab'), ['+ a', '+ b'])
  assert.deepEqual(difference('ab', ''), ['- a', '- b'])
})

test('no line is both taken out and put in where it can stay', () => {
  assert.deepEqual(difference('abcd', 'bcda'), ['- a', '+ a'])
  assert.deepEqual(difference('dabc', 'abcd'), ['- d', '+ d'])
})

/** Length of the longest text that both have in this order, found by trying. */
function longestCommon(one: string, other: string): number {
  if (one === '' || other === '') return 0
  const [first = ''] = one
  const at = other.indexOf(first)
  const without = longestCommon(one.slice(1), other)
  return at < 0 ? without : Math.max(without, 1 + longestCommon(one.slice(1), other.slice(at + 1)))
}

test('the lines that are named are as few as can be, and lead from one text to the other', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = difference(before, after)
      const of = (mark: string): string =>
        lines.flatMap((line) => (line.startsWith(mark) ? line.slice(2) : [])).join('')
      const staying = longestCommon(before, after)
      assert.equal(of('-').length, before.length - staying)
      assert.equal(of('+').length, after.length - staying)
      const sorted = (value: string): string => value.split('').toSorted().join('')
      assert.equal(sorted(before + of('+')), sorted(after + of('-')))
    }),
  )
})

test('texts of thousands of lines are shown as replaced', () => {
  const lines = (count: number, first: string): string =>
    [first, ...Array.from({ length: count - 1 }, () => 'same')].join('\n')
  assert.equal(lineDifference(lines(2_000, 'a'), lines(2_000, 'b')).length, 2)
  assert.equal(lineDifference(lines(2_001, 'a'), lines(2_000, 'b')).length, 4_001)
})
