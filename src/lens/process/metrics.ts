/** What is counted of the lens processes of a program. */
import { Counter, type Registry } from 'prom-client'
import { declareScrapedGauges } from '../../scraped-gauge.ts'
import type { Priority } from './job-scheduler.ts'

/** How a job ended: with a result, by its own fault, at a limit of time or memory, or aborted. */
export type JobEnd = 'done' | 'failed' | 'limited' | 'died' | 'aborted'

export interface LensMetrics {
  job(priority: Priority, outcome: JobEnd, processorMs: number): void
  restarted(): void
  /** Adds a process to those that are shown, for good. */
  watch(figures: LensFigures): void
}

interface LensFigures {
  /** Null while there is no process. */
  readonly memoryBytes: () => number | null
  readonly waiting: () => number
  readonly running: () => number
}

/** Declares the metrics in `registry`. */
export function createLensMetrics(registry: Registry): LensMetrics {
  const registers = [registry]
  const watched: LensFigures[] = []
  const total = (read: (figures: LensFigures) => number | null): number | null => {
    const known = watched.map(read).filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
  }
  const jobs = new Counter({
    name: 'viewmesh_lens_jobs_total',
    help: 'Pieces of work of lens processes, by what they were for and how they ended.',
    labelNames: ['priority', 'outcome'],
    registers,
  })
  const seconds = new Counter({
    name: 'viewmesh_lens_processor_seconds_total',
    help: 'Processor time of all lenses, loading them and reading their documents included.',
    labelNames: ['priority'],
    registers,
  })
  const restarts = new Counter({
    name: 'viewmesh_lens_process_restarts_total',
    help: 'How often a lens process was started again after it had ended.',
    registers,
  })
  declareScrapedGauges(registry, 'viewmesh_lens_', [
    [
      'process_resident_bytes',
      'Memory of the lens processes, while there are any.',
      () => total(({ memoryBytes }) => memoryBytes()),
    ],
    [
      'waiting_jobs',
      'Pieces of work that wait for a thread of a lens process.',
      () => total(({ waiting }) => waiting()),
    ],
    [
      'running_jobs',
      'Threads of lens processes that work.',
      () => total(({ running }) => running()),
    ],
  ])
  return {
    job(priority, outcome, processorMs) {
      jobs.inc({ priority, outcome })
      seconds.inc({ priority }, processorMs / 1_000)
    },
    restarted: () => restarts.inc(),
    watch: (figures) => void watched.push(figures),
  }
}
