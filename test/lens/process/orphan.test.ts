import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

test('where the program is killed, its lens process ends, however busy it is', async () => {
  const script = fileURLToPath(new URL('./support/program.ts', import.meta.url))
  const program = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: program.stdout }), 'line')
  const pid = Number(line)
  assert.ok(isAlive(pid))
  program.kill('SIGKILL')
  await once(program, 'exit')
  while (isAlive(pid)) await delay(20)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
