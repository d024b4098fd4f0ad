/** Which change counts as noticed where a test takes too long. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Mutant } from './place.ts'
import { type Trial, tryMutant } from './try-mutant.ts'

const original = 'export const isDone = () => true'
const mutant: Mutant = { path: 'x.mjs', start: 0, end: 0, text: 'false' }

/** Tries `isDone` that says false at tests of these bodies, which may import it. */
async function tried(
  t: TestContext,
  bodies: readonly string[],
  maxTests = Infinity,
): Promise<Trial> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'try-mutant-')))
  t.after(() => rmSync(top, { recursive: true, force: true }))
  const [folder, temporary] = [join(top, 'copy'), join(top, 'tmp')]
  for (const made of [folder, temporary]) mkdirSync(made)
  const write = (text: string): void => writeFileSync(join(folder, mutant.path), text)
  write(original)
  const names = bodies.map((_, index) => `${index}.test.mjs`)
  for (const [index, body] of bodies.entries())
    writeFileSync(join(folder, `${index}.test.mjs`), `import { isDone } from './x.mjs'; ${body}`)
  const scratch = {
    folder,
    temporary,
    async during<T>(_: Mutant, work: () => Promise<T>): Promise<T> {
      write(original.replace('true', mutant.text))
      try {
        return await work()
      } finally {
        write(original)
      }
    },
    close: () => undefined,
  }
  const clean = { passed: true, durationMs: 1_000, coverage: { 'x.mjs': [0, 100] } }
  return await tryMutant(
    mutant,
    { ring: 0, maxTests, patience: { factor: 1, extraMs: 1_000 } },
    {
      scratch,
      cleanRuns: { of: async () => clean, known: () => clean, failed: () => new Map() },
      reach: () => names.map((path) => ({ path, ring: 0, steps: 1 })),
      startsPrograms: () => false,
      signal: AbortSignal.timeout(60_000),
    },
  )
}

test('a change is noticed by a test that fails with it', async (t) => {
  const { killedBy } = await tried(t, ['if (!isDone()) process.exitCode = 1'])
  assert.deepEqual(killedBy, { test: '0.test.mjs', how: 'failed' })
})

test('a change is noticed by a test that does not end with it, and does without', async (t) => {
  const { killedBy } = await tried(t, ['if (!isDone()) setInterval(() => {}, 1000)'])
  assert.deepEqual(killedBy, { test: '0.test.mjs', how: 'timed out' })
})

test('a test that takes as long without the change has noticed nothing', async (t) => {
  const { killedBy, ran } = await tried(t, ['setInterval(() => {}, 1000)'])
  assert.deepEqual([killedBy, ran], [null, ['0.test.mjs']])
})

test('tests run until one notices the change, and no more of them than were asked for', async (t) => {
  const bodies = ['', '', 'if (!isDone()) process.exitCode = 1', '']
  const all = await tried(t, bodies)
  assert.equal(all.killedBy?.test, '2.test.mjs')
  const few = await tried(t, bodies, 2)
  assert.deepEqual([few.killedBy, few.ran], [null, ['0.test.mjs', '1.test.mjs']])
})
