/** The main thread's end of the writer. */
import { invariant, ServiceError } from '../../errors.ts'
import { networkName } from '../../primitives/names.ts'
import type { MetricsSnapshot } from '../../service/metrics.ts'
import { openThread, threadUrl } from '../../service/thread.ts'
import { type ChainNames, splitPrefix } from '../network.ts'
import type { Applier } from './outcome.ts'
import type { WriterData, WriterEvents, WriterRequests } from './writer-thread.ts'

export interface Writer extends Applier {
  metrics(): Promise<MetricsSnapshot>
  close(): Promise<void>
}

/** Options of the writer, but for the network. */
export type WriterOptions = Omit<WriterData, 'applier'> & {
  readonly applier: Omit<WriterData['applier'], 'network'>
}

/** Time to write what was accepted and to close the store. */
const closeTimeoutMs = 4_000
/** The documents of a few blocks, unpacked and checked, are garbage soon after. */
const resourceLimits = { maxYoungGenerationSizeMb: 24 }

/**
 * Starts the writer thread, which opens the store. Names that are only guessed give way to those of
 * a store that exists. Throws the store's errors.
 */
export async function openWriterThread(
  options: WriterOptions,
  names: ChainNames,
  parts: { readonly onFatal: (error: ServiceError) => void },
): Promise<{ writer: Writer; names: ChainNames }> {
  try {
    return { writer: await startThread(options, names, parts), names }
  } catch (error) {
    const known = names.isGuess ? storedNames(error) : null
    if (known === null) throw error
    return { writer: await startThread(options, known, parts), names: known }
  }
}

async function startThread(
  options: WriterOptions,
  { chain, network }: ChainNames,
  parts: { readonly onFatal: (error: ServiceError) => void },
): Promise<Writer> {
  const applier = { ...options.applier, network: networkName(chain, network) }
  const data: WriterData = { ...options, applier }
  const url = threadUrl('./writer-thread', import.meta.url)
  const thread = await openThread<WriterRequests, WriterEvents>(
    { url, name: 'writer', data, closeTimeoutMs, resourceLimits },
    parts,
  )
  return {
    receive: (bytes, mayFloat) => {
      invariant(bytes.buffer instanceof ArrayBuffer, 'messages are not in shared memory')
      return thread.request('receive', { bytes, mayFloat }, { transfer: [bytes.buffer] })
    },
    metrics: () => thread.metrics(),
    close: () => thread.close(),
  }
}

function storedNames(error: unknown): ChainNames | null {
  if (!(error instanceof ServiceError) || error.code !== 'STORE_FOREIGN') return null
  const { found } = error.facts
  return typeof found === 'string' ? splitPrefix(found) : null
}
