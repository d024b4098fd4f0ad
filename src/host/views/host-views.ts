/** The Views of a Host, assembled: which there are, what computes them, and GraphQL, which serves their rows. */
import { availableParallelism, totalmem } from 'node:os'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { lensMemoryBytes, lensThreadsOf } from '../../compute/lens-resources.ts'
import type { Graphql } from '../../graphql/graphql.ts'
import { createLensMetrics } from '../../lens/process/metrics.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Registration, ViewFacts } from '../../views/registration.ts'
import { openViewStreams } from '../streams/view-streams.ts'
import { openViewEngine, type RowsWriter } from './engine/engine.ts'
import { declareViewStates } from './engine/engine-metrics.ts'
import { openViewBook } from './view-book.ts'
import { createViewChecker, type ViewChecker } from './view-checker.ts'
import { type HostViews, openViews } from './views.ts'

interface HostViewsOptions {
  readonly storePath: string
  /** Most Views that are served at once. */
  readonly maxViews: number
  /** Threads that run lenses; null for as many as the machine has cores and memory for. */
  readonly lensThreads: number | null
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** The program's, of which the lens process gets very little. */
  readonly environment: NodeJS.ProcessEnv
}

interface HostViewsParts {
  readonly log: Logger
  readonly registry: Registry
  readonly reader: StoreReader
  readonly writer: RowsWriter
  readonly graphql: Pick<Graphql, 'setViews' | 'notifyRows'>
  /** Called where the store cannot go on. */
  readonly onFatal: (error: unknown) => void
}

interface OpenHostViews extends HostViews {
  /** Resolves once no row is written any more. */
  close(): Promise<void>
}

/** Serves the Views that were kept, and those that come. */
export function openHostViews(
  { network, storePath, maxViews, lensThreads, environment }: HostViewsOptions,
  { log, registry, reader, writer, graphql, onFatal }: HostViewsParts,
): OpenHostViews {
  const checker = createViewChecker({ network })
  const book = openViewBook(
    { network, maxViews },
    { log, reader, writer, check: (registration) => factsOf(checker, registration) },
  )
  const threads = lensThreadsOf(lensThreads, machine())
  const lensMetrics = createLensMetrics(registry)
  const engine = openViewEngine(
    { storePath, network, threads, memoryBytes: lensMemoryBytes(threads), environment },
    { log, registry, lensMetrics, reader, writer },
  )
  const streams = openViewStreams(
    { storePath, network, environment },
    { log, registry, lensMetrics, onEnded: () => void reader.clearDeadReaders() },
  )
  // Followers only copy what is stored, and wait for its signature: they come before queries of subscribers.
  engine.onRows((view, height) => setImmediate(graphql.notifyRows, view, height))
  const views = openViews({
    log,
    book,
    engine,
    setViews: (hosted) =>
      graphql.setViews(
        hosted.map((view) =>
          view.rowType.materialized ? view : { ...view, stream: streams.of(view) },
        ),
      ),
    clearRows: writer.clearView,
    onFatal,
  })
  // How they stand is asked, at `/health` and `/metrics`, also when the store cannot be read any more.
  let isClosing = false
  let registering = 0
  const list: HostViews['list'] = () => (isClosing ? [] : views.list())
  declareViewStates(registry, () => list().map(({ state }) => state))
  return {
    ...views,
    list,
    // The thread that checks takes longer to start than most checks: it ends with the last of Views that come together.
    register: async (...view) => {
      registering += 1
      try {
        return await views.register(...view)
      } finally {
        registering -= 1
        if (registering === 0) void checker.rest()
      }
    },
    close: async () => {
      isClosing = true
      await Promise.all([engine.close(), streams.close(), checker.rest()])
    },
  }
}

async function factsOf(checker: ViewChecker, registration: Registration): Promise<ViewFacts> {
  const { id, address, lenses } = await checker.check(registration)
  return { id, address, lenses }
}

/** A container may have less memory than the machine; 0 means that this is not known. */
function machine(): { cores: number; memoryBytes: number } {
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return { cores: availableParallelism(), memoryBytes }
}
