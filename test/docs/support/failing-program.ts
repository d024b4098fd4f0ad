/** The real programs as their logs and `/health` show them, for a test that makes them fail. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type HealthReport, nodeOptions, type ProgramName } from '../../../src/service/contract.ts'
import { type ChildProgram, startChild } from '../../support/child-program.ts'
import { freePorts } from '../../support/free-port.ts'
import { onRoomyDisk } from '../../support/machine-disk.ts'
import { repository } from '../../support/repository.ts'

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly err?: Failure
  readonly [fact: string]: unknown
}

export interface Failure {
  readonly code: string
  readonly message: string
  readonly remedy?: string
  readonly facts: Readonly<Record<string, unknown>>
}

interface ProgramSetup {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly readable?: string | null
}

export interface Started {
  readonly child: ChildProgram
  readonly healthPort: number
  readonly p2pPort: number
  lines(): LogLine[]
  /** The line with this message, as soon as it is logged. */
  logs(message: string): Promise<LogLine>
  /** The health report as soon as it is so. */
  reports(isSo: (report: HealthReport) => boolean): Promise<HealthReport>
  stop(): Promise<void>
}

/** Starts a program on free ports with this home; from a `readable` copy, if there is one, as another user than root. */
export async function startProgram(
  t: TestContext,
  name: ProgramName,
  { home, env, readable = null }: ProgramSetup,
): Promise<Started> {
  const [healthPort = 0, api, p2pPort = 0] = await freePorts(3)
  const leave = new URL('../../support/other-user/preload-leave-root.ts', import.meta.url).href
  const child = startChild(join(readable ?? repository, 'src/viewmesh.js'), {
    args: [name],
    nodeFlags: [...nodeOptions, ...(readable === null ? [] : ['--import', leave])],
    env: {
      HOME: home,
      DB_KEYRING_SECRET: 'a secret of tests only',
      HEALTH_ADDR: `127.0.0.1:${healthPort}`,
      DB_API_ADDR: `127.0.0.1:${api}`,
      DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2pPort}`,
      ...(name === 'generator' && { NODE_RPC_URL: 'http://127.0.0.1:1' }),
      ...env,
    },
  })
  const stop = async (): Promise<void> => {
    child.process.kill('SIGTERM')
    await child.ended()
  }
  t.after(stop)
  const lines = (): LogLine[] =>
    child
      .stdout()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line))
  return {
    child,
    healthPort,
    p2pPort,
    lines,
    stop,
    async logs(message) {
      await child.says(`"msg":"${message}"}`)
      const line = lines().find(({ msg }) => msg === message)
      assert.ok(line)
      return line
    },
    async reports(isSo) {
      for (;;) {
        const response = await fetch(`http://127.0.0.1:${healthPort}/health`).catch(() => null)
        const report = (await response?.json()) as HealthReport | undefined
        if (report !== undefined && isSo(onRoomyDisk(report))) return onRoomyDisk(report)
        assert.equal(child.process.exitCode, null, child.stdout())
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
  }
}
