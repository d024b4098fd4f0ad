/** The figures of Views, each of which all Hosts of its namespace serve. */
import { inNamespace } from '../../e2e/cluster/support/cluster-resources.ts'
import { type Figure, show } from '../figure.ts'
import { median, timed } from '../statistics.ts'
import { inParallel } from './in-parallel.ts'
import type { MeasuredOperator } from './measured-operator.ts'
import { listed, requestsOf, requestsSince, total } from './request-counts.ts'
import { maxMs, type Place, type ScaledResources, type ScaleParts } from './scale-parts.ts'

const additions = 10

/** Views that are applied at once, until each lies where the pods of its Hosts read it. */
export async function createdViewFigures(
  { places, views }: ScaledResources,
  { cluster, placed, say, signal }: ScaleParts,
  operator: MeasuredOperator,
): Promise<Figure[]> {
  if (views.length === 0) return []
  const before = requestsOf(await operator.metrics())
  const cpuBefore = operator.cpuSeconds()
  const readyMs = await timed(async () => {
    await inParallel(views, signal, async (view) => await write(cluster, view))
    await placed.until(holding(places, views), maxMs)
  })
  const requests = requestsSince(before, requestsOf(await operator.metrics()))
  const seconds = readyMs / 1_000
  say(`all Views lie at their Hosts after ${show(seconds)} s`)
  return [
    {
      name: `All Views at their Hosts, applied at once: ${views.length}`,
      value: seconds,
      unit: 's',
      from: `${placesOf(places, views)} places at ${places.length} Hosts, ${show(operator.cpuSeconds() - cpuBefore)} s of the operator's processor`,
    },
    {
      name: 'API requests of the operator per View until then',
      value: total(requests) / views.length,
      unit: 'requests',
      from: listed(requests, views.length),
    },
  ]
}

/** The slowest of some Views that come one after another. */
export async function newViewFigure(
  { places, views }: ScaledResources,
  { cluster, placed }: ScaleParts,
): Promise<Figure[]> {
  if (views.length === 0) return []
  const times: number[] = []
  const all = [...views]
  for (let number = 0; number < additions; number += 1) {
    const { namespace = '' } = views[number % views.length] ?? {}
    const view = { namespace, name: `new-${number}` }
    all.push(view)
    times.push(
      await timed(async () => {
        await write(cluster, view)
        await placed.until(holding(places, all), maxMs)
      }),
    )
  }
  return [
    {
      name: `One new View at all Hosts of its namespace, among ${views.length}`,
      value: Math.max(...times) / 1_000,
      unit: 's',
      from: `the slowest of ${times.length}, median ${show(median(times) / 1_000)} s`,
    },
  ]
}

async function write(cluster: ScaleParts['cluster'], { namespace, name }: Place): Promise<void> {
  const sdl = `type Of_${name.replaceAll('-', '_')} { address: String @index topics: [String] }`
  const definition = { query: 'Log { address topics }', sdl }
  await inNamespace(cluster, namespace).write({ kind: 'View', name, spec: { definition } })
}

function holding(
  hosts: readonly Place[],
  views: readonly Place[],
): (counts: readonly number[]) => boolean {
  const wanted = placesOf(hosts, views)
  return (counts) => counts.reduce((sum, count) => sum + count, 0) === wanted
}

/** How often a View lies at a Host. */
function placesOf(hosts: readonly Place[], views: readonly Place[]): number {
  const at = (namespace: string): number =>
    hosts.filter((host) => host.namespace === namespace).length
  return views.reduce((sum, { namespace }) => sum + at(namespace), 0)
}
