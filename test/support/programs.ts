/**
 * The real programs as child processes, each with an empty folder of its own, read from outside:
 * by `/health`, `/metrics`, GraphQL and the kernel's account of their memory.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HealthReport, nodeOptions, type ProgramName } from '../../src/service/contract.ts'
import { freePorts } from './free-port.ts'

/** What a process has in memory. */
interface ProcessMemory {
  readonly ownBytes: number
  readonly residentBytes: number
  /** The most it ever had. */
  readonly peakBytes: number
}

export interface Program {
  readonly healthUrl: string
  readonly graphqlUrl: string
  /** The address by which others reach it, once its peer ID is known. */
  peerAddress(peerId: string): string
  health(): Promise<HealthReport>
  /** The `data` of a GraphQL answer; throws when there are errors in it. */
  query<T>(query: string, variables?: Readonly<Record<string, unknown>>): Promise<T>
  /** Value of the metric whose line starts with this text. */
  metric(lineStart: string): Promise<number>
  /** Bytes on disk of everything the program keeps. */
  diskBytes(): number
  memory(): ProcessMemory
  /** How it ended without being told to; null where it did not. */
  ownEnd(): string | null
  /** Starts it on its folder, which keeps its content between starts; resolves when it is healthy. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
  /** SIGKILL: no chance to clean up. */
  kill(): Promise<void>
  /** Ends the program and removes its folder. */
  close(): Promise<void>
}

export interface ProgramPlace {
  /** Where it keeps everything. Default: a new folder. */
  readonly folder?: string
  /** File to which is added what it says. Default: that is shown. */
  readonly log?: string
}

/** `viewmesh generator` or `viewmesh host` on free ports and an empty folder, not yet started. */
export async function prepareProgram(
  name: ProgramName,
  settings: Readonly<Record<string, string>>,
  { folder = mkdtempSync(join(tmpdir(), `viewmesh-${name}-`)), log }: ProgramPlace = {},
): Promise<Program> {
  mkdirSync(folder, { recursive: true })
  const [health = 0, api = 0, p2p = 0] = await freePorts(3)
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    DB_STORE_PATH: join(folder, 'store'),
    DB_KEY_PATH: join(folder, 'keys'),
    DB_KEYRING_SECRET: 'a secret of tests only',
    DB_API_ADDR: `127.0.0.1:${api}`,
    DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
    HEALTH_ADDR: `127.0.0.1:${health}`,
    LOG_LEVEL: 'warn',
    ...settings,
  }
  const url = `http://127.0.0.1:${health}`
  const graphqlUrl = `http://127.0.0.1:${api}/api/v0/graphql`
  let child: ChildProcess | undefined
  let ownEnd: string | null = null
  const end = async (signal?: NodeJS.Signals): Promise<void> => {
    const ending = child
    child = undefined
    if (ending !== undefined) await endChild(ending, signal)
  }
  return {
    healthUrl: `${url}/health`,
    graphqlUrl,
    peerAddress: (peerId) => `/ip4/127.0.0.1/tcp/${p2p}/p2p/${peerId}`,
    async health() {
      return (await (await fetch(`${url}/health`)).json()) as HealthReport
    },
    async query<T>(query: string, variables: Readonly<Record<string, unknown>> = {}) {
      const response = await fetch(graphqlUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      const { data, errors } = (await response.json()) as { data: T; errors?: unknown }
      if (errors !== undefined) throw new Error(`${name}: ${JSON.stringify(errors)}`)
      return data
    },
    async metric(lineStart) {
      const text = await (await fetch(`${url}/metrics`)).text()
      const line = text.split('\n').find((candidate) => candidate.startsWith(lineStart))
      if (line === undefined) throw new Error(`${name} has no metric ${lineStart}`)
      return Number(line.slice(line.lastIndexOf(' ') + 1))
    },
    diskBytes: () => folderBytes(folder),
    memory: () => processMemory(child?.pid ?? 0),
    ownEnd: () => ownEnd,
    async start(more = {}) {
      const started = startProgram(name, { ...environment, ...more }, log)
      child = started
      started.once('exit', (code, signal) => {
        if (child === started) ownEnd = `ended with ${signal ?? `code ${code}`}`
      })
      await untilHealthy(started, url)
    },
    stop: () => end(),
    kill: () => end('SIGKILL'),
    async close() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Its end follows that of this process. */
function startProgram(name: ProgramName, env: NodeJS.ProcessEnv, log?: string): ChildProcess {
  const output = log === undefined ? 'inherit' : openSync(log, 'a')
  const child = spawn(process.execPath, [...nodeOptions, 'src/viewmesh.js', name], {
    env,
    stdio: ['ignore', output, output],
  })
  if (typeof output === 'number') closeSync(output)
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.removeListener('exit', kill))
  return child
}

/** A program that takes longer than this to be healthy hangs. */
const longestStartMs = 60_000

async function untilHealthy(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + longestStartMs
  while (child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(`${url}/health`).catch(() => undefined)
    if (answer?.status === 200) return
    if (performance.now() > deadline) throw new Error('a program did not become healthy')
    await pause(20)
  }
  throw new Error(
    `a program ended with ${child.exitCode ?? child.signalCode} before it was healthy`,
  )
}

/** Waits between two looks at a program from outside, where there is no event to await. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Ends a child process with a signal and waits until it is gone. */
export async function endChild(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0)
}

/** Of a process that runs. */
export function processMemory(pid: number): ProcessMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = (key: string): number =>
    Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return {
    ownBytes: kilobytes('RssAnon') * 1024,
    residentBytes: kilobytes('VmRSS') * 1024,
    peakBytes: kilobytes('VmHWM') * 1024,
  }
}
