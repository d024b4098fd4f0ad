/** The writer of a Host on the test's own thread, with a clock that a test can move on. */
import type { Logger } from 'pino'
import { createApplier } from '../../../src/host/apply/applier.ts'
import type { FollowState, Stored } from '../../../src/host/apply/outcome.ts'
import { createReporting } from '../../../src/host/apply/reporting.ts'
import { createStatementAdmission } from '../../../src/host/apply/statement-admission.ts'
import type { Writer } from '../../../src/host/apply/writer.ts'
import type { StoreReader } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { decodeBlockRows } from '../../../src/views/rows/block-rows.ts'

interface LocalWriter {
  readonly writer: Writer
  readonly reader: StoreReader
  /** Lets this many milliseconds pass, all at once. */
  pass(ms: number): void
  close(): Promise<void>
}

interface LocalWriterOptions {
  readonly path: string
  readonly network: string
  readonly retainBlocks: number | null
}

/** Opens a store and its applier. */
export async function openLocalWriter(
  { path, network, retainBlocks }: LocalWriterOptions,
  { log, onFatal }: { readonly log: Logger; readonly onFatal: (error: unknown) => void },
): Promise<LocalWriter> {
  const store = await openWriter({ path, network, retainBlocks, program: 'host' }, { log })
  const storedListeners: ((stored: Stored) => void)[] = []
  const stateListeners: ((state: FollowState) => void)[] = []
  let passedMs = 0
  const applier = createApplier(
    { network, retainBlocks, maxRawBytes: 64 * 1024 * 1024 },
    {
      store,
      log,
      nowMs: () => performance.now() + passedMs,
      onStored: (stored) => {
        for (const listener of storedListeners) listener(stored)
      },
      onFailure: onFatal,
    },
  )
  const admission = createStatementAdmission({ network }, { store, log })
  const reporting = createReporting(applier.state, (state) => {
    for (const listener of stateListeners) listener(state)
  })
  const tick = (): void => {
    applier.tick()
    reporting.wake()
  }
  const ticking = setInterval(tick, 100)
  const reported = async <T>(work: T | Promise<T>): Promise<T> => {
    const result = await work
    reporting.wake()
    return result
  }
  return {
    reader: store.reader,
    writer: {
      receive: (bytes, isForwarded) => reported(applier.receive(bytes, isForwarded)),
      receiveHead: async (bytes) => reported(applier.receiveHead(bytes)),
      receiveSeals: (bytes) => reported(applier.receiveSeals(bytes)),
      receiveRowStatements: admission.receive,
      setAcceptedHosts: async (identities) => admission.setAccepted(identities),
      wants: async () => applier.wants(),
      setAccepted: async (accepted) => reported(applier.setAccepted(accepted)),
      setServedFrom: async (height) => reported(applier.setServedFrom(height)),
      putRecord: (name, value) => store.putRecord(name, value),
      putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
      putEmptyViewBlocks: store.putEmptyViewBlocks,
      setViewNeeds: store.setViewNeeds,
      clearViewFailures: (slot) => store.clearViewFailures(slot),
      clearView: (slot) => store.clearView(slot),
      putRowStatement: (statement, outdated) =>
        store.putRowStatements(statement.blockNumber, [statement], outdated),
      onStored: (listener) => void storedListeners.push(listener),
      onState: (listener) => void stateListeners.push(listener),
    },
    pass: (ms) => {
      passedMs += ms
      tick()
    },
    close: async () => {
      clearInterval(ticking)
      reporting.close()
      await applier.close()
      await store.close()
    },
  }
}
