/** The metrics of a Generator's writer thread. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { BlockHeader } from '../../store/store.ts'

export interface IngestMetrics {
  /** Counts a block that was stored and sealed. */
  sealed(header: BlockHeader): void
  /** Counts a head that was signed. */
  headSigned(): void
  /** Counts an abandoned branch and its removed blocks. */
  reorganised(blocks: number): void
  /** Seconds by stage: `prepare` = root and index terms; `commit` = until block and seal are on the disk. */
  readonly stageSeconds: Histogram<'stage'>
}

/** Registers the metrics; once per registry. */
export function createIngestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry]
  const blocks = new Counter({
    name: 'viewmesh_generator_blocks_total',
    help: 'Blocks stored and sealed since the start.',
    registers,
  })
  const documents = new Counter({
    name: 'viewmesh_generator_documents_total',
    help: 'Documents stored and sealed since the start, by collection.',
    labelNames: ['collection'],
    registers,
  })
  const height = new Gauge({
    name: 'viewmesh_generator_sealed_height',
    help: 'Height of the last sealed block.',
    registers,
  })
  const heads = new Counter({
    name: 'viewmesh_generator_heads_total',
    help: 'Heads signed since the start. It does not increase while the node does not confirm the newest block.',
    registers,
  })
  const reorganisations = new Counter({
    name: 'viewmesh_generator_reorganisations_total',
    help: 'Times that stored blocks turned out to be on a branch that the node has abandoned.',
    registers,
  })
  const removed = new Counter({
    name: 'viewmesh_generator_removed_blocks_total',
    help: 'Blocks removed because the node has abandoned their branch.',
    registers,
  })
  return {
    sealed({ number, sections }) {
      blocks.inc()
      height.set(number)
      for (const [collection, count] of Object.entries(sections))
        documents.inc({ collection }, count)
    },
    headSigned: () => heads.inc(),
    reorganised(count) {
      reorganisations.inc()
      removed.inc(count)
    },
    stageSeconds: new Histogram({
      name: 'viewmesh_generator_stage_seconds',
      help: 'Seconds a block spends in a stage of ingest.',
      labelNames: ['stage'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
      registers,
    }),
  }
}
