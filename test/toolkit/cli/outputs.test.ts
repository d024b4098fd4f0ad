/** What becomes of a command whose outputs cannot be written. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openTestTerminal } from '../support/test-terminal.ts'

const program = fileURLToPath(new URL('../support/run-toolkit.ts', import.meta.url))

/** Starts `viewmesh view create Things`, which prints the View, and says where it is kept on standard error. */
async function create(context: TestContext, stdout: 'pipe' | number): Promise<ChildProcess> {
  const { cwd, homeFolder } = await openTestTerminal(context)
  return spawn(process.execPath, [program, cwd, 'view', 'create', 'Things'], {
    env: { HOME: homeFolder },
    stdio: ['ignore', stdout, 'pipe'],
  })
}

test('a command goes on where nobody reads its standard error any more', async (context) => {
  const child = await create(context, 'pipe')
  child.stderr?.destroy()
  const [printed, [code]] = await Promise.all([
    text(child.stdout ?? Readable.from([])),
    once(child, 'close'),
  ])
  assert.match(printed, /^View: Things\n/)
  assert.equal(code, 0)
})

test('a reader of the result that has seen enough is no failure', async (context) => {
  const child = await create(context, 'pipe')
  child.stdout?.destroy()
  const [said, [code]] = await Promise.all([
    text(child.stderr ?? Readable.from([])),
    once(child, 'close'),
  ])
  assert.doesNotMatch(said, /error/)
  assert.equal(code, 0)
})

test('a result that a full disk does not take is a failure with its cause', async (context) => {
  const full = openSync('/dev/full', 'w')
  context.after(() => closeSync(full))
  const child = await create(context, full)
  const [said, [code]] = await Promise.all([
    text(child.stderr ?? Readable.from([])),
    once(child, 'close'),
  ])
  assert.match(said, /^error: the result cannot be written\n {2}because: ENOSPC: /m)
  assert.equal(code, 1)
})
