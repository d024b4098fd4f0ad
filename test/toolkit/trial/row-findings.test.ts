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

test('a test of nothing says whether documents are missing or rows, and what to test on', () => {
  const remedy =
    'Test on blocks that have what the View is for: --from URL reads those of a Host, --fixture FILE your own.'
  const found = (facts: Partial<RowFacts>) =>
    rowFindings({ documents: 9, rows: 0, fields: [whole], ...nothing, ...facts })
  const of = (message: string) => [
    {
      ...{ severity: 'error', kind: 'row', code: 'CHAIN_NO_TEST_DATA', blocks: [] },
      message,
      remedy,
    },
  ]
  assert.deepEqual(
    [found({ documents: 0 }), found({})],
    [
      of(
        'neither the query nor the lenses want a document of these blocks, so that nothing was tested',
      ),
      of('the lenses make no row of 9 documents of these blocks, so that nothing was tested'),
    ],
  )
})

test('a field that no row has is named as the lens does, where that differs in case alone', () => {
  const remedyOf = (unknown: RowFacts['unknown']): unknown => {
    const fields = [{ ...whole, values: 0, missing: rows }]
    return rowFindings({ documents: 9, rows, fields, unknown, given: [] })[0]?.remedy
  }
  assert.equal(remedyOf({ amounts: 3 }), 'Name it as the lens does, or leave it out.')
  const meant = 'The lens writes AMOUNT: names have to be the same in every letter.'
  assert.equal(remedyOf({ total: 3, AMOUNT: 3 }), meant)
})

test('memory is said in bytes of those that all lenses may have, and of no lens nothing', () => {
  const memoryBytes = moduleLimits.memoryPages * 65_536
  const measured = { memoryBytes, documents: 9, ms: 1 }
  assert.deepEqual(memoryFindings(measured, 2), [
    {
      ...{ severity: 'warning', kind: 'performance', code: 'WASM_MEMORY_PRESSURE', blocks: [] },
      message: `9 documents take ${memoryBytes} bytes of the ${2 * memoryBytes} that the lenses may have`,
      remedy: 'Free or use again what a lens needs for one document only.',
    },
  ])
  assert.deepEqual(memoryFindings(measured, 0), [])
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
