/** When subscribers hear of the rows of a block. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeenRows } from '../../src/app/seen-rows.ts'

interface Scene extends ReturnType<typeof createSeenRows> {
  /** Heights that have their attestations. */
  readonly attested: Set<number>
  /** What was told since it was asked last, such as `payments 7`. */
  told(): readonly string[]
}

function openScene(): Scene {
  const attested = new Set<number>()
  let told: string[] = []
  const seen = createSeenRows({
    isAttested: (height) => attested.has(height),
    names: () => ['payments', 'refunds'],
    notify: (name, height) => void told.push(`${name} ${height}`),
  })
  return {
    ...{ ...seen, attested },
    told: () => {
      const last = told
      told = []
      return last
    },
  }
}

test('rows of a block that has its attestations are told at once, and not again', () => {
  const { attested, told, onStored, onSealed } = openScene()
  attested.add(7)
  onStored('payments', 7)
  assert.deepEqual(told(), ['payments 7'])
  onSealed(7)
  assert.deepEqual(told(), [])
})

test('rows of other blocks are told of every View once there are enough, and then no more', () => {
  const { attested, told, onStored, onSealed } = openScene()
  onStored('payments', 7)
  onStored('payments', 8)
  onSealed(7)
  assert.deepEqual(told(), [])
  attested.add(7).add(8)
  onSealed(7)
  assert.deepEqual(told(), ['payments 7', 'refunds 7'])
  onSealed(7)
  assert.deepEqual(told(), [])
  onSealed(8)
  assert.deepEqual(told(), ['payments 8', 'refunds 8'])
})

test('nothing is told of a block that gave way, and what is below is told later nevertheless', () => {
  const { attested, told, onStored, onSealed, onRemoved } = openScene()
  for (const height of [6, 7, 8]) onStored('payments', height)
  onRemoved(6)
  for (const height of [6, 7, 8]) attested.add(height)
  for (const height of [8, 7, 6]) onSealed(height)
  assert.deepEqual(told(), ['payments 6', 'refunds 6'])
})

test('of the newest 4,096 blocks that lack attestations rows are told later', () => {
  const { attested, told, onStored, onSealed } = openScene()
  for (let height = 0; height <= 4_096; height++) onStored('payments', height)
  attested.add(0).add(1)
  onSealed(0)
  assert.deepEqual(told(), [])
  onSealed(1)
  assert.deepEqual(told(), ['payments 1', 'refunds 1'])
})
