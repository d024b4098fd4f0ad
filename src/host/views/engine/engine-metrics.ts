/** What the engine of Views counts, and how all Views of a Host stand. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ViewStateName } from '../../../service/contract.ts'
import type { Work } from './view-work.ts'

type Stage = Work['priority']

export interface EngineMetrics {
  /** Counts blocks of a View and how they ended; `dropped` where another block had taken the place. */
  blocks(stage: Stage, outcome: 'done' | 'failed' | 'dropped', count: number): void
  /** Counts rows, and values in them that became null as they were not of the SDL's type. */
  rows(rows: number, mismatches: number): void
  /** Measures one job. */
  seconds(stage: Stage, part: 'compute' | 'store', seconds: number): void
}

/** Declares in `registry` how many Views there are; `states` returns the state of each when they are scraped. */
export function declareViewStates(
  registry: Registry,
  states: () => readonly ViewStateName[],
): void {
  new Gauge({
    name: 'viewmesh_host_views',
    help: 'Views that the Host has, by state; those of other chains are foreign.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.reset()
      for (const state of states()) this.inc({ state })
    },
  })
}

/** Declares the metrics in `registry`. */
export function createEngineMetrics(registry: Registry): EngineMetrics {
  const registers = [registry]
  const blocks = new Counter({
    name: 'viewmesh_host_view_blocks_total',
    help: 'Blocks that Views computed, by stage (live, backfill) and how they ended (done, failed, dropped).',
    labelNames: ['stage', 'outcome'],
    registers,
  })
  const rows = new Counter({
    name: 'viewmesh_host_view_rows_total',
    help: 'Rows of Views that were stored.',
    registers,
  })
  const mismatches = new Counter({
    name: 'viewmesh_host_view_mismatches_total',
    help: 'Values of rows that were not of the type in the SDL and became null.',
    registers,
  })
  const seconds = new Histogram({
    name: 'viewmesh_host_view_job_seconds',
    help: 'Seconds that a job of a View took, by stage (live, backfill) and part (compute, waiting included; store).',
    labelNames: ['stage', 'part'],
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 10],
    registers,
  })
  return {
    blocks: (stage, outcome, count) => blocks.inc({ stage, outcome }, count),
    rows: (count, wrong) => {
      rows.inc(count)
      mismatches.inc(wrong)
    },
    seconds: (stage, part, value) => seconds.observe({ stage, part }, value),
  }
}
