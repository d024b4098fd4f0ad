/** A real lens process, with jobs that are documents for one lens. */
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { LensJob } from '../../../../src/lens/process/lens-jobs.ts'
import { type LensProcess, openLensProcess } from '../../../../src/lens/process/lens-process.ts'

interface Options {
  readonly threads?: number
  readonly memoryBytes?: number
  readonly data?: { readonly refuses?: boolean }
}

interface Lenses {
  readonly process: LensProcess
  readonly registry: Registry
  /** How often the process ended. */
  readonly ends: () => number
  /** What was logged. */
  readonly lines: readonly Record<string, unknown>[]
  /** Gives documents to a lens; the View is named after it. */
  run(
    view: string,
    wasm: Uint8Array,
    documents?: readonly string[],
    job?: Partial<LensJob>,
  ): Promise<string[]>
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
}

/** Closed after the test. */
export function openLenses(context: TestContext, options: Options = {}): Lenses {
  const registry = new Registry()
  const lines: Record<string, unknown>[] = []
  let ended = 0
  const process = openLensProcess(
    {
      workerUrl: new URL('./lens-worker.ts', import.meta.url),
      data: options.data ?? {},
      threads: options.threads ?? 1,
      memoryBytes: options.memoryBytes ?? 1024 ** 3,
      environment: { SECRET: 'of the program', TZ: 'UTC' },
    },
    {
      registry,
      log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      onEnded: () => {
        ended += 1
      },
    },
  )
  context.after(() => process.close())
  return {
    process,
    registry,
    lines,
    ends: () => ended,
    async run(view, wasm, documents = ['{"n":1}'], job = {}) {
      const { bytes } = await process.run({
        view,
        definition: () => wasm,
        priority: 'live',
        payload: Buffer.from(JSON.stringify(documents)),
        ...job,
      })
      return JSON.parse(Buffer.from(bytes).toString())
    },
    async metric(name, labels = {}) {
      const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {}
      return values
        .filter((value) =>
          Object.entries(labels).every(
            ([label, each]) => Reflect.get(value.labels, label) === each,
          ),
        )
        .reduce((sum, { value }) => sum + value, 0)
    },
  }
}
