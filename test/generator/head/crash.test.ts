import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { decodeHead, type Head } from '../../../src/primitives/head.ts'
import { startChild } from '../../support/child-program.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { testDirectory } from '../../support/test-store.ts'

const rounds = 10

/** Starts the signing program, kills it some time after its first head, and answers the heads it sent. */
async function signAndKill(path: string, unixMs: number, delayMs: number): Promise<Head[]> {
  const child = startChild('test/generator/support/head-program.ts', { args: [path, `${unixMs}`] })
  await child.says('head')
  await pause(delayMs)
  child.process.kill('SIGKILL')
  const { stdout, signal } = await child.ended()
  assert.equal(signal, 'SIGKILL')
  return [...stdout.matchAll(/^head ([0-9a-f]+)$/gm)].map(([, hex = '']) =>
    decodeHead(Buffer.from(hex, 'hex')),
  )
}

test(`kill -9 and a jumping clock repeat no sequence (${rounds} rounds)`, async (t) => {
  const path = testDirectory(t)
  const random = createSeededRandom('kill heads')
  const sent: Head[] = []
  for (let round = 0; round < rounds; round++) {
    const heads = await signAndKill(path, random.int(1_000_000_000), random.int(100))
    assert.ok(heads.length > 0)
    sent.push(...heads)
  }
  const sequences = sent.map(({ sequence }) => sequence)
  assert.deepEqual(
    sequences,
    [...new Set(sequences)].toSorted((a, b) => a - b),
    'each is higher than all before it',
  )
})
