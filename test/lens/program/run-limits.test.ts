import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moduleLimits } from '../../../src/lens/module-check.ts'
import { runLimits, runtimeVersion } from '../../../src/lens/program/run-limits.ts'

test('limits that a lens can see change with the version of the runtime only', () => {
  assert.deepEqual(
    { runtimeVersion, ...moduleLimits, ...runLimits },
    {
      runtimeVersion: 1,
      memoryPages: 1_024,
      tableEntries: 65_536,
      functionBytes: 65_536,
      nestedVariables: 1_000_000,
      branchedVariables: 16_000_000,
      itemBytes: 16_777_216,
      items: 100_000,
      outputBytes: 67_108_864,
      memoryBytes: 268_435_456,
    },
  )
})
