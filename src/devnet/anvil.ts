/** The execution node that comes with the development chain: anvil, as npm installs it. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { anvilState } from './anvil-state.ts'
import type { Child, Children } from './children.ts'
import { callNode, type RpcAddress } from './rpc.ts'

interface AnvilOptions {
  readonly port: number
  /** The chain is kept in `state.json` here, beside the log; both are made when missing. */
  readonly directory: string
  /** How it mines and what it keeps; default: what the development chain needs. */
  readonly args?: readonly string[]
}

export interface Anvil {
  readonly node: RpcAddress
  readonly wsUrl: string
  readonly child: Child
}

const packages: Readonly<Record<string, string>> = {
  'darwin arm64': '@foundry-rs/anvil-darwin-arm64',
  'darwin x64': '@foundry-rs/anvil-darwin-amd64',
  'linux arm64': '@foundry-rs/anvil-linux-arm64',
  'linux x64': '@foundry-rs/anvil-linux-amd64',
  'win32 x64': '@foundry-rs/anvil-win32-amd64',
}
const stepMs = 50

/**
 * Blocks whose transactions anvil keeps. It writes all of them to its state file once a second, so
 * this bounds the writing (7 MB a second); the Generator is never this far behind.
 */
const keptBlocks = 256

/** A block each second; the state on disk each second. */
const chainArgs: readonly string[] = [
  ...['--block-time', '1', '--state-interval', '1'],
  ...['--transaction-block-keeper', String(keptBlocks), '--prune-history', '64'],
]

/** Path of the program. Throws DEVNET_ANVIL_MISSING where npm has none for this machine. */
export function anvilPath(platform: string, arch: string): string {
  const name = packages[`${platform} ${arch}`]
  const missing = (message: string, remedy: string, cause?: unknown): ServiceError =>
    new ServiceError('DEVNET_ANVIL_MISSING', message, { facts: { platform, arch }, remedy, cause })
  const own = 'use a node of your own: NODE_RPC_URL=http://127.0.0.1:8545 npm start'
  if (name === undefined) {
    throw missing(
      `the execution node anvil is not made for ${platform} on ${arch}`,
      `Please ${own}.`,
    )
  }
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    const program = platform === 'win32' ? 'anvil.exe' : 'anvil'
    return join(manifest, '..', 'bin', program)
  } catch (cause) {
    const remedy = `Run npm ci without --omit, with a registry that has ${name}; or ${own}.`
    throw missing(
      `the npm package ${name}, which holds the execution node, is not installed`,
      remedy,
      cause,
    )
  }
}

/**
 * Starts anvil on its saved chain or on a new one, and waits until it responds.
 * An earlier exit is reported by `children`.
 */
export async function startAnvil(
  options: AnvilOptions,
  parts: { readonly children: Children; readonly signal: AbortSignal },
): Promise<Anvil> {
  const { port, directory } = options
  const child = parts.children.start({
    name: 'node',
    command: anvilPath(process.platform, process.arch),
    args: [
      ...['--host', '127.0.0.1', '--port', String(port)],
      ...['--state', anvilState(directory), '--quiet'],
      ...(options.args ?? chainArgs),
    ],
    env: {},
    logPath: join(directory, 'log'),
  })
  const node = { rpcUrl: `http://127.0.0.1:${port}` }
  while (!(await answers(node))) await delay(stepMs, undefined, { signal: parts.signal })
  return { node, wsUrl: `ws://127.0.0.1:${port}`, child }
}

async function answers(node: RpcAddress): Promise<boolean> {
  try {
    await callNode(node, { method: 'eth_chainId', params: [] })
    return true
  } catch {
    return false
  }
}
