/** When the memory of a program is called flat. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowedGrowthBytes, checkMemory, type MemorySample, warmUpMs } from './memory.ts'

const mebibyte = 1024 * 1024

/** A sample a second of one life, of so many mebibytes each. */
function life(
  number: number,
  seconds: number,
  mebibytesAt: (second: number) => number,
): MemorySample[] {
  return Array.from({ length: seconds + 1 }, (_, second) => ({
    name: 'host 1',
    life: number,
    atMs: second * 1_000,
    ownBytes: mebibytesAt(second) * mebibyte,
  }))
}

const isFlat = (samples: readonly MemorySample[]): boolean[] =>
  checkMemory(samples).map((verdict) => verdict.isFlat)

test('what grows while it warms up and then no more is flat', () => {
  const warmUpS = warmUpMs / 1_000
  const samples = life(1, 300, (second) => 100 + Math.min(second, warmUpS))
  assert.deepEqual(checkMemory(samples), [
    {
      name: 'host 1',
      life: 1,
      forMs: 300_000,
      warmBytes: 160 * mebibyte,
      endBytes: 160 * mebibyte,
      isFlat: true,
    },
  ])
})

test('what goes on growing is not', () => {
  assert.deepEqual(isFlat(life(1, 300, (second) => 100 + second)), [false])
})

test('a little more than after the warm-up is allowed, and no more than that', () => {
  const allowed = allowedGrowthBytes / mebibyte
  const grown = (by: number): MemorySample[] =>
    life(1, 300, (second) => (second > 200 ? 100 + by : 100))
  assert.deepEqual(isFlat(grown(allowed)), [true])
  assert.deepEqual(isFlat(grown(allowed + 1)), [false])
})

test('the saw teeth of a collector are flat', () => {
  assert.deepEqual(isFlat(life(1, 300, (second) => 100 + 80 * ((second % 7) / 7))), [true])
})

test('each life is checked by itself, and none that was too short', () => {
  const lives = [...life(1, 300, () => 100), ...life(2, 60, (second) => 100 + second)]
  assert.deepEqual(isFlat(lives), [true])
})
