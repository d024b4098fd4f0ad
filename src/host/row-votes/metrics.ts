/** What is counted of statements about rows, and where they differ. */
import { Counter, Gauge, type Registry } from 'prom-client'

export interface RowSignerMetrics {
  /** Counts a signature: the first of a block, or a further one that has more Views. */
  signed(kind: 'first' | 'further'): void
}

/** Declares the metrics in `registry`. */
export function createRowSignerMetrics(registry: Registry): RowSignerMetrics {
  const statements = new Counter({
    name: 'viewmesh_host_row_statements_signed_total',
    help: 'Blocks of which the Host signed what its Views made of them, by kind (first, or further where more Views were done).',
    labelNames: ['kind'],
    registers: [registry],
  })
  return { signed: (kind) => statements.inc({ kind }) }
}

/** Rows of a View that another Host signed otherwise. */
interface ShownDifference {
  readonly host: string
  readonly view: string
  readonly height: number
}

/** Declares a gauge that shows at each scrape what `shown` returns. */
export function declareRowsDiffer(
  registry: Registry,
  shown: () => readonly ShownDifference[],
): void {
  new Gauge({
    name: 'viewmesh_host_rows_differ_height',
    help: 'Newest of the last 1,024 blocks of which an accepted Host signed other rows of a View than this one; nothing while all agree.',
    labelNames: ['host', 'view'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { host, view, height } of shown()) this.set({ host, view }, height)
    },
  })
}
