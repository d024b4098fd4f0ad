/**
 * What the operator counts. Names and labels are those of controller-runtime and client-go, so that dashboards
 * and alerts made for operators fit.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface RequestMetrics {
  readonly requests: Counter<'code' | 'method' | 'host'>
}

export interface WatchMetrics {
  readonly lists: Counter<'kind'>
  readonly watches: Counter<'kind'>
  readonly failures: Counter<'kind' | 'operation'>
  readonly cached: Gauge<'kind' | 'namespace'>
}

export interface QueueMetrics {
  readonly depth: Gauge<'name' | 'controller'>
  readonly adds: Counter<'name' | 'controller'>
  readonly retries: Counter<'name' | 'controller'>
  readonly waited: Histogram<'name' | 'controller'>
  readonly worked: Histogram<'name' | 'controller'>
  /** By controller: how long each key that is being worked on has been so far, in milliseconds, read at a scrape. */
  readonly running: Map<string, () => readonly number[]>
}

export interface ReconcileMetrics {
  readonly total: Counter<'controller' | 'result'>
  readonly errors: Counter<'controller'>
  readonly terminal: Counter<'controller'>
  readonly seconds: Histogram<'controller'>
  readonly failing: Gauge<'controller'>
  readonly active: Gauge<'controller'>
  readonly workers: Gauge<'controller'>
}

export interface ElectionMetrics {
  readonly master: Gauge<'name'>
}

export type RuntimeMetrics = RequestMetrics &
  WatchMetrics &
  ElectionMetrics & { readonly queue: QueueMetrics; readonly reconcile: ReconcileMetrics }

const secondBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300]
const queueBuckets = [0.001, 0.01, 0.1, 1, 10, 100, 1_000]

/** Declares all of them on `registry`, once. */
export function openRuntimeMetrics(registry: Registry): RuntimeMetrics {
  const registers = [registry]
  return {
    requests: new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server, by status code, method and host.',
      labelNames: ['code', 'method', 'host'],
      registers,
    }),
    lists: new Counter({
      name: 'list_operations_total',
      help: 'Lists that began, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    watches: new Counter({
      name: 'watch_operations_total',
      help: 'Watches that began, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    failures: new Counter({
      name: 'list_watch_failures_total',
      help: 'Lists and watches that failed, by kind and operation (list or watch).',
      labelNames: ['kind', 'operation'],
      registers,
    }),
    cached: new Gauge({
      name: 'viewmesh_operator_cached_objects',
      help: 'Objects that are kept in memory, by kind and watched namespace (empty: all).',
      labelNames: ['kind', 'namespace'],
      registers,
    }),
    master: new Gauge({
      name: 'leader_election_master_status',
      help: '1 while this process is the leader, 0 otherwise, by name of the Lease.',
      labelNames: ['name'],
      registers,
    }),
    queue: queueMetrics(registers),
    reconcile: reconcileMetrics(registers),
  }
}

const queueLabels = ['name', 'controller'] as const

function queueMetrics(registers: Registry[]): QueueMetrics {
  return {
    running: runningMetrics(registers),
    depth: new Gauge({
      name: 'workqueue_depth',
      help: 'Keys that wait in the queue.',
      labelNames: queueLabels,
      registers,
    }),
    adds: new Counter({
      name: 'workqueue_adds_total',
      help: 'Keys that were added to the queue.',
      labelNames: queueLabels,
      registers,
    }),
    retries: new Counter({
      name: 'workqueue_retries_total',
      help: 'Keys that were added again after a failure.',
      labelNames: queueLabels,
      registers,
    }),
    waited: new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long keys waited in the queue, in seconds.',
      labelNames: queueLabels,
      buckets: queueBuckets,
      registers,
    }),
    worked: new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long keys were worked on, in seconds.',
      labelNames: queueLabels,
      buckets: queueBuckets,
      registers,
    }),
  }
}

/** Declares what is read at a scrape of the keys that are being worked on, and returns where it is read from. */
function runningMetrics(registers: Registry[]): QueueMetrics['running'] {
  const running: QueueMetrics['running'] = new Map()
  const declare = (name: string, help: string, figureOf: (ages: readonly number[]) => number) =>
    new Gauge({
      name,
      help,
      labelNames: queueLabels,
      registers,
      collect() {
        for (const [controller, ages] of running) {
          this.set({ name: controller, controller }, figureOf(ages()) / 1_000)
        }
      },
    })
  declare(
    'workqueue_unfinished_work_seconds',
    'How long all keys that are being worked on have been so far, together, in seconds. One that grows as fast as the clock is a stuck worker.',
    (ages) => ages.reduce((sum, age) => sum + age, 0),
  )
  declare(
    'workqueue_longest_running_processor_seconds',
    'How long the key that has been worked on longest has been so far, in seconds.',
    (ages) => Math.max(0, ...ages),
  )
  return running
}

function reconcileMetrics(registers: Registry[]): ReconcileMetrics {
  return {
    total: new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciles, by controller and result (success, requeue_after or error).',
      labelNames: ['controller', 'result'],
      registers,
    }),
    errors: new Counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Reconciles that failed, by controller.',
      labelNames: ['controller'],
      registers,
    }),
    terminal: new Counter({
      name: 'controller_runtime_terminal_reconcile_errors_total',
      help: 'Reconciles that failed and are of no use again until a person acts (Stalled), by controller.',
      labelNames: ['controller'],
      registers,
    }),
    seconds: new Histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'How long a reconcile took, in seconds.',
      labelNames: ['controller'],
      buckets: secondBuckets,
      registers,
    }),
    failing: new Gauge({
      name: 'viewmesh_operator_failing_keys',
      help: 'Keys whose last reconcile failed, by controller.',
      labelNames: ['controller'],
      registers,
    }),
    active: new Gauge({
      name: 'controller_runtime_active_workers',
      help: 'Workers that are at work.',
      labelNames: ['controller'],
      registers,
    }),
    workers: new Gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Workers there are.',
      labelNames: ['controller'],
      registers,
    }),
  }
}
