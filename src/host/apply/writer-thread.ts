/** The writer thread: the one place that verifies sealed blocks and writes the store. */
import { invariant } from '../../errors.ts'
import { openLog } from '../../service/log.ts'
import type { LogLevel } from '../../service/log-level.ts'
import { openMetrics } from '../../service/metrics.ts'
import { serveThread } from '../../service/serve-thread.ts'
import { openWriter } from '../../store/writer.ts'
import { type ApplierOptions, createApplier } from './apply.ts'
import type { Outcome, Received } from './outcome.ts'

/** What the thread is started with. */
export interface WriterData {
  readonly storePath: string
  readonly applier: ApplierOptions
  readonly logLevel: LogLevel
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
}

/** A sealed block as a peer sent it. */
export interface Message {
  readonly bytes: Uint8Array
  /** See `Applier.receive`. */
  readonly mayFloat: boolean
}

/** What the main thread asks for. */
export type WriterRequests = {
  /** Verifies and stores one message, whose buffer is moved here. */
  readonly receive: (message: Message) => Promise<Received>
}

/** It reports nothing of its own accord. */
export type WriterEvents = Record<never, never>

/** Stored blocks between two looks for spans to remove from the file. */
const blocksPerPrune = 64

await serveThread<WriterRequests, WriterEvents, WriterData>(async ({ data }) => {
  const log = openLog({ name: 'host-writer', level: data.logLevel, secrets: data.secrets })
  const metrics = openMetrics({ thread: 'writer' })
  const { network, retainBlocks } = data.applier
  const store = await openWriter(
    { path: data.storePath, network, retainBlocks, program: 'host' },
    { log, registry: metrics.registry },
  )
  const applier = createApplier(data.applier, { store })
  let sincePrune = 0

  const pruneAfter = async (outcome: Outcome): Promise<void> => {
    if (outcome.kind !== 'stored' || ++sincePrune < blocksPerPrune) return
    sincePrune = 0
    const removed = await store.prune()
    if (removed > 0) log.debug({ removed }, 'pruned')
  }

  return {
    requests: {
      receive: async ({ bytes, mayFloat }) => {
        invariant(bytes.byteLength === bytes.buffer.byteLength, 'a message has its buffer alone')
        const result = await applier.receive(bytes, mayFloat)
        await pruneAfter(result.outcome)
        return result
      },
    },
    metrics: () => metrics.snapshot(),
    close: async () => {
      metrics.close()
      await store.close()
    },
  }
})
