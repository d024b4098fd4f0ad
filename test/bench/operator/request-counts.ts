/** The requests of an operator, as it counts them itself. */
import { show } from '../figure.ts'

/** Number of requests by method and status, as in `PATCH 200`. */
export type RequestCounts = ReadonlyMap<string, number>

/** From what it serves at /metrics. */
export function requestsOf(metrics: string): RequestCounts {
  const found = metrics.matchAll(
    /^rest_client_requests_total\{code="(.*?)",method="(\w+)".*\} (\d+)$/gm,
  )
  return new Map(
    [...found].map(([, code = '', method, count]) => {
      const answer = code === '<error>' ? 'not sent or not answered' : code
      return [`${method} ${answer}`, Number(count)]
    }),
  )
}

/** Those that came between two counts. */
export function requestsSince(before: RequestCounts, after: RequestCounts): RequestCounts {
  const grown = [...after].map(([name, count]): [string, number] => [
    name,
    count - (before.get(name) ?? 0),
  ])
  return new Map(grown.filter(([, count]) => count > 0))
}

export function total(counts: RequestCounts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

/** As text, the most frequent first, each divided by `share`. */
export function listed(counts: RequestCounts, share: number): string {
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a)
  return sorted.map(([name, count]) => `${show(count / share)} ${name}`).join(', ')
}
