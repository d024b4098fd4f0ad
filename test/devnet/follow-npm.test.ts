import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { followNpm } from '../../src/devnet/follow-npm.ts'

const script = fileURLToPath(new URL('./npm-child.ts', import.meta.url))

test('the development chain ends when SIGTERM ends the npm that started it', async (context) => {
  // As npm does: a shell that waits for its command.
  const shell = spawn('sh', ['-c', `"$0" "$1"; true`, process.execPath, script], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  context.after(() => {
    try {
      process.kill(-(shell.pid ?? 0), 'SIGKILL')
    } catch {
      // Nothing of it is left.
    }
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: shell.stdout })) {
    lines.push(line)
    if (line === 'following') shell.kill('SIGTERM')
  }
  assert.deepEqual(lines, ['following', 'SIGTERM'])
})

test('a development chain that npm did not start, or that stops, follows nobody', async () => {
  const stopping = AbortSignal.abort()
  const running = new AbortController().signal
  await followNpm({ npm_lifecycle_event: 'start' }, stopping)
  await followNpm({ npm_lifecycle_event: 'test' }, running)
  await followNpm({}, running)
})
