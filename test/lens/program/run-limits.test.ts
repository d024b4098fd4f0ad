import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxDocumentBytes } from '../../../src/compute/loaded-view.ts'
import * as queryConstants from '../../../src/graphql/budget/limits.ts'
import { blockLimits } from '../../../src/graphql/selection/view-selection.ts'
import { moduleLimits } from '../../../src/lens/module-check.ts'
import { runLimits, runtimeVersion } from '../../../src/lens/program/run-limits.ts'
import { stackMebibytes } from '../../../src/lens/stack-limit.ts'
import { viewModuleLimits } from '../../../src/lens/view-modules.ts'
import { chunkDocuments, chunkValuesBytes } from '../../../src/primitives/body/body-header.ts'
import { rowLimits } from '../../../src/views/rows/row-limits.ts'
import { maxBigIntCharacters, maxJsonDepth } from '../../../src/views/rows/row-values.ts'

test('limits that a lens can see change with the version of the runtime only', () => {
  assert.deepEqual(
    { runtimeVersion, ...moduleLimits, ...runLimits, stackMebibytes, together: viewModuleLimits },
    {
      runtimeVersion: 1,
      memoryPages: 1_024,
      tableEntries: 65_536,
      functionBytes: 65_536,
      nestedVariables: 1_000_000,
      branchedVariables: 16_000_000,
      entries: 10_000,
      itemBytes: 16_777_216,
      items: 100_000,
      outputBytes: 67_108_864,
      memoryBytes: 268_435_456,
      stackMebibytes: 4,
      together: { tableEntries: 262_144, exports: 65_536 },
    },
  )
})

test('limits of what a View reads of a block change with the version of the runtime only', () => {
  assert.deepEqual(
    { runtimeVersion, maxDocumentBytes, ...blockLimits },
    {
      runtimeVersion: 1,
      maxDocumentBytes: 67_108_864,
      maxDepth: 15,
      maxConditions: 2_000,
      maxCost: 4_000_000,
      maxRows: 1_000_000,
      maxResultBytes: 67_108_864,
      maxMs: Infinity,
      maxHeldBytes: 268_435_456,
    },
  )
  const { tooManySelections, refusal, operatorSets, defaultQueryLimits, ...ofEveryQuery } =
    queryConstants
  assert.deepEqual(
    { ...ofEveryQuery },
    {
      maxBodyParts: 150_000,
      maxTokens: 10_000,
      maxLines: 10_000,
      maxNameLength: 256,
      maxNesting: 64,
      maxSelections: 1_000,
      maxFragments: 50,
      maxSameFields: 20,
      maxSpreadFields: 20_000,
      maxFieldPairs: 20_000,
      maxValues: 50_000,
      charactersPerValue: 100,
      maxPatternLength: 200,
      maxOrderKeys: 16,
      comparisonsPerDocument: 8,
      maxRowComparisons: 250_000,
      maxObjectBytes: 16_777_216,
      maxHeldRows: 200_000,
    },
  )
})

test('limits of the rows of a View change with the version of the runtime only', () => {
  assert.deepEqual(
    {
      runtimeVersion,
      ...rowLimits,
      maxBigIntCharacters,
      maxJsonDepth,
      chunkDocuments,
      chunkValuesBytes,
    },
    {
      runtimeVersion: 1,
      rowBytes: 262_144,
      rowItems: 10_000,
      blockBytes: 12_582_912,
      blockTerms: 20_000,
      maxBigIntCharacters: 100,
      maxJsonDepth: 64,
      chunkDocuments: 64,
      chunkValuesBytes: 262_144,
    },
  )
})
