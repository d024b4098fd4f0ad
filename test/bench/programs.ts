/**
 * The real programs as child processes, each with an empty folder of its own, read from outside:
 * by `/health`, `/metrics`, GraphQL and the kernel's account of their memory.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HealthReport, ProgramName } from '../../src/service/contract.ts'
import { freePorts } from '../support/free-port.ts'
import type { Workload } from './workload.ts'

export interface Replay {
  readonly url: string
  moveHead(number: number): Promise<void>
  close(): Promise<void>
}

export interface Program {
  readonly graphqlUrl: string
  /** The address by which others reach it, once its peer ID is known. */
  peerAddress(peerId: string): string
  health(): Promise<HealthReport>
  /** Value of the metric whose line starts with this text. */
  metric(lineStart: string): Promise<number>
  /** Bytes on disk of everything the program keeps. */
  diskBytes(): number
  memory(): { readonly ownBytes: number; readonly residentBytes: number }
  /** Starts it on its folder, which keeps its content between starts; resolves when it is healthy. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
  /** Ends the program and removes its folder. */
  close(): Promise<void>
}

/** Starts the replay server on a workload and waits until it has read it. */
export async function startReplay(workload: Workload, head: number): Promise<Replay> {
  const child = fork(join(import.meta.dirname, 'replay-server.ts'), [
    workload.folder,
    String(workload.blocks),
    String(head),
  ])
  const [message] = await once(child, 'message')
  const url = `http://127.0.0.1:${message.port}`
  return {
    url,
    async moveHead(number) {
      await fetch(`${url}/head`, { method: 'POST', body: String(number) })
    },
    close: () => endChild(child),
  }
}

/** `viewmesh generator` or `viewmesh host` on free ports and an empty folder, not yet started. */
export async function prepareProgram(
  name: ProgramName,
  settings: Readonly<Record<string, string>>,
): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), `viewmesh-bench-${name}-`))
  const [health = 0, api = 0, p2p = 0] = await freePorts(3)
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    DB_STORE_PATH: join(folder, 'store'),
    DB_KEY_PATH: join(folder, 'keys'),
    DB_KEYRING_SECRET: 'a secret of the benchmark only',
    DB_API_ADDR: `127.0.0.1:${api}`,
    DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
    HEALTH_ADDR: `127.0.0.1:${health}`,
    LOG_LEVEL: 'warn',
    ...settings,
  }
  const url = `http://127.0.0.1:${health}`
  let child: ChildProcess | undefined
  const end = async (): Promise<void> => {
    if (child !== undefined) await endChild(child)
  }
  return {
    graphqlUrl: `http://127.0.0.1:${api}/api/v0/graphql`,
    peerAddress: (peerId) => `/ip4/127.0.0.1/tcp/${p2p}/p2p/${peerId}`,
    async health() {
      return (await (await fetch(`${url}/health`)).json()) as HealthReport
    },
    async metric(lineStart) {
      const text = await (await fetch(`${url}/metrics`)).text()
      const line = text.split('\n').find((candidate) => candidate.startsWith(lineStart))
      if (line === undefined) throw new Error(`${name} has no metric ${lineStart}`)
      return Number(line.slice(line.lastIndexOf(' ') + 1))
    },
    diskBytes: () => folderBytes(folder),
    memory: () => processMemory(child?.pid ?? 0),
    async start(more = {}) {
      child = spawn(process.execPath, ['src/main.ts', name], {
        env: { ...environment, ...more },
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      await untilHealthy(child, url)
    },
    stop: end,
    async close() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilHealthy(child: ChildProcess, url: string): Promise<void> {
  while (child.exitCode === null) {
    const answer = await fetch(`${url}/health`).catch(() => undefined)
    if (answer?.status === 200) return
    await pause(20)
  }
  throw new Error(`a program ended with ${child.exitCode} before it was healthy`)
}

/** Waits between two looks at a program from outside, where there is no event to await. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0)
}

function processMemory(pid: number): { ownBytes: number; residentBytes: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = (key: string): number =>
    Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return { ownBytes: kilobytes('RssAnon') * 1024, residentBytes: kilobytes('VmRSS') * 1024 }
}
