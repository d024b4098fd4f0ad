/** What is counted of statements about rows. */
import { Counter, type Registry } from 'prom-client'

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
