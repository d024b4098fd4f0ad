/** How one test is run with a change: what counts as failing, and that nothing of it goes on. */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runTest, type TestRun } from './run-test.ts'

const signal = new AbortController().signal

interface Room {
  readonly top: string
  run(code: string, limitMs?: number): Promise<TestRun>
}

function openRoom(t: TestContext): Room {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'run-test-')))
  t.after(() => rmSync(top, { recursive: true }))
  const scratch = { folder: join(top, 'copy'), temporary: join(top, 'tmp') }
  for (const folder of Object.values(scratch)) mkdirSync(folder)
  return {
    top,
    run: (code, limitMs = 60_000) => {
      writeFileSync(join(scratch.folder, 'x.test.mjs'), code)
      return runTest(scratch, 'x.test.mjs', { limitMs, signal })
    },
  }
}

const testing = "import assert from 'node:assert'; import { test } from 'node:test';"

test('a test passes, or fails with what it wrote', async (t) => {
  const { run } = openRoom(t)
  assert.equal(
    (await run(`${testing} test('sums', () => assert.equal(1 + 1, 2))`)).outcome,
    'passed',
  )
  const failed = await run(`${testing} test('sums', () => assert.equal(1 + 1, 3))`)
  assert.equal(failed.outcome, 'failed')
  assert.match(failed.output, /sums/)
})

test('a test file ends at its first failure, which one that is to do does not count as', async (t) => {
  const { run } = openRoom(t)
  const { outcome, output } = await run(
    `${testing}
    test('later', { todo: true }, () => assert.equal(1 + 1, 3))
    test('sums', () => assert.equal(1 + 1, 3))
    test('waits', () => new Promise((resolve) => setTimeout(resolve, 600_000)))`,
  )
  assert.equal(outcome, 'failed')
  assert.match(output, /^sums\n.*2 == 3/)
})

test('a test that does not end times out', async (t) => {
  const { run } = openRoom(t)
  assert.equal((await run('setInterval(() => {}, 1000)', 500)).outcome, 'timed out')
})

test('what a test started and did not end does not go on, in a group of its own either', async (t) => {
  const { run, top } = openRoom(t)
  const pidFile = join(top, 'pid')
  const { outcome } = await run(
    `import { spawn } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    writeFileSync(${JSON.stringify(pidFile)}, String(child.pid))
    child.unref()`,
  )
  assert.equal(outcome, 'passed')
  assert.throws(() => readlinkSync(`/proc/${readFileSync(pidFile, 'utf8')}/cwd`))
})

test('what a test leaves among the temporary files is removed', async (t) => {
  const { run, top } = openRoom(t)
  await run(
    `import { mkdtempSync } from 'node:fs'
    import { tmpdir } from 'node:os'
    mkdtempSync(tmpdir() + '/left-')`,
  )
  assert.deepEqual(readdirSync(join(top, 'tmp')), [])
})
