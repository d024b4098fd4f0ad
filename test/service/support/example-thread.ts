/** A worker thread for the tests of threads: each request shows one thing a thread can do. */
import process from 'node:process'
import { type ResourceLimits, resourceLimits, threadId } from 'node:worker_threads'
import { ServiceError } from '../../../src/errors.ts'
import { openMetrics } from '../../../src/service/metrics.ts'
import { movedResult, serveThread } from '../../../src/service/threads/serve-thread.ts'

export type ExampleRequests = {
  add(numbers: readonly [number, number]): number
  /** Adds one to each byte; the bytes are moved there and back. */
  increment(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>
  refuse(message: string): never
  /** Answers the reason for which the signal was aborted. */
  waitForAbort(): string
  /** Never answers. */
  wait(): void
  nothing(): null
  unclonable(): unknown
  emitTicks(count: number): void
  /** Throws outside of any request. */
  crash(message: string): void
  exit(code: number): void
  block(ms: number): void
  aborted(): number
  limits(): ResourceLimits
}

export type ExampleEvents = { opening: number; tick: number; closed: string }

export interface ExampleData {
  readonly failOpen?: true
  readonly crashOpen?: true
  readonly failClose?: true
  readonly hangClose?: true
  readonly crashClose?: true
  readonly isUnmeasured?: true
  readonly buffer?: ArrayBuffer
}

await serveThread<ExampleRequests, ExampleEvents, ExampleData>(async ({ data, emit, signal }) => {
  if (data.crashOpen) process.exit(3)
  if (data.failOpen) {
    // Keeps the thread from ending by itself.
    setInterval(() => undefined, 60_000)
    throw new ServiceError('CONFIG_INVALID', 'the thread cannot open', {
      facts: { bytes: data.buffer?.byteLength ?? 0 },
      remedy: 'Open it otherwise.',
    })
  }
  const metrics = openMetrics({ thread: 'example' })
  for (const step of [1, 2]) emit('opening', step)
  let aborted = 0
  return {
    requests: {
      add: ([a, b]) => a + b,
      increment: (bytes) => {
        const result = bytes.map((byte) => byte + 1)
        return movedResult(result, [result.buffer])
      },
      refuse: (message) => {
        throw new ServiceError('CONFIG_INVALID', message, {
          facts: { thread: threadId > 0, height: 7n },
          remedy: 'Ask for something else.',
          cause: new Error('the reason'),
        })
      },
      waitForAbort: (_, context) =>
        new Promise((resolve) => {
          context.signal.addEventListener('abort', () => {
            aborted += 1
            resolve('aborted')
          })
        }),
      wait: () => new Promise(() => undefined),
      nothing: () => null,
      unclonable: () => () => undefined,
      emitTicks: (count) => {
        for (let tick = 1; tick <= count; tick++) emit('tick', tick)
      },
      crash: (message) => {
        setImmediate(() => {
          throw new ServiceError('CONFIG_INVALID', message, { remedy: 'Mend it.' })
        })
      },
      exit: (code) => process.exit(code),
      block: (ms) => {
        const end = performance.now() + ms
        while (performance.now() < end);
      },
      aborted: () => aborted,
      limits: () => resourceLimits,
    },
    ...(!data.isUnmeasured && { metrics: metrics.snapshot }),
    close: async () => {
      metrics.close()
      emit('closed', signal.aborted ? 'after the signal' : 'before the signal')
      if (data.failClose) throw new Error('the store is stuck')
      if (data.crashClose) {
        setImmediate(() => {
          throw new Error('nobody waits for this')
        })
        await new Promise(() => undefined)
      }
      if (data.hangClose) await new Promise((resolve) => setTimeout(resolve, 60_000))
    },
  }
})
