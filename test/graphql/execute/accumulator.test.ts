import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AttributeKind } from '../../../src/graphql/catalog/entity.ts'
import type { Fold } from '../../../src/graphql/catalog/spelling.ts'
import {
  addCount,
  addValue,
  createAccumulator,
  resultOf,
} from '../../../src/graphql/execute/accumulator.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'

function aggregate(fold: Fold, kind: AttributeKind, values: readonly JsonValue[]): number | null {
  const accumulator = createAccumulator(fold)
  for (const value of values) addValue(accumulator, kind, value)
  return resultOf(accumulator)
}

const folds: readonly Fold[] = ['SUM', 'AVG', 'MIN', 'MAX']
const all = (kind: AttributeKind, values: readonly JsonValue[]) =>
  folds.map((fold) => aggregate(fold, kind, values))

test('numbers are added up, averaged, and their least and greatest found', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
      const sum = values.reduce((total, value) => total + value, 0)
      const expected = [sum, sum / values.length, Math.min(...values), Math.max(...values)]
      assert.deepEqual(all('int', values), expected)
    }),
  )
})

test('values that are null, and lists, are left out of all of them', () => {
  assert.deepEqual(all('int', [null, 4, null, [7], -2]), [2, 1, -2, 4])
  assert.deepEqual(all('quantity', ['0x4', null, '0x2']), [6, 3, 2, 4])
  for (const none of [[], [null], [[1, 2]]]) assert.deepEqual(all('int', none), [0, 0, null, null])
})

test('quantities and whole numbers are added exactly, and rounded at the end', () => {
  const large = 2n ** 60n
  const odd = `0x${(large + 1n).toString(16)}`
  const below = `${-large}`
  assert.equal(aggregate('SUM', 'bigint', [`${large + 1n}`, below, '1']), 2)
  assert.equal(aggregate('SUM', 'quantity', [odd, odd]), Number(2n * large + 2n))
  assert.equal(aggregate('AVG', 'bigint', [`${large + 3n}`, below]), 1.5)
  const least = 2n ** 53n + 1n
  const three = Array(3).fill(`0x${least.toString(16)}`)
  assert.equal(aggregate('SUM', 'quantity', three), Number(3n * least))
  assert.notEqual(3 * Number(least), Number(3n * least), 'each rounded is another sum')
})

test('numbers with a fraction are added up as they are', () => {
  assert.deepEqual(all('float', [1.5, -0.25, 2]), [3.25, 3.25 / 3, -0.25, 2])
})

test('rows are counted, none of them as nothing', () => {
  const accumulator = createAccumulator('COUNT')
  assert.equal(resultOf(accumulator), 0)
  addCount(accumulator, 3)
  addCount(accumulator, 1)
  assert.equal(resultOf(accumulator), 4)
})
