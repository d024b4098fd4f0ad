/** Views that are computed when they are queried, and their materialised twins, over a real store and real processes. */
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { QueryLimits } from '../../../../src/graphql/budget/limits.ts'
import type { Graphql, GraphqlResult } from '../../../../src/graphql/graphql.ts'
import { openViewStreams } from '../../../../src/host/streams/view-streams.ts'
import type { HostedView } from '../../../../src/host/views/hosted-view.ts'
import { openTestGraphql } from '../../../graphql/support/graphql-room.ts'
import { testNetwork } from '../../../support/chain/sealed-blocks.ts'
import { testDirectory } from '../../../support/test-store.ts'
import { type EngineRoom, openEngineRoom } from '../../views/engine/support/engine-room.ts'

/** The data of an answer; tests know what they asked for. */
// biome-ignore lint/suspicious/noExplicitAny: the shape follows from the query text
type Data = any

interface StreamRoom {
  readonly room: EngineRoom
  readonly graphql: Graphql
  /** What the processes wrote as warnings into the log. */
  readonly warnings: readonly Record<string, unknown>[]
  serve(...views: readonly HostedView[]): void
  execute(query: string, signal?: AbortSignal): Promise<GraphqlResult>
  /** Runs a query that must succeed. */
  query(query: string): Promise<Data>
  /** Message and code of a query that must fail; what else is asked has all the time that queries have. */
  refusal(
    query: string,
    limits?: Partial<QueryLimits>,
  ): Promise<readonly [message: string, code: unknown]>
  /** How many streams ended in one way. */
  ended(outcome: string): Promise<number>
  /** Jobs of lenses that are under way. */
  running(): Promise<number>
}

interface StreamRoomOptions {
  readonly memoryBytes?: number
  readonly maxWaitMs?: number
}

/** Everything is closed after the test. */
export async function openStreamRoom(
  t: Pick<TestContext, 'after'>,
  options: StreamRoomOptions = {},
): Promise<StreamRoom> {
  const path = testDirectory(t)
  const room = await openEngineRoom(t, { path })
  const { registry, store } = room
  const warnings: Record<string, unknown>[] = []
  const streams = openViewStreams(
    { storePath: path, network: testNetwork, environment: process.env, ...options },
    {
      log: pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line)) }),
      registry,
      lensMetrics: room.lensMetrics,
      onEnded: () => void store.reader.clearDeadReaders(),
    },
  )
  room.closeFirst(streams.close)
  const graphql = openTestGraphql(store.reader, { registry })
  let served: Parameters<Graphql['setViews']>[0] = []
  const execute = (query: string, signal?: AbortSignal): Promise<GraphqlResult> =>
    graphql.execute({ query }, signal)
  const valuesOf = async (name: string): Promise<readonly Sample[]> =>
    (await registry.getSingleMetric(name)?.get())?.values ?? []
  return {
    room,
    graphql,
    warnings,
    serve(...views) {
      for (const view of views) room.engine.serve(view)
      served = views.map((view) =>
        view.rowType.materialized ? view : { ...view, stream: streams.of(view) },
      )
      graphql.setViews(served)
    },
    execute,
    async query(query) {
      const { data, errors } = await execute(query)
      if (data === null) throw new Error(errors?.[0]?.message ?? 'no data')
      return JSON.parse(data.join(''))
    },
    async refusal(query, limits) {
      const limited = limits === undefined ? graphql : openTestGraphql(store.reader, { limits })
      if (limited !== graphql) limited.setViews(served)
      const { errors = [] } = await limited.execute({ query })
      return [errors[0]?.message ?? '', errors[0]?.extensions['code']]
    },
    async ended(outcome) {
      const values = await valuesOf('viewmesh_host_view_stream_seconds')
      const found = values.find(
        ({ labels, metricName }) =>
          labels['outcome'] === outcome && metricName?.endsWith('_count') === true,
      )
      return found?.value ?? 0
    },
    async running() {
      return (await valuesOf('viewmesh_lens_running_jobs'))[0]?.value ?? 0
    },
  }
}

interface Sample {
  readonly value: number
  readonly labels: Readonly<Record<string, unknown>>
  readonly metricName?: string
}
