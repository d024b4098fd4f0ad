/** Under which codes failures of a View are found; tools for Views share them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorCode, type Fact, ServiceError } from '../../../src/errors.ts'
import { startSection } from '../../../src/lens/program/lens-error.ts'
import { mergeFindings, toFinding } from '../../../src/toolkit/trial/finding.ts'

type Case = readonly [
  code: ErrorCode,
  facts: Readonly<Record<string, Fact>>,
  message: string,
  found: string,
]

const relation = 'run failure: QUERY_MISSING_EVM_RELATION'
const field = 'run failure: QUERY_MISSING_EVM_FIELD'
const instantiation = 'compile failure: WASM_INSTANTIATION_FAILED'
const memory = 'run failure: WASM_INSUFFICIENT_MEMORY'

const cases: readonly Case[] = [
  ['VIEWS_SDL_INVALID', {}, '', 'schema error: SDL_PARSE_FAILED'],
  ['VIEWS_QUERY_INVALID', {}, '', 'schema error: VIEWS_QUERY_INVALID'],
  ['TOOLKIT_CHAIN_INCOMPATIBLE', {}, '', 'schema error: CHAIN_INCOMPATIBLE'],
  ['HOST_VIEW_REFUSED', {}, '', 'schema error: HOST_VIEW_REFUSED'],
  ['VIEWS_ARGUMENTS_INVALID', {}, '', 'invalid lens configuration: VIEWS_ARGUMENTS_INVALID'],
  ['LENS_ARGUMENTS_REFUSED', {}, '', 'invalid lens configuration: LENS_ARGUMENTS_REFUSED'],
  ['LENS_OUTPUT_INVALID', { export: 'alloc' }, '', 'compile failure: WASM_MISSING_EXPORT'],
  ['LENS_OUTPUT_INVALID', {}, '', 'run failure: LENS_OUTPUT_INVALID'],
  ['LENS_MODULE_REFUSED', { import: 'a' }, '', 'compile failure: LENS_MODULE_REFUSED'],
  ['LENS_MODULE_REFUSED', { pages: 2_000 }, '', 'compile failure: WASM_INSUFFICIENT_MEMORY'],
  ['LENS_MODULE_REFUSED', {}, '', instantiation],
  ['LENS_TRAPPED', { during: startSection }, '', instantiation],
  ['LENS_TRAPPED', { during: 'transform' }, '', 'run failure: LENS_TRAPPED'],
  ['LENS_TRAPPED', {}, '', 'run failure: LENS_TRAPPED'],
  ['LENS_OUTPUT_LIMIT', { memoryBytes: 1 }, '', memory],
  ['LENS_OUTPUT_LIMIT', {}, '', 'run failure: LENS_OUTPUT_LIMIT'],
  ['LENS_MEMORY_LIMIT', {}, '', memory],
  ['LENS_TIME_LIMIT', {}, '', 'run failure: LENS_TIME_LIMIT'],
  ['LENS_FAILED', {}, "no field 'transaction'", relation],
  ['LENS_FAILED', {}, "no field 'block'", relation],
  ['LENS_FAILED', {}, 'Requested: transaction', relation],
  ['LENS_FAILED', {}, 'Requested: block.', relation],
  ['LENS_FAILED', {}, "no field 'blockNumber'", field],
  ['LENS_FAILED', {}, 'Requested: transactionHash', field],
  ['LENS_FAILED', {}, 'out of luck', 'run failure: LENS_FAILED'],
  ['LENS_TRAPPED', {}, "no field 'block'", 'run failure: LENS_TRAPPED'],
]

test('each failure is found under one code, by what it says and what its facts are', () => {
  for (const [code, facts, message, found] of cases) {
    const { kind, ...finding } = toFinding(new ServiceError(code, message, { facts }))
    assert.equal(`${kind}: ${finding.code}`, found, `${code} ${JSON.stringify(facts)} ${message}`)
  }
})

test('a failure keeps its message and remedy, and the block at which it was', () => {
  const error = new ServiceError('LENS_FAILED', 'no luck', { remedy: 'Try again.' })
  const found = {
    ...{ severity: 'error', kind: 'run failure', code: 'LENS_FAILED', message: 'no luck' },
    ...{ remedy: 'Try again.', blocks: [0] },
  }
  assert.deepEqual(toFinding(error, 0), found)
  const bare = toFinding(new ServiceError('LENS_FAILED', 'no luck'))
  assert.deepEqual(bare, { ...found, remedy: null, blocks: [] })
})

test('findings that differ in their blocks alone are one, in the order of the first of each', () => {
  const found = (code: ErrorCode, message: string, block: number) =>
    toFinding(new ServiceError(code, message), block)
  const merged = mergeFindings([
    found('LENS_FAILED', 'a', 1),
    found('LENS_FAILED', 'b', 2),
    found('LENS_TRAPPED', 'a', 3),
    found('LENS_FAILED', 'a', 4),
  ])
  assert.deepEqual(
    merged.map(({ code, message, blocks }) => [code, message, blocks]),
    [
      ['LENS_FAILED', 'a', [1, 4]],
      ['LENS_FAILED', 'b', [2]],
      ['LENS_TRAPPED', 'a', [3]],
    ],
  )
})
