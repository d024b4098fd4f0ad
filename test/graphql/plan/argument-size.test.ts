import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentSizeOf } from '../../../src/graphql/plan/argument-size.ts'

test('names and objects in lists are conditions, and all else is values', () => {
  const cases: readonly [value: unknown, conditions: number, values: number][] = [
    [1, 0, 1],
    [null, 0, 1],
    [undefined, 0, 1],
    [{}, 0, 0],
    [{ a: 1 }, 1, 1],
    [{ a: 1, b: { c: null, d: {} } }, 4, 2],
    [[], 0, 1],
    [[1, null, true], 0, 4],
    [[{}, { a: 1 }], 3, 2],
    [[[1], [{ a: [] }]], 2, 5],
    ['', 0, 1],
    ['x'.repeat(99), 0, 1],
    ['x'.repeat(100), 0, 2],
    [{ a: ['x'.repeat(250), 'y'] }, 1, 5],
  ]
  for (const [value, conditions, values] of cases)
    assert.deepEqual(argumentSizeOf([value]), { conditions, values }, JSON.stringify(value))
  assert.deepEqual(argumentSizeOf([]), { conditions: 0, values: 0 })
  assert.deepEqual(argumentSizeOf([{ a: 1 }, [1]]), { conditions: 1, values: 3 })
})
