/** When subscribers hear of the rows of a block. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeenRows } from '../../src/app/seen-rows.ts'

interface Scene extends ReturnType<typeof createSeenRows> {
  /** Heights that have their attestations. */
  readonly attested: Set<number>
  /** Notifications since it was asked last, such as `payments 7`. */
  notified(): readonly string[]
}

function openScene(): Scene {
  const attested = new Set<number>()
  let notified: string[] = []
  const seen = createSeenRows({
    isAttested: (height) => attested.has(height),
    names: () => ['payments', 'refunds'],
    notify: (name, height) => void notified.push(`${name} ${height}`),
  })
  return {
    ...{ ...seen, attested },
    notified: () => {
      const last = notified
      notified = []
      return last
    },
  }
}

test('subscribers are notified of an attested block at once, and not again', () => {
  const { attested, notified, onStored, onSealed } = openScene()
  attested.add(7)
  onStored('payments', 7)
  assert.deepEqual(notified(), ['payments 7'])
  onSealed(7)
  assert.deepEqual(notified(), [])
})

test('subscribers of every View are notified once a block has enough attestations, and only once', () => {
  const { attested, notified, onStored, onSealed } = openScene()
  onStored('payments', 7)
  onStored('payments', 8)
  onSealed(7)
  assert.deepEqual(notified(), [])
  attested.add(7).add(8)
  onSealed(7)
  assert.deepEqual(notified(), ['payments 7', 'refunds 7'])
  onSealed(7)
  assert.deepEqual(notified(), [])
  onSealed(8)
  assert.deepEqual(notified(), ['payments 8', 'refunds 8'])
})

test('subscribers are not notified of a block that gave way, and are of those below it', () => {
  const { attested, notified, onStored, onSealed, onRemoved } = openScene()
  for (const height of [6, 7, 8]) onStored('payments', height)
  onRemoved(6)
  for (const height of [6, 7, 8]) attested.add(height)
  for (const height of [8, 7, 6]) onSealed(height)
  assert.deepEqual(notified(), ['payments 6', 'refunds 6'])
})

test('subscribers are notified late of the newest 4,096 blocks that lack attestations', () => {
  const { attested, notified, onStored, onSealed } = openScene()
  for (let height = 0; height <= 4_096; height++) onStored('payments', height)
  attested.add(0).add(1)
  onSealed(0)
  assert.deepEqual(notified(), [])
  onSealed(1)
  assert.deepEqual(notified(), ['payments 1', 'refunds 1'])
})
