import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addCounts, createFieldCounts } from '../../../src/toolkit/trial/field-counts.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'

const rowType = parseRowType('type Rows { n: Int names: [String] }')

/** Counts of these outputs of a lens. */
function countsOf(...outputs: readonly object[]) {
  const counts = createFieldCounts(rowType)
  for (const output of outputs) counts.add({ ...output })
  return counts.finish()
}

test('each field is counted as a value, null, missing or of another type', () => {
  const { fields, unknown } = countsOf(
    { n: 1, names: ['a'], other: 1 },
    { n: null, names: 'a', other: null },
    { n: 'x'.repeat(100), names: [1] },
    { n: 2 },
  )
  assert.deepEqual(fields, [
    {
      ...{ name: 'n', type: 'Int', values: 2, nulls: 1, missing: 0, wrongType: 1 },
      wrongExample: `"${'x'.repeat(79)}`,
    },
    {
      ...{ name: 'names', type: '[String]', values: 1, nulls: 0, missing: 1, wrongType: 2 },
      wrongExample: '"a"',
    },
  ])
  assert.deepEqual(unknown, { other: 2 })
})

test('a field whose name every object has is counted by what the lens writes', () => {
  const counts = createFieldCounts(parseRowType('type Rows { toString: String }'))
  counts.add({})
  counts.add({ toString: 'x', constructor: 1 })
  const { fields, unknown } = counts.finish()
  assert.deepEqual(
    fields.map(({ values, missing }) => [values, missing]),
    [[1, 1]],
  )
  assert.deepEqual(unknown, { constructor: 1 })
})

test('a lens that makes up names fills no memory: a hundred are counted, of 80 characters', () => {
  const outputs = Array.from({ length: 101 }, (_, index) => ({ [`a${index}`]: 1 }))
  const { unknown } = countsOf(...outputs, { a0: 1, a100: 1 })
  assert.equal(Object.keys(unknown).length, 100)
  assert.deepEqual([unknown['a0'], unknown['a99'], unknown['a100']], [2, 1, undefined])
  assert.deepEqual(countsOf({ ['x'.repeat(81)]: 1 }).unknown, { ['x'.repeat(80)]: 1 })
})

test('counts of blocks add up, and the first value of another type is the example', () => {
  const one = countsOf({ n: 1 }, { n: null }).fields
  const other = countsOf({ n: 'a', names: ['b'] }, { n: 'b', names: null }, {}).fields
  const [n, names] = addCounts(one, other)
  assert.deepEqual(n, {
    ...{ name: 'n', type: 'Int', values: 1, nulls: 1, missing: 1, wrongType: 2 },
    wrongExample: '"a"',
  })
  assert.deepEqual(names, {
    ...{ name: 'names', type: '[String]', values: 1, nulls: 1, missing: 3, wrongType: 0 },
    wrongExample: null,
  })
  assert.deepEqual(addCounts(other, one)[0]?.wrongExample, '"a"')
  assert.deepEqual(addCounts([], one), one)
})
