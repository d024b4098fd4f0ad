/** What becomes of a program that compiles a lens. */
import assert from 'node:assert/strict'
import { realpathSync } from 'node:fs'
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import { runCompiler } from '../../../src/toolkit/lens/compiler.ts'
import { testDirectory } from '../../support/test-store.ts'

interface Given {
  readonly program?: string
  readonly signal?: AbortSignal
}

/** Runs a compiler that is this text of JavaScript. */
function compile(
  t: TestContext,
  text: string,
  { program = process.execPath, signal = new AbortController().signal }: Given = {},
): Promise<string> {
  const terminal = { env: { SEEN: 'yes' }, signal } as Pick<Terminal, 'env' | 'signal'> as Terminal
  const args = ['-e', text]
  return runCompiler(terminal, { program, args, folder: testDirectory(t), install: 'Install it.' })
}

test('a compiler runs in the folder of the lens, with the environment of the command', async (t) => {
  const said = await compile(t, 'console.error("x"); console.log(process.cwd(), process.env.SEEN)')
  const [folder = '', seen] = said.trimEnd().split(' ')
  assert.equal(realpathSync(folder), folder)
  assert.notEqual(folder, process.cwd())
  assert.equal(seen, 'yes')
})

test('what a compiler says as it fails is shown, errors first, up to 8,000 characters', async (t) => {
  const failing = 'console.log("beside"); console.error("\\nwrong"); process.exitCode = 3'
  await assert.rejects(compile(t, failing), {
    code: 'TOOLKIT_BUILD_FAILED',
    message: `${process.execPath} fails:\nwrong\n\nbeside`,
    remedy: 'Correct what the compiler reports.',
  })
  const endless = 'process.stderr.write("e".repeat(9_000)); process.exitCode = 3'
  await assert.rejects(compile(t, endless), {
    message: `${process.execPath} fails:\n${'e'.repeat(8_000)}`,
  })
})

test('what is not installed is reported with how to get it, the target of Rust as well', async (t) => {
  await assert.rejects(compile(t, '', { program: 'no-such-compiler' }), {
    code: 'TOOLKIT_COMPILER_MISSING',
    message: 'no-such-compiler is not installed',
    remedy: 'Install it.',
  })
  for (const said of ["can't find crate for `core`", 'the target may not be installed'])
    await assert.rejects(
      compile(t, `console.error(${JSON.stringify(said)}); process.exitCode = 101`),
      {
        code: 'TOOLKIT_COMPILER_MISSING',
        message: 'the target wasm32-unknown-unknown of Rust is not installed',
        remedy: 'Run: rustup target add wasm32-unknown-unknown',
      },
    )
})

test('a command that is interrupted ends its compiler, with the reason', async (t) => {
  const stop = new AbortController()
  const running = compile(t, 'setInterval(() => undefined, 1_000)', { signal: stop.signal })
  stop.abort(new Error('enough'))
  await assert.rejects(running, { message: 'enough' })
})
