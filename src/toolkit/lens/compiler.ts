/** Runs what compiles lenses, as programs of their own. */
import { execFile } from 'node:child_process'
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'

interface CompilerRun {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  /** What to do where the program is not there. */
  readonly install: string
}

/** Longest a compiler may take. */
const timeoutMs = 10 * 60_000
/** Of what it says. */
const maxOutputBytes = 16 * 1024 * 1024
const shownCharacters = 8_000

/**
 * Runs it to its end and returns its standard output.
 * @throws ServiceError `TOOLKIT_COMPILER_MISSING`; `TOOLKIT_BUILD_FAILED` with what it says.
 */
export function runCompiler(
  { env, signal }: Terminal,
  { program, args, folder, install }: CompilerRun,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const options = {
    cwd: folder,
    env: { ...env },
    signal,
    timeout: timeoutMs,
    maxBuffer: maxOutputBytes,
  }
  execFile(program, args, options, (error, stdout, stderr) => {
    if (error === null) return resolve(stdout)
    if (signal.aborted) return reject(signal.reason)
    if (error.code === 'ENOENT') return reject(missingCompiler(program, install))
    if (/can't find crate for `(?:core|std)`|target may not be installed/.test(stderr))
      return reject(
        missingCompiler(
          'the target wasm32-unknown-unknown of Rust',
          'Run: rustup target add wasm32-unknown-unknown',
        ),
      )
    const said = `${stderr}\n${stdout}`.trim().slice(0, shownCharacters)
    reject(
      new ServiceError('TOOLKIT_BUILD_FAILED', `${program} fails:\n${said}`, {
        remedy: 'Correct what the compiler reports.',
      }),
    )
  })
  return promise
}

/** What is not installed, and how that is done. */
export function missingCompiler(what: string, install: string): ServiceError {
  return new ServiceError('TOOLKIT_COMPILER_MISSING', `${what} is not installed`, {
    remedy: install,
  })
}
