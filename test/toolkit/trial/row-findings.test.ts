import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moduleLimits } from '../../../src/lens/module-check.ts'
import {
  memoryFindings,
  type RowFacts,
  rowFindings,
} from '../../../src/toolkit/trial/row-findings.ts'
import type { FieldCount } from '../../../src/toolkit/trial/trial-job.ts'

const rows = 3
const whole: FieldCount = {
  name: 'amount',
  type: 'Int',
  values: rows,
  nulls: 0,
  missing: 0,
  wrongType: 0,
  wrongExample: null,
}

const nothing = { unknown: {}, given: [] }

/** What is found of rows with this one field. */
function codesOf(field: Partial<FieldCount>, more: Partial<RowFacts> = {}): string[] {
  const facts = { documents: 9, rows, fields: [{ ...whole, ...field }], ...nothing, ...more }
  return rowFindings(facts).map(({ severity, code }) => `${severity} ${code}`)
}

test('a field is judged by all rows: one value of another type is enough, one missing is not', () => {
  assert.deepEqual(codesOf({}), [])
  assert.deepEqual(codesOf({ values: 2, wrongType: 1, wrongExample: '"1"' }), [
    'error OUTPUT_TYPE_MISMATCH',
  ])
  assert.deepEqual(codesOf({ values: 1, missing: 2 }), [])
  assert.deepEqual(codesOf({ values: 0, missing: 3 }), ['error SDL_FIELD_NOT_EMITTED'])
  assert.deepEqual(codesOf({ values: 1, nulls: 2 }), [])
  assert.deepEqual(codesOf({ values: 0, nulls: 1, missing: 2 }), ['warning FIELD_ALWAYS_NULL'])
})

test('what lenses make beyond the SDL is named once, with how many rows have it where not all do', () => {
  const [found, ...others] = rowFindings({
    documents: 9,
    rows,
    fields: [whole],
    unknown: { hash: 3, from: 1, topics: 3 },
    given: ['topics', 'data'],
  })
  assert.deepEqual(others, [])
  assert.equal(found?.code, 'OUTPUT_FIELD_NOT_IN_SDL')
  assert.match(found.message, / left out: hash, from \(1 of 3 rows\)$/)
})

test('nothing is said of fields where there is no document, or no row', () => {
  const none = { values: 0, missing: 0 }
  for (const facts of [{ documents: 0, rows: 0 }, { rows: 0 }])
    assert.deepEqual(codesOf(none, facts), ['error CHAIN_NO_TEST_DATA'])
})

test('memory is reported from half of what lenses may have, as critical from eight tenths', () => {
  const all = 2 * moduleLimits.memoryPages * 65_536
  const codes = [0.5 - 1e-9, 0.5, 0.8 - 1e-9, 0.8].map((share) => {
    const memoryBytes = all * share
    return memoryFindings({ memoryBytes, documents: 9, ms: 1 }, 2).map(({ code }) => code)
  })
  const [pressure, critical] = [['WASM_MEMORY_PRESSURE'], ['WASM_MEMORY_CRITICAL']]
  assert.deepEqual(codes, [[], pressure, pressure, critical])
})
