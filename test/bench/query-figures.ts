/** A query over HTTP against a plain route with the same bytes; warm, and after reopening. */
import type { Program } from '../support/programs.ts'
import { type Figure, show } from './figure.ts'
import { openPlainRoute, openQueryClient } from './query-client.ts'
import { median } from './statistics.ts'

const rounds = 600
const reopenings = 5

interface QueryFigures {
  readonly figures: Figure[]
  /** Median milliseconds of the query while nothing else runs. */
  readonly idleMs: number
}

/** Warm queries and plain requests in turn. */
export async function queryFigures(host: Program): Promise<QueryFigures> {
  const client = openQueryClient(host.graphqlUrl)
  const { text } = await client.logs()
  assertFull(text)
  const plain = await openPlainRoute(text)
  const queries: number[] = []
  const requests: number[] = []
  for (let round = 0; round < rounds; round++) {
    queries.push((await client.logs()).ms)
    requests.push(await plain.fetch())
  }
  await Promise.all([client.close(), plain.close()])
  const idleMs = median(queries.slice(rounds / 2))
  const plainMs = median(requests.slice(rounds / 2))
  const figure: Figure = {
    name: '50 newest logs of an address with transaction and block over HTTP / plain route, same bytes',
    value: idleMs / plainMs,
    unit: 'x',
    goal: 3,
    stretch: 2,
    from: `${show(idleMs)} ms / ${show(plainMs)} ms, ${text.length} bytes`,
  }
  return { figures: [figure], idleMs }
}

/**
 * The first query after a restart, against warm. Its plan was compiled by one that finds nothing,
 * and the Host has begun to read ahead, as after every start.
 */
export async function reopenFigure(
  host: Program,
  settings: Readonly<Record<string, string>>,
  idleMs: number,
): Promise<Figure> {
  const first: number[] = []
  for (let round = 0; round < reopenings; round++) {
    await host.stop()
    await host.start(settings)
    const client = openQueryClient(host.graphqlUrl)
    for (let warmUp = 0; warmUp < 50; warmUp++) await client.logs(`0x${'00'.repeat(20)}`)
    first.push((await client.logs()).ms)
    await client.close()
  }
  const coldMs = median(first)
  return {
    name: 'The same after closing and reopening the store, plan cached / warm',
    value: coldMs / idleMs,
    unit: 'x',
    goal: 10,
    stretch: 5,
    from: `${show(coldMs)} ms / ${show(idleMs)} ms, median of ${reopenings}`,
  }
}

function assertFull(text: string): void {
  const rows = JSON.parse(text).data?.Log
  if (rows?.length !== 50) throw new Error(`the query answered ${text.slice(0, 300)}`)
}
