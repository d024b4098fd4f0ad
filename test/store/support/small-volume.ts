/** A program whose store lies on a small file system of its own, which no other process sees. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { HealthReport, ProgramName } from '../../../src/service/contract.ts'
import { freePorts } from '../../support/free-port.ts'
import { endChild, pause } from '../../support/programs.ts'
import { testDirectory } from '../../support/test-store.ts'

interface OnSmallVolume {
  readonly storePath: string
  /** Waits until `/health` is so. */
  reports(isSo: (report: HealthReport) => boolean): Promise<HealthReport>
  /** The text of `/metrics`. */
  metrics(): Promise<string>
  /** Takes away what fills the volume. */
  makeRoom(): void
}

/** 32 MiB, of which all but 2 MiB are taken until a line comes. */
const shell = `set -e
mount -t tmpfs -o size=32m tmpfs "$VOLUME"
echo mounted
head -c 30M /dev/zero > "$VOLUME/filler"
exec 3<&0
(read -r _ <&3; rm "$VOLUME/filler") &
exec "$@"`

/** Starts the program on a volume that is nearly full; null where this machine does not let the user mount one. */
export async function startOnSmallVolume(
  t: TestContext,
  program: ProgramName,
  settings: Readonly<Record<string, string>> = {},
): Promise<OnSmallVolume | null> {
  const home = testDirectory(t)
  const volume = join(home, 'volume')
  mkdirSync(volume)
  const storePath = join(volume, 'store')
  const [health = 0] = await freePorts(1)
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', 'src/main.ts', program]
  const child = spawn(
    'unshare',
    ['--map-root-user', '--mount', 'bash', '-c', shell, 'bash', ...node],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        VOLUME: volume,
        DB_STORE_PATH: storePath,
        DB_KEYRING_SECRET: 'a secret of tests only',
        DB_API_ADDR: '127.0.0.1:0',
        DB_P2P_LISTEN_ADDR: '/ip4/127.0.0.1/tcp/0',
        HEALTH_ADDR: `127.0.0.1:${health}`,
        LOG_LEVEL: 'error',
        ...settings,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const gone = Promise.race([once(child, 'error'), once(child, 'close')]).then(() => null)
  const mounted = await Promise.race([once(child.stdout, 'data'), gone])
  if (mounted === null) return null
  t.after(() => endChild(child))
  const url = `http://127.0.0.1:${health}`
  return {
    storePath,
    async reports(isSo) {
      while (child.exitCode === null) {
        const answer = await fetch(`${url}/health`).catch(() => null)
        const report = answer === null ? null : ((await answer.json()) as HealthReport)
        if (report !== null && isSo(report)) return report
        await pause(50)
      }
      throw new Error(`the program ended with ${child.exitCode}`)
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    makeRoom: () => void child.stdin.write('\n'),
  }
}
