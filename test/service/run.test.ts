import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { type ChildProgram, startChild } from '../support/child-program.ts'

interface Line {
  readonly level: string
  readonly msg: string
  readonly part?: string
  readonly err?: {
    readonly code: string
    readonly message: string
    readonly remedy: string
    readonly facts: Readonly<Record<string, unknown>>
    readonly stack?: string
  }
}

function start(...modes: readonly string[]): ChildProgram {
  return startChild('test/service/support/example-program.ts', { args: modes })
}

function lines(stdout: string): Line[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function closed(stdout: string): (string | undefined)[] {
  return lines(stdout)
    .filter(({ msg }) => msg === 'closed')
    .map(({ part }) => part)
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} closes the parts in reverse order and ends with exit code 0`, async () => {
    const program = start()
    await program.says('ready')
    program.process.kill(signal)
    const { code, stdout, stderr } = await program.ended()
    assert.equal(code, 0)
    assert.deepEqual(closed(stdout), ['third', 'second', 'first'])
    assert.equal(lines(stdout).at(-1)?.msg, 'stopped')
    assert.equal(stderr, '')
  })
}

test('a signal during the start aborts it and closes what is open, exit code 0', async () => {
  const program = start('open-slowly')
  await program.says('opening')
  program.process.kill('SIGTERM')
  const { code, stdout } = await program.ended()
  assert.equal(code, 0)
  assert.deepEqual(closed(stdout), ['third', 'second', 'first'])
})

test('a second signal ends the program at once', async () => {
  const program = start('hang')
  await program.says('ready')
  program.process.kill('SIGTERM')
  await program.says('"third"')
  program.process.kill('SIGTERM')
  const { code, stdout } = await program.ended()
  assert.equal(code, 1)
  assert.deepEqual(closed(stdout), ['third'])
  assert.ok(!stdout.includes('SERVICE_STOP_TIMEOUT'))
})

test('a part that does not close in time is named, exit code 1', async () => {
  const program = start('hang')
  await program.says('ready')
  program.process.kill('SIGTERM')
  const { code, stdout } = await program.ended()
  assert.equal(code, 1)
  const error = lines(stdout).at(-1)?.err
  assert.equal(error?.code, 'SERVICE_STOP_TIMEOUT')
  assert.equal(error?.message, 'second did not end within 300 ms')
})

test('a start that does not end in time is named, exit code 1', async () => {
  const program = start('open-never')
  await program.says('opening')
  program.process.kill('SIGTERM')
  const { code, stdout } = await program.ended()
  assert.equal(code, 1)
  const error = lines(stdout).at(-1)?.err
  assert.deepEqual(
    [error?.code, error?.message],
    ['SERVICE_STOP_TIMEOUT', 'the start did not end within 300 ms'],
  )
})

test('a part that fails to close does not keep the others open', async () => {
  const program = start('fail-close')
  await program.says('ready')
  program.process.kill('SIGTERM')
  const { code, stdout } = await program.ended()
  assert.equal(code, 1)
  assert.deepEqual(closed(stdout), ['third', 'first'])
})

const failures: Readonly<Record<string, readonly string[]>> = {
  'fail-early': [],
  'fail-open': ['second', 'first'],
  fail: ['third', 'second', 'first'],
  throw: ['third', 'second', 'first'],
}

for (const [mode, parts] of Object.entries(failures)) {
  test(`a failure (${mode}) logs one line, closes what is open and exits with code 1`, async () => {
    const { code, stdout, stderr } = await start(mode).ended()
    assert.equal(code, 1)
    assert.equal(stderr, '')
    const fatal = lines(stdout).filter(({ level }) => level === 'fatal')
    assert.equal(fatal.length, 1)
    assert.deepEqual(fatal[0]?.err, {
      name: 'ServiceError',
      code: 'CONFIG_INVALID',
      message: 'the example is misconfigured',
      facts: { setting: 'EXAMPLE' },
      remedy: 'Set EXAMPLE.',
      cause: { name: 'Error', message: 'it was not set' },
    })
    assert.deepEqual(closed(stdout), parts)
  })
}

test('a rejection nobody waits for ends the program, with its stack and without its secret', async () => {
  const { code, stdout } = await start('reject').ended()
  assert.equal(code, 1)
  const [fatal] = lines(stdout).filter(({ level }) => level === 'fatal')
  assert.equal(fatal?.err?.message, 'nobody waits for [redacted]')
  assert.match(fatal?.err?.stack ?? '', /example-program\.ts/)
})

test('many failures at once are reported once', async () => {
  const { stdout } = await start('fail', 'throw', 'reject').ended()
  assert.equal(lines(stdout).filter(({ level }) => level === 'fatal').length, 1)
})

/** What a program that fails writes to a terminal; `pipe` takes its standard output away from that. */
function atTerminal(pipe: string): { text: string; status: number | null; isColoured: boolean } {
  const program = fileURLToPath(new URL('./support/example-program.ts', import.meta.url))
  const command = `"${process.execPath}" --disable-warning=ExperimentalWarning "${program}" fail`
  const { status, stdout } = spawnSync('script', ['-qec', `${command}${pipe}`, '/dev/null'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = stripVTControlCharacters(stdout).replaceAll('\r', '')
  return { text, status, isColoured: stdout.includes('\u001b[32mINFO') }
}

const failureLines = [
  'error: the example is misconfigured',
  '  setting: EXAMPLE',
  '  because: it was not set',
  'What to do: Set EXAMPLE.',
].join('\n')

test('at a terminal a failure and the lines of the log are text for people, in colour', () => {
  const { text, status, isColoured } = atTerminal('')
  assert.deepEqual([status, isColoured], [1, true])
  assert.ok(text.startsWith(`${failureLines}\n`))
  assert.match(text, /^\[\d\d:\d\d:\d\d\] INFO: example: ready$/m)
  assert.doesNotMatch(text, /FATAL|\{"level"/)
})

test('a failure goes to the terminal and to the log where only that is piped', () => {
  const { text } = atTerminal(' | cat')
  assert.ok(text.includes(`${failureLines}\n`))
  assert.match(text, /^\{"level":"fatal"/m)
  assert.match(text, /^\{"level":"info".*"msg":"ready"\}$/m)
})
