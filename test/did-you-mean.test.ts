import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { didYouMean, editDistance, nearestName } from '../src/did-you-mean.ts'

test('an edit is a letter added, left out, replaced or swapped with its neighbour', () => {
  const pairs = [
    ['ab', 'abc'],
    ['abc', 'ab'],
    ['abc', 'axc'],
    ['abc', 'acb'],
  ] as const
  assert.deepEqual(
    pairs.map(([a, b]) => editDistance(a, b)),
    [1, 1, 1, 1],
  )
})

test('only neighbours that are swapped count as one, whatever differs before them', () => {
  const pairs = [
    ['ab', 'bc'],
    ['ab', 'ca'],
    ['xab', 'yba'],
  ] as const
  assert.deepEqual(
    pairs.map(([a, b]) => editDistance(a, b)),
    [2, 2, 2],
  )
})

test('the distance is 0 for equal names, the same both ways, and at most the longer length', () => {
  const word = fc.string({ maxLength: 12, size: 'max' })
  const property = fc.property(word, word, (a, b) => {
    assert.equal(editDistance(a, b), editDistance(b, a))
    assert.equal(editDistance(a, b) === 0, a === b)
    assert.ok(editDistance(a, b) <= Math.max(a.length, b.length))
  })
  fc.assert(property, { numRuns: 200 })
})

test('the nearest name is suggested when at most a third of its letters differ', () => {
  const known = ['generator', 'host', 'devnet']
  assert.equal(nearestName('genrator', known), 'generator')
  assert.equal(nearestName('hots', known), 'host')
  assert.equal(nearestName('operator', known), null)
  assert.equal(nearestName('haat', known), null, 'of four letters one may differ')
  assert.equal(nearestName('gneratr', known), 'generator', 'of seven letters two may differ')
  assert.equal(nearestName('gneraro', known), null)
  assert.equal(nearestName('hs', ['h', 'hos']), 'h', 'of fewer than three letters one may differ')
  assert.equal(nearestName('hostss', ['hosty', 'hosts', 'host']), 'hosts')
  assert.equal(didYouMean(nearestName('devent', known)), '; did you mean devnet?')
  assert.equal(didYouMean(null), '')
})
