import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxRowComparisons } from '../../../src/graphql/budget/limits.ts'
import { createMemoryPool } from '../../../src/graphql/budget/memory-pool.ts'
import {
  createQueryBudget,
  createQueryScheduler,
} from '../../../src/graphql/budget/query-budget.ts'
import { createAttestedBlocks } from '../../../src/graphql/rows/attested-blocks.ts'
import { type BlockView, emptyMemo } from '../../../src/graphql/rows/block-view.ts'
import { opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { operatorLimits } from '../support/graphql-room.ts'

/** A block with so many seals; notes in `read` that they were read. */
function blockOf(height: number, seals: number, read: number[]): BlockView {
  const { header } = opaqueBlock(height)
  const snapshot = {
    seals: () => {
      read.push(height)
      return Array.from({ length: seals }, (_, index) =>
        opaqueSeal(height, 'main', `0${index}`.repeat(32)),
      )
    },
  }
  return { session: { snapshot } as never, height, header, memo: emptyMemo() }
}

function openBudget() {
  const memory = createMemoryPool(operatorLimits)
  const account = memory.openAccount()
  const parts = { scheduler: createQueryScheduler(), account, signal: undefined }
  return { memory, budget: createQueryBudget(operatorLimits, parts) }
}

test('a block counts with as many attestations as are asked for, which are read once', () => {
  const { memory, budget } = openBudget()
  const attested = createAttestedBlocks(2, budget)
  const read: number[] = []
  const counts = [1, 2, 3].map((seals, height) => attested.has(blockOf(height, seals, read)))
  assert.deepEqual(counts, [false, true, true])
  const again = [1, 2, 3].map((_, height) => attested.has(blockOf(height, 0, read)))
  assert.deepEqual(again, counts)
  assert.deepEqual(read, [0, 1, 2])
  assert.equal(memory.heldBytes(), 3 * 128)
  budget.end(false)
  assert.equal(memory.heldBytes(), 0)
})

test('the attestations of a block count as 256 comparisons, once', () => {
  const { budget } = openBudget()
  const attested = createAttestedBlocks(1, budget)
  const enough = Math.floor(maxRowComparisons / 256)
  for (let height = 0; height < enough; height++) attested.has(blockOf(height, 1, []))
  for (let time = 0; time < 2; time++) assert.ok(attested.has(blockOf(0, 1, [])))
  assert.throws(() => attested.has(blockOf(enough, 1, [])), {
    extensions: { code: 'GRAPHQL_COST_LIMIT' },
  })
})
