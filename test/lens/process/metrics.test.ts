/** What is shown of several lens processes of a program together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createLensMetrics } from '../../../src/lens/process/metrics.ts'

/** The lines of these names, without what explains them. */
async function linesOf(registry: Registry, ...names: readonly string[]): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n')
  return lines.filter((line) => names.some((name) => line.startsWith(`viewmesh_lens_${name}`)))
}

test('memory and jobs of all lens processes are added up, those that are not there left out', async () => {
  const registry = new Registry()
  const metrics = createLensMetrics(registry)
  const gauges = ['process_resident_bytes', 'waiting_jobs', 'running_jobs'] as const
  let bytes: number | null = null
  metrics.watch({ memoryBytes: () => bytes, waiting: () => 2, running: () => 1 })
  metrics.watch({ memoryBytes: () => null, waiting: () => 3, running: () => 4 })
  const jobs = ['viewmesh_lens_waiting_jobs 5', 'viewmesh_lens_running_jobs 5']
  assert.deepEqual(await linesOf(registry, ...gauges), jobs)
  bytes = 7
  const memory = 'viewmesh_lens_process_resident_bytes 7'
  assert.deepEqual(await linesOf(registry, ...gauges), [memory, ...jobs])
  metrics.watch({ memoryBytes: () => 5, waiting: () => 0, running: () => 0 })
  const [both] = await linesOf(registry, ...gauges)
  assert.equal(both, 'viewmesh_lens_process_resident_bytes 12')
})

test('jobs are counted by what they were for and how they ended, their time in seconds', async () => {
  const registry = new Registry()
  const metrics = createLensMetrics(registry)
  metrics.job('live', 'done', 1_500)
  metrics.job('live', 'failed', 250)
  metrics.job('query', 'done', 0)
  metrics.restarted()
  assert.deepEqual(await linesOf(registry, 'jobs', 'processor_seconds', 'process_restarts'), [
    'viewmesh_lens_jobs_total{priority="live",outcome="done"} 1',
    'viewmesh_lens_jobs_total{priority="live",outcome="failed"} 1',
    'viewmesh_lens_jobs_total{priority="query",outcome="done"} 1',
    'viewmesh_lens_processor_seconds_total{priority="live"} 1.75',
    'viewmesh_lens_processor_seconds_total{priority="query"} 0',
    'viewmesh_lens_process_restarts_total 1',
  ])
})
