/**
 * One CometBFT with the key-value application that comes with it, as a chain of a single validator: built once by Go, kept
 * under the user's cache folder, with its data in a temporary folder.
 */
import { type ExecFileException, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePorts } from '../../support/free-port.ts'

const run = promisify(execFile)
/** The version of the registry chain. */
const version = 'v0.38.19'
const buildMs = 200_000
const readyMs = 30_000

/** The program, or why it cannot be had on this machine. */
export async function findCometBft(): Promise<
  { readonly path: string } | { readonly missing: string }
> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const folder = join(cache, 'viewmesh', `cometbft-${version}`)
  const path = join(folder, 'cometbft')
  if (existsSync(path)) return { path }
  const target = `github.com/cometbft/cometbft/cmd/cometbft@${version}`
  const env = { ...process.env, GOBIN: folder }
  try {
    await run('go', ['install', target], { env, timeout: buildMs })
    return { path }
  } catch (error) {
    const { killed = false, message = String(error) } = error as ExecFileException
    // Where it took too long its last line is what it was at, and no reason.
    const reason = killed
      ? `it took more than ${buildMs / 1_000} seconds`
      : message.trim().split('\n').at(-1)
    return { missing: `NOT RUN: no CometBFT, since \`go install ${target}\` fails: ${reason}` }
  }
}

export interface CometNode {
  /** Of its RPC. */
  readonly url: string
  /** Returns once it answers. */
  start(): Promise<void>
  /** As kill -9 does. */
  kill(): Promise<void>
  /** Adds the transaction `key=value`; its event `app` has `key`. */
  broadcast(key: string): Promise<void>
  close(): Promise<void>
}

/** A chain that does not run yet. */
export async function createCometNode(path: string): Promise<CometNode> {
  const home = await mkdtemp(join(tmpdir(), 'viewmesh-comet-'))
  await run(path, ['init', '--home', home])
  const [rpc, p2p] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`)
  const args = [
    ...['start', '--home', home, '--proxy_app', 'persistent_kvstore', '--log_level', 'none'],
    ...['--rpc.laddr', `tcp://${rpc}`, '--p2p.laddr', `tcp://${p2p}`],
    '--consensus.create_empty_blocks=false',
  ]
  let child: ReturnType<typeof spawn> | null = null
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const ask = async (method: string, params: object): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(`http://${rpc}`, { method: 'POST', body })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }
  return {
    url: `http://${rpc}`,
    async start() {
      child = spawn(path, args, { stdio: ['ignore', 'inherit', 'inherit'] })
      const deadlineMs = performance.now() + readyMs
      for (;;) {
        try {
          await ask('status', {})
          return
        } catch (error) {
          if (performance.now() > deadlineMs || child.exitCode !== null) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    },
    kill,
    async broadcast(key) {
      const tx = Buffer.from(`${key}=1`).toString('base64')
      const { code, log } = (await ask('broadcast_tx_sync', { tx })) as {
        code: number
        log: string
      }
      if (code !== 0) throw new Error(`the transaction is refused with code ${code}: ${log}`)
    },
    async close() {
      await kill()
      await rm(home, { recursive: true })
    },
  }
}
