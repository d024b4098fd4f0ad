/**
 * What a subscription sends: its request is executed once for each new height, one after the other, and what it finds is
 * handed on. Heights that wait are bounded; whoever takes results too slowly is told so, and gets no more.
 */
import { refusal } from './budget/limits.ts'
import type { MemoryAccount } from './budget/memory-pool.ts'
import type { Graphql, GraphqlRequest, GraphqlResult } from './graphql.ts'

/** Bounds of one subscription. */
export interface RowLimits {
  /** Bytes that may wait for one subscriber; also the largest result. */
  readonly maxQueuedBytes: number
  /** Heights that may wait for one request. */
  readonly maxPendingHeights: number
}

/** The limits a program starts from. */
export const defaultRowLimits: RowLimits = {
  maxQueuedBytes: 4 * 1024 * 1024,
  maxPendingHeights: 1_000,
}

/** What a subscription needs of the engine. */
export type SubscribedEngine = Pick<
  Graphql,
  'executeAt' | 'onHeight' | 'onViews' | 'subscribedView' | 'memory'
>

/** Who gets what a subscription finds. */
interface RowSink {
  /** The result of a height, whose bytes are held until `account` is closed. The next height waits for the promise. */
  send(result: GraphqlResult, account: MemoryAccount): void | Promise<void>
  /**
   * Nothing follows the last result: heights came faster than they were taken, so that some are missing, or the View is no
   * longer served.
   */
  end(last: GraphqlResult, why: 'slow' | 'gone'): void
}

interface Subscribed {
  readonly graphql: SubscribedEngine
  /** A valid one. */
  readonly request: GraphqlRequest
  readonly limits: RowLimits
}

/** A height that no block has: a request over it says whether the request is valid. */
const nowhere = { from: -1, to: -1 }

/** What to answer to a request that is not valid; null for a valid one. */
export async function findErrors(
  graphql: Pick<Graphql, 'executeAt'>,
  request: GraphqlRequest,
  signal: AbortSignal,
): Promise<GraphqlResult | null> {
  const trial = await graphql.executeAt(request, nowhere, signal)
  return trial.errors === undefined ? null : trial
}

/** Sends what the request finds at every height from now on, until the signal is aborted. */
export function sendRows(subscribed: Subscribed, sink: RowSink, signal: AbortSignal): void {
  const { graphql, request, limits } = subscribed
  if (signal.aborted) return
  const view = graphql.subscribedView(request)
  const pending: number[] = []
  const ended = new AbortController()
  let isRunning = false
  const stop = (): void => {
    stopListening()
    stopWatching()
    pending.length = 0
    ended.abort()
  }
  const run = async (): Promise<void> => {
    isRunning = true
    for (let height = pending.shift(); height !== undefined; height = pending.shift()) {
      await sendHeight(subscribed, height, sink, ended.signal)
    }
    isRunning = false
  }
  const stopListening = graphql.onHeight((height, of) => {
    if (of !== view) return
    if (pending.length < limits.maxPendingHeights) {
      pending.push(height)
      if (!isRunning) void run()
      return
    }
    stop()
    sink.end(tooSlow(), 'slow')
  })
  const stopWatching = graphql.onViews(() => {
    if (view === null || graphql.subscribedView(request) === view) return
    stop()
    sink.end(gone(view), 'gone')
  })
  signal.addEventListener('abort', stop, { signal: ended.signal })
}

/** `executeAt` never rejects. */
async function sendHeight(
  { graphql, request, limits }: Subscribed,
  height: number,
  sink: RowSink,
  signal: AbortSignal,
): Promise<void> {
  const account = graphql.memory.openAccount()
  const heights = { from: height, to: height }
  const result = await graphql.executeAt(request, heights, signal, account)
  const found = lengthOf(result) > limits.maxQueuedBytes ? tooLargeResult(limits) : result
  if (signal.aborted || hasNothing(found)) account.close()
  else await sink.send(found, account)
}

const lengthOf = ({ data }: GraphqlResult): number =>
  (data ?? []).reduce((sum, text) => sum + text.length, 0)

/** Empty lists: a height has no row that was asked for. */
const emptyLists = /^\{(?:"\w+":\[\],?)*\}$/

const hasNothing = ({ data }: GraphqlResult): boolean =>
  data !== null && emptyLists.test(data.join(''))

/** The last result for a subscriber who must know that some are missing. */
export const tooSlow = (): GraphqlResult =>
  failure(
    'GRAPHQL_SUBSCRIBER_SLOW',
    'Events come faster than this subscriber reads them; some are lost.',
    'Subscribe again, and query the blocks in between; select fewer fields or filter if it happens often.',
  )

/** The result in the place of one that is too large to wait. */
export const tooLargeResult = ({ maxQueuedBytes }: RowLimits): GraphqlResult =>
  failure(
    'GRAPHQL_SIZE_LIMIT',
    `An event is larger than ${maxQueuedBytes} bytes and was left out.`,
    'Select fewer fields (input, data and logsBloom are the largest) or add a filter.',
  )

const gone = (view: string): GraphqlResult =>
  failure(
    'GRAPHQL_VIEW_GONE',
    `The View ${view} is no longer served.`,
    'Ask the operator why; GET /api/v0/views lists those that are.',
  )

const failure = (...parts: Parameters<typeof refusal>): GraphqlResult => ({
  data: null,
  errors: [refusal(...parts)],
})
