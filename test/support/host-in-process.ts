/** A whole Host in the process of the test: every part real, on free ports of the loopback address. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadHostSettings } from '../../src/host/config.ts'
import { type HostProgram, openHost } from '../../src/host/host.ts'
import type { HealthReport } from '../../src/service/contract.ts'
import type { Closeable } from '../../src/service/run.ts'
import { type CapturedLog, captureLog } from './captured-log.ts'
import { freePorts } from './free-port.ts'
import { onRoomyDisk } from './machine-disk.ts'

interface HostInProcess {
  readonly captured: CapturedLog
  readonly healthUrl: string
  /** Settles when everything is open; the ports answer earlier. */
  readonly opened: Promise<HostProgram>
  health(): Promise<{ status: number; report: HealthReport }>
  /** Is told the name of each part that has been closed. */
  close(onClosed?: (name: string) => Promise<void>): Promise<void>
}

/** Opens a Host of the network `Local__Devnet` that keeps its data in `home`; closed after the test. */
export async function openHostInProcess(
  t: TestContext,
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<HostInProcess> {
  const [healthPort = 0] = await freePorts(1)
  const loaded = loadHostSettings({
    argv: [],
    env: {
      DB_STORE_PATH: join(home, 'store'),
      DB_KEY_PATH: join(home, 'keys'),
      DB_KEYRING_SECRET: 'a secret of tests only',
      DB_API_ADDR: '127.0.0.1:0',
      DB_P2P_LISTEN_ADDR: '/ip4/127.0.0.1/tcp/0',
      HEALTH_ADDR: `127.0.0.1:${healthPort}`,
      LOG_LEVEL: 'error',
      CHAIN_NAME: 'Local',
      CHAIN_NETWORK: 'Devnet',
      ...env,
    },
  })
  const captured = captureLog()
  const parts: { readonly name: string; readonly part: Closeable }[] = []
  const stopping = new AbortController()
  const opened = openHost(loaded, {
    log: captured.log,
    secrets: [],
    environment: {},
    running: {
      signal: stopping.signal,
      fail: (error) => captured.log.fatal({ err: error }, 'failed'),
      own: (name, part) => {
        parts.push({ name, part })
        return part
      },
    },
  })
  opened.catch(() => undefined)
  const close: HostInProcess['close'] = async (onClosed) => {
    stopping.abort()
    await opened.catch(() => undefined)
    for (let last = parts.pop(); last !== undefined; last = parts.pop()) {
      await last.part.close()
      await onClosed?.(last.name)
    }
  }
  t.after(() => close())
  const healthUrl = `http://127.0.0.1:${healthPort}`
  return {
    captured,
    healthUrl,
    opened,
    close,
    health: async () => {
      const response = await fetch(`${healthUrl}/health`)
      return {
        status: response.status,
        report: onRoomyDisk((await response.json()) as HealthReport),
      }
    },
  }
}
