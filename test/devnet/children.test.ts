import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openChildren } from '../../src/devnet/children.ts'
import { ServiceError } from '../../src/errors.ts'

const directory = await mkdtemp(join(tmpdir(), 'viewmesh-children-'))
after(() => rm(directory, { recursive: true }))

function nodeScript(name: string, script: string) {
  const args = ['--input-type=module', '--eval', script]
  return { name, command: process.execPath, args, env: {}, logPath: join(directory, name) }
}

const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')"

test('a program that ends by itself is a failure that shows what it said last', async () => {
  const failure = Promise.withResolvers<unknown>()
  const children = openChildren({ onFailure: failure.resolve })
  children.start(nodeScript('short', "console.log('so long'); process.exitCode = 3"))
  const error = await failure.promise
  await children.close()
  assert.ok(error instanceof ServiceError)
  assert.equal(error.code, 'DEVNET_PROGRAM_ENDED')
  assert.match(error.message, /the short ended by itself \(exit code 3\).*\nso long$/)
})

test("where the program's log has an error with a remedy, the failure passes it on", async () => {
  const failure = Promise.withResolvers<unknown>()
  const children = openChildren({ onFailure: failure.resolve })
  const err = { name: 'ServiceError', message: 'wrong secret', remedy: 'Restore it.' }
  const line = JSON.stringify({ level: 'fatal', msg: 'failed', err })
  children.start(
    nodeScript('failing', `console.log(${JSON.stringify(line)}); process.exitCode = 1`),
  )
  const error = await failure.promise
  await children.close()
  assert.ok(error instanceof ServiceError && error.cause instanceof Error)
  assert.equal(error.cause.message, 'wrong secret')
  assert.equal(error.remedy, 'Restore it.')
})

test('an error in the log that has no remedy leads to the log', async () => {
  const failure = Promise.withResolvers<unknown>()
  const children = openChildren({ onFailure: failure.resolve })
  const line = JSON.stringify({ level: 'fatal', err: { name: 'Error', message: 'no idea' } })
  children.start(nodeScript('clueless', `console.log(${JSON.stringify(line)})`))
  const error = await failure.promise
  await children.close()
  assert.ok(error instanceof ServiceError && error.cause instanceof Error)
  assert.equal(error.message, 'the clueless ended by itself (exit code 0)')
  assert.equal(error.cause.message, 'no idea')
  assert.match(error.remedy ?? '', /^Read .*clueless, remove the cause and start again\.$/)
})

test('a line whose error is no object counts as text', async () => {
  const failure = Promise.withResolvers<unknown>()
  const children = openChildren({ onFailure: failure.resolve })
  const line = JSON.stringify({ level: 'error', err: null })
  children.start(nodeScript('odd', `console.log(${JSON.stringify(line)})`))
  const error = await failure.promise
  await children.close()
  assert.ok(error instanceof ServiceError)
  assert.match(error.message, /its last lines:\n\{"level":"error","err":null\}$/)
  assert.equal(error.cause, undefined)
})

test('the remedy for a program that somebody or the system killed is not its silent log', async () => {
  const failure = Promise.withResolvers<unknown>()
  const children = openChildren({ onFailure: failure.resolve })
  children.start(nodeScript('killed', "process.kill(process.pid, 'SIGKILL')"))
  const error = await failure.promise
  await children.close()
  assert.ok(error instanceof ServiceError)
  assert.equal(error.message, 'the killed ended by itself (SIGKILL)')
  assert.match(error.remedy ?? '', /^Start again\. Unless somebody killed it, the system did/)
})

test('of what a program said the last 20 lines are shown, and all are in its log', async () => {
  const failure = Promise.withResolvers<unknown>()
  const children = openChildren({ onFailure: failure.resolve })
  const count = 25
  children.start(nodeScript('long', `for (let n = 1; n <= ${count}; n++) console.log('line', n)`))
  const error = await failure.promise
  await children.close()
  assert.ok(error instanceof ServiceError)
  const logPath = join(directory, 'long')
  const lines = Array.from({ length: count }, (_, index) => `line ${index + 1}`)
  const [said, ...shown] = error.message.split('\n')
  assert.equal(said, 'the long ended by itself (exit code 0); its last lines:')
  assert.deepEqual(shown, lines.slice(-20))
  assert.deepEqual(error.facts, { program: 'long', reason: 'exit code 0', log: logPath })
  assert.equal(error.remedy, `Read ${logPath}, remove the cause and start again.`)
  assert.equal(await readFile(logPath, 'utf8'), `${lines.join('\n')}\n`)
})

test('a program that does not exist is a failure too, and is reported once', async () => {
  const failures: unknown[] = []
  const failure = Promise.withResolvers<void>()
  const children = openChildren({
    onFailure(error) {
      failures.push(error)
      failure.resolve()
    },
  })
  children.start({ ...nodeScript('none', ''), command: join(directory, 'nothing-here') })
  await failure.promise
  await children.close()
  assert.equal(failures.length, 1)
  assert.match(String(failures[0]), /the none ended by itself .*ENOENT/)
})

test('a program that ignores SIGTERM is killed when its time is over', async () => {
  const up = Promise.withResolvers<void>()
  const children = openChildren({ onFailure: (error) => assert.fail(String(error)) })
  const child = children.start({ ...nodeScript('stubborn', stubborn), onLine: () => up.resolve() })
  await up.promise
  await child.stop(100)
  await children.close()
  assert.equal(await readFile(join(directory, 'stubborn'), 'utf8'), 'up\n')
})

test('no program outlives us, even when we are killed without a chance to act', async () => {
  const script = fileURLToPath(new URL('./children-parent.ts', import.meta.url))
  const parent = spawn(process.execPath, [script, join(directory, 'orphan')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = Number(await firstLine(parent))
  const [isThere, hasGroup] = [isAlive(pid), isAlive(-pid)]
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  while (isAlive(pid)) await delay(20)
  assert.deepEqual([isThere, hasGroup], [true, true], 'no Ctrl-C for us reaches its group')
})

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout !== null)
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('it said nothing')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
