/** A real lens process, with jobs that are documents for one lens, or commands for its worker. */
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { LensJob } from '../../../../src/lens/process/lens-jobs.ts'
import { type LensProcess, openLensProcess } from '../../../../src/lens/process/lens-process.ts'
import { createLensMetrics } from '../../../../src/lens/process/metrics.ts'
import type { Feed } from '../../../../src/views/rows/row-type.ts'
import { buildLens } from '../../support/lens.ts'

/** What the worker does instead of running a lens. */
export type Command =
  /** Returns the IDs of its process and thread. */
  | { readonly does: 'describe' }
  | { readonly does: 'large'; readonly bytes: number }
  /** Takes memory and keeps it. */
  | { readonly does: 'keep'; readonly bytes: number }
  /** Hands over numbered pieces, at block 9, and then stays for as long as it is not to stop. */
  | { readonly does: 'pieces'; readonly count: number; readonly stays?: 'asking' | 'deaf' }
  /** Hands over a piece and waits for somebody to write to a named pipe, which no end of its thread ends. */
  | { readonly does: 'block'; readonly pipe: string }
  /** Fills the heap of its thread. */
  | { readonly does: 'exhaust' }
  /** Kills its process once a file is there. */
  | { readonly does: 'die'; readonly when: string }
  /** Works until it has used so much processor time. */
  | { readonly does: 'work'; readonly processorMs: number }
  /** Ends its thread. */
  | { readonly does: 'exit' }
  /** Makes a file and waits for ever; returns at once where the file is there. */
  | { readonly does: 'wait'; readonly first: string }

/** What each thread is started with. */
export interface WorkerData {
  /** Whether it throws at once. */
  readonly refuses: boolean
  readonly feed: Feed | null
}

interface Options extends Partial<WorkerData> {
  readonly threads?: number
  readonly memoryBytes?: number
  readonly idleMs?: number
  readonly niceness?: number
  readonly environment?: Readonly<Record<string, string>>
}

interface Lenses {
  readonly process: LensProcess
  /** How often the process ended. */
  readonly ends: () => number
  /** What was logged as a warning. */
  readonly warnings: readonly Record<string, unknown>[]
  /** Gives documents to a lens, the View being named after it. */
  run(view: string, wasm: Uint8Array, job?: Documents): Promise<string[]>
  command(command: Command, job?: Partial<LensJob>): Promise<unknown>
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
}

interface Documents extends Partial<LensJob> {
  readonly documents?: readonly string[]
  /** How often the lens is in the chain. */
  readonly copies?: number
}

/** Closed after the test. */
export function openLenses(context: TestContext, options: Options = {}): Lenses {
  const { threads = 1, memoryBytes = 1024 ** 3, idleMs, niceness, environment = {} } = options
  const data: WorkerData = { refuses: options.refuses ?? false, feed: options.feed ?? null }
  const registry = new Registry()
  const warnings: Record<string, unknown>[] = []
  let ended = 0
  const process = openLensProcess(
    {
      workerUrl: new URL('./lens-worker.ts', import.meta.url),
      data,
      threads,
      memoryBytes,
      ...(idleMs !== undefined && { idleMs }),
      ...(niceness !== undefined && { niceness }),
      environment,
    },
    {
      metrics: createLensMetrics(registry),
      log: pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line)) }),
      onEnded: () => {
        ended += 1
      },
    },
  )
  context.after(() => process.close())
  const ask = async (payload: unknown, job: Partial<LensJob>): Promise<unknown> => {
    const { bytes } = await process.run({
      view: 'identity',
      definition: () => Buffer.from([1, ...buildLens()]),
      priority: 'live',
      payload: Buffer.from(JSON.stringify(payload)),
      ...job,
    })
    return JSON.parse(Buffer.from(bytes).toString())
  }
  return {
    process,
    warnings,
    ends: () => ended,
    run: async (view, wasm, { documents = ['{"n":1}'], copies = 1, ...job } = {}) => {
      const definition = (): Uint8Array => Buffer.concat([Uint8Array.of(copies), wasm])
      return (await ask(documents, { view, definition, ...job })) as string[]
    },
    command: (command, job = {}) => ask(command, job),
    async metric(name, labels = {}) {
      const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {}
      const wanted = Object.entries(labels)
      return values
        .filter((value) => wanted.every(([label, each]) => value.labels[label] === each))
        .reduce((sum, { value }) => sum + value, 0)
    },
  }
}
