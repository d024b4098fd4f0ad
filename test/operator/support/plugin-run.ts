/** Runs commands of the plugin against the stand-in for the API server. */
import { Readable, Writable } from 'node:stream'
import type { ContainerExec } from '../../../operator/plugin/cluster/exec.ts'
import { runCommandLine } from '../../../operator/plugin/command-line.ts'
import { createOutput } from '../../../operator/plugin/text/output.ts'
import type { Client } from './kubernetes-client.ts'

interface PluginRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface PluginOptions {
  readonly exec?: ContainerExec
  readonly stdin?: string
  /** Never aborted by default. */
  readonly signal?: AbortSignal
}

const noExec: ContainerExec = () => Promise.reject(new Error('nothing is run in this test'))

/** Runs `kubectl viewmesh` with these arguments, in the namespace apps unless they name one. */
export async function runPlugin(
  { api }: Pick<Client, 'api'>,
  args: readonly string[],
  { exec = noExec, stdin = '', signal = new AbortController().signal }: PluginOptions = {},
): Promise<PluginRun> {
  const stdout = collect()
  const stderr = collect()
  const code = await runCommandLine(args, {
    open: async ({ namespace = 'apps' }) => ({
      api,
      exec,
      namespace,
      serverVersion: async () => 'v1.34.0',
      close: async () => undefined,
    }),
    output: createOutput({ stdout: stdout.stream, stderr: stderr.stream }),
    stdin: Readable.from([Buffer.from(stdin)]),
    signal,
  })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

function collect(): { readonly stream: Writable; text(): string } {
  const pieces: string[] = []
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece.toString())
      done()
    },
  })
  return { stream, text: () => pieces.join('') }
}
