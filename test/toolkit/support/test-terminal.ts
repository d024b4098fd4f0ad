/** A terminal in memory with folders of its own, for commands that run in this process. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { runToolkit } from '../../../src/toolkit/toolkit.ts'

/** How a command ended. */
interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Where commands run. */
interface TestTerminal {
  /** The current folder: no project yet. */
  readonly cwd: string
  readonly homeFolder: string
  /** Runs `viewmesh <argv>`. */
  run(argv: readonly string[], options?: RunOptions): Promise<Outcome>
  /** Runs a command that has to succeed and answers its JSON. */
  json(...argv: readonly string[]): Promise<unknown>
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly isTTY?: boolean
  readonly cwd?: string
  readonly signal?: AbortSignal
}

/** Opens one whose folders go with the test. */
export async function openTestTerminal(context: TestContext): Promise<TestTerminal> {
  const top = await mkdtemp(join(tmpdir(), 'viewmesh-toolkit-'))
  context.after(() => rm(top, { recursive: true }))
  const cwd = join(top, 'work')
  const homeFolder = join(top, 'home')
  await mkdir(cwd)
  await mkdir(homeFolder)
  const run = async (argv: readonly string[], options: RunOptions = {}): Promise<Outcome> => {
    const texts = { stdout: '', stderr: '' }
    const { env = {}, stdin = '', isTTY = false, signal = new AbortController().signal } = options
    const output = (name: keyof typeof texts) => ({
      write: (text: string) => {
        texts[name] += text
      },
      isTTY,
      columns: isTTY ? 100 : undefined,
    })
    const exitCode = await runToolkit(argv, {
      stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY }),
      interrupt: () => undefined,
      stdout: output('stdout'),
      stderr: output('stderr'),
      cwd: options.cwd ?? cwd,
      appearsWithinMs: 100,
      ...{ env, homeFolder, signal },
    })
    return { exitCode, ...texts }
  }
  return {
    ...{ cwd, homeFolder, run },
    async json(...argv) {
      const { exitCode, stdout, stderr } = await run([...argv, '--json'])
      if (exitCode !== 0) throw new Error(`${argv.join(' ')} ended with ${exitCode}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
}
