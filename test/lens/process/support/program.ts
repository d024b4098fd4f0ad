/** A program with a lens process: prints the ID of that process, and then has it busy for ever. */
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openLensProcess } from '../../../../src/lens/process/lens-process.ts'
import { createLensMetrics } from '../../../../src/lens/process/metrics.ts'
import { buildLens, op } from '../../support/lens.ts'

const loop = buildLens({ transform: [...op.forever(), ...op.const(0)] })
const lenses = openLensProcess(
  {
    workerUrl: new URL('./lens-worker.ts', import.meta.url),
    data: { refuses: false, feed: null },
    threads: 1,
    memoryBytes: 1024 ** 3,
    environment: {},
  },
  {
    metrics: createLensMetrics(new Registry()),
    log: pino({ level: 'silent' }),
    onEnded: () => undefined,
  },
)
const limits = { priority: 'live', processorMs: 600_000, wallMs: 600_000 } as const
const { bytes } = await lenses.run({
  ...limits,
  view: 'identity',
  definition: () => Buffer.from([1, ...buildLens()]),
  payload: Buffer.from('{"does":"describe"}'),
})
const running = lenses.run({
  ...limits,
  view: 'loop',
  definition: () => Buffer.from([1, ...loop]),
  payload: Buffer.from('[]'),
})
process.stdout.write(`${JSON.parse(Buffer.from(bytes).toString()).pid}\n`)
await running
