/** A whole Generator in the process of the test: every part real, on free ports of the loopback address. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadGeneratorSettings } from '../../src/generator/config.ts'
import { type GeneratorProgram, openGenerator } from '../../src/generator/generator.ts'
import type { HeadTiming } from '../../src/generator/head/timing.ts'
import type { HealthReport } from '../../src/service/contract.ts'
import type { Closeable } from '../../src/service/run.ts'
import { type CapturedLog, captureLog } from './captured-log.ts'
import { onRoomyDisk } from './machine-disk.ts'

export interface GeneratorInProcess extends GeneratorProgram {
  readonly captured: CapturedLog
  /** The first failure that would have ended the program. */
  readonly failed: Promise<unknown>
  /** Waits until `/health` is so. */
  reports(isSo: (report: HealthReport) => boolean): Promise<HealthReport>
  query<T>(text: string): Promise<T>
  /** Where peers dial it. */
  readonly address: string
  close(): Promise<void>
}

/** Opens a Generator of the network `Local__Devnet` that keeps its data in `home`; closed after the test. */
export async function openGeneratorInProcess(
  t: TestContext,
  home: string,
  env: Readonly<Record<string, string>>,
  headTiming: Partial<HeadTiming> = {},
): Promise<GeneratorInProcess> {
  const { settings } = loadGeneratorSettings({
    argv: [],
    env: {
      DB_STORE_PATH: join(home, 'store'),
      DB_KEY_PATH: join(home, 'keys'),
      DB_KEYRING_SECRET: 'a secret of tests only',
      DB_API_ADDR: '127.0.0.1:0',
      DB_P2P_LISTEN_ADDR: '/ip4/127.0.0.1/tcp/0',
      HEALTH_ADDR: '127.0.0.1:0',
      LOG_LEVEL: 'error',
      CHAIN_NAME: 'Local',
      CHAIN_NETWORK: 'Devnet',
      GENERATOR_START_HEIGHT: '0',
      ...env,
    },
  })
  const captured = captureLog()
  const owned: Closeable[] = []
  const failure = Promise.withResolvers<unknown>()
  const close = async (): Promise<void> => {
    for (let part = owned.pop(); part !== undefined; part = owned.pop()) await part.close()
  }
  t.after(close)
  const running = {
    fail: failure.resolve,
    own<T extends Closeable>(_name: string, part: T): T {
      owned.push(part)
      return part
    },
  }
  const generator = await openGenerator(
    { ...settings, headTiming },
    { log: captured.log, running, secrets: [] },
  )
  const { healthPort, apiPort } = generator
  const { id, addresses } = generator.p2p.self()
  return {
    ...generator,
    captured,
    address: `${addresses.at(-1)}/p2p/${id}`,
    failed: failure.promise,
    async reports(isSo) {
      for (;;) {
        const response = await fetch(`http://127.0.0.1:${healthPort}/health`)
        const report = onRoomyDisk((await response.json()) as HealthReport)
        if (isSo(report)) return report
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    async query<T>(text: string) {
      const response = await fetch(`http://127.0.0.1:${apiPort}/api/v0/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: text }),
      })
      const { data, errors } = (await response.json()) as { data: T; errors?: unknown }
      if (errors !== undefined) throw new Error(JSON.stringify(errors))
      return data
    },
    close,
  }
}
