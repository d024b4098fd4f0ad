/** The figures of many Hosts, and of Views for them where there are any, in the order of an operator's life. */
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { inNamespace } from '../../e2e/cluster/support/cluster-resources.ts'
import { sampleValue } from '../../support/metric-value.ts'
import { type Figure, show } from '../figure.ts'
import { median, timed } from '../statistics.ts'
import { countWrites, type WriteCounts, writesSince } from './api-writes.ts'
import { inParallel } from './in-parallel.ts'
import type { MeasuredOperator } from './measured-operator.ts'
import { listed, type RequestCounts, requestsOf, total } from './request-counts.ts'
import { maxMs, type ScaledResources, type ScaleParts } from './scale-parts.ts'
import { createdViewFigures, newViewFigure } from './view-figures.ts'

/** From when all are ready, or level, to when the minute begins in which memory is looked at. */
const settleMs = 30_000
const minuteMs = 60_000
const changes = 10

export async function scaleFigures(hosts: ScaledResources, parts: ScaleParts): Promise<Figure[]> {
  const { say } = parts
  say(`load: ${loadText()}`)
  const first = await startOperator(parts, {})
  const created = await createdFigures(hosts, parts, first.operator)
  say(`all are ready after ${show(created[0]?.value ?? 0)} s, load: ${loadText()}`)
  const views = await createdViewFigures(hosts, parts, first.operator)
  const memory = await memoryFigure('', parts, first.operator)
  await first.operator.close()

  const before = await countWrites(parts.cluster)
  const level = { host: hosts.places.length, view: hosts.views.length }
  const second = await startOperator(parts, level)
  say(`level again after ${show(second.seconds)} s, load: ${loadText()}`)
  const memoryAgain = await memoryFigure(', restarted', parts, second.operator)
  const writes = writesSince(before, await countWrites(parts.cluster))
  const requests = requestsOf(await second.operator.metrics())
  const change = await changeFigure(hosts, parts)
  const newView = await newViewFigure(hosts, parts)
  say(`load: ${loadText()}`)
  return [
    ...created,
    ...views,
    memory,
    {
      name: 'Restarted operator: level with all of them',
      value: second.seconds,
      unit: 's',
      goal: 60,
      from: `${show(second.cpuSeconds)} s of processor`,
    },
    writesFigure(writes, requests),
    memoryAgain,
    change,
    ...newView,
  ]
}

interface Started {
  readonly operator: MeasuredOperator
  /** From its start until it had looked at everything. */
  readonly seconds: number
  readonly cpuSeconds: number
}

/** How many resources a controller has to have looked at, by its name. */
type Looked = Readonly<Record<string, number>>

async function startOperator(parts: ScaleParts, level: Looked): Promise<Started> {
  const startedMs = performance.now()
  const operator = await parts.start()
  parts.closeLater(operator)
  for (;;) {
    const text = await operator.metrics()
    if (text !== '' && isLevel(text, level)) break
    await sleep(100, undefined, { signal: parts.signal })
  }
  const seconds = (performance.now() - startedMs) / 1_000
  return { operator, seconds, cpuSeconds: operator.cpuSeconds() }
}

/** Whether its controllers work, each resource had its turn, and none waits for another one. */
function isLevel(metrics: string, level: Looked): boolean {
  return Object.entries({ host: 0, ...level }).every(([controller, count]) => {
    const value = (name: string): number => sampleValue(metrics, name, { controller })
    return (
      value('controller_runtime_max_concurrent_reconciles') > 0 &&
      value('controller_runtime_reconcile_total') >= count &&
      value('workqueue_depth') + value('controller_runtime_active_workers') === 0
    )
  })
}

async function createdFigures(
  { places, spec }: ScaledResources,
  { cluster, watch, signal }: ScaleParts,
  operator: MeasuredOperator,
): Promise<Figure[]> {
  let appliedMs = 0
  const readyMs = await timed(async () => {
    appliedMs = await timed(() =>
      inParallel(places, signal, ({ namespace, name }) =>
        inNamespace(cluster, namespace).write({ kind: 'Host', name, spec }),
      ),
    )
    await watch.until((all) => all.filter(({ isReady }) => isReady).length === places.length, maxMs)
  })
  const requests = requestsOf(await operator.metrics())
  return [
    {
      name: `All Hosts Ready, applied at once: ${places.length}`,
      value: readyMs / 1_000,
      unit: 's',
      goal: 300,
      from: `applied within ${show(appliedMs / 1_000)} s, ${show(operator.cpuSeconds())} s of the operator's processor`,
    },
    {
      name: 'API requests of the operator per Host until then',
      value: total(requests) / places.length,
      unit: 'requests',
      from: listed(requests, places.length),
    },
  ]
}

async function memoryFigure(
  when: string,
  { signal }: ScaleParts,
  operator: MeasuredOperator,
): Promise<Figure> {
  await sleep(settleMs, undefined, { signal })
  const samples: number[] = []
  const endMs = performance.now() + minuteMs
  while (performance.now() < endMs) {
    samples.push(operator.memory().bytes)
    await sleep(1_000, undefined, { signal })
  }
  const { peakBytes } = operator.memory()
  return {
    name: `RSS of the operator, median of the steady minute${when}`,
    value: median(samples) / 1e6,
    unit: 'MB',
    goal: 150,
    from: `peak ${show(peakBytes / 1e6)} MB`,
  }
}

function writesFigure(writes: WriteCounts, requests: RequestCounts): Figure {
  const own = [...requests].filter(([name]) => !name.startsWith('GET'))
  const what = writes.size === 0 ? '' : ` (${listed(writes, 1)})`
  return {
    name: 'Restarted operator: writes, the Lease left out',
    value: total(writes),
    unit: 'writes',
    goal: 0,
    from: `\`apiserver_request_total\`${what}; its own count with the Lease: ${listed(new Map(own), 1)}`,
  }
}

/** The slowest of some changes, one after another, each of another Host. */
async function changeFigure(
  { places }: ScaledResources,
  { cluster, watch }: ScaleParts,
): Promise<Figure> {
  const times: number[] = []
  const step = Math.max(1, Math.floor(places.length / changes))
  for (const { namespace, name } of places.filter((_, i) => i % step === 0).slice(0, changes)) {
    const body = { spec: { services: { api: { annotations: { 'example.org/changed': 'true' } } } } }
    times.push(
      await timed(async () => {
        const { metadata } = await inNamespace(cluster, namespace).patch('Host', name, body)
        const wanted = metadata.generation ?? 0
        await watch.until(
          (all) => all.some((host) => host.name === name && host.observedGeneration >= wanted),
          maxMs,
        )
      }),
    )
  }
  return {
    name: `One changed Host reconciled, among ${places.length}`,
    value: Math.max(...times) / 1_000,
    unit: 's',
    goal: 1,
    from: `the slowest of ${times.length}, median ${show(median(times) / 1_000)} s`,
  }
}

function loadText(): string {
  return show(loadavg()[0] ?? 0)
}
