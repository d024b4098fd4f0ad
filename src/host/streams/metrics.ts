/** What is counted of Views that are computed for queries. */
import { Counter, Histogram, type Registry } from 'prom-client'
import { ServiceError } from '../../errors.ts'

/** How a stream ended: at its end, when the query had its rows or its client went away, refused, or by its own fault. */
type StreamEnd = 'done' | 'stopped' | 'busy' | 'limited' | 'failed'

export interface StreamMetrics {
  ended(how: StreamEnd, seconds: number): void
  rows(rows: number): void
  mismatches(values: number): void
}

/** Declares the metrics. */
export function createStreamMetrics(registry: Registry): StreamMetrics {
  const registers = [registry]
  const seconds = new Histogram({
    name: 'viewmesh_host_view_stream_seconds',
    help: 'Seconds for which Views were computed for a query, waiting included, by how that ended (done, stopped, busy, limited, failed).',
    labelNames: ['outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  })
  const rows = new Counter({
    name: 'viewmesh_host_view_stream_rows_total',
    help: 'Rows of Views that were computed for queries.',
    registers,
  })
  const mismatches = new Counter({
    name: 'viewmesh_host_view_stream_mismatches_total',
    help: 'Values of rows that were computed for queries, were not of the type in the SDL and became null.',
    registers,
  })
  return {
    ended: (outcome, value) => seconds.observe({ outcome }, value),
    rows: (count) => rows.inc(count),
    mismatches: (count) => mismatches.inc(count),
  }
}

/** What an error counts as. */
export function endOf(error: unknown): StreamEnd {
  if (error instanceof DOMException && error.name === 'AbortError') return 'stopped'
  if (!(error instanceof ServiceError)) return 'failed'
  if (error.code === 'HOST_VIEW_BUSY') return 'busy'
  const isLimit = error.code.endsWith('_LIMIT') || error.code === 'VIEWS_SELECTION_TOO_LARGE'
  return isLimit ? 'limited' : 'failed'
}
