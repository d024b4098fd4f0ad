/** What is watched of the Hosts that a View selects. */
import type { V1StatefulSet } from '@kubernetes/client-node'
import { environment } from '../../../src/service/contract.ts'
import type { Host, ViewResource } from '../../api.ts'
import { selectsHost } from '../../resources/names/host-selector.ts'
import { childNames } from '../../resources/names/names.ts'
import { type ClusterView, liveChild, podsOf } from '../observe/cluster-view.ts'
import type { HealthObserver } from '../observe/health-observer.ts'
import { healthTargets } from './health-targets.ts'
import { isForeign } from './host-views.ts'
import type { HostSituation } from './view-at-host.ts'

export interface SituationParts {
  readonly view: ClusterView
  readonly observer: Pick<HealthObserver, 'view'>
  /** Whether the ConfigMaps of a Host had no room for a file of this name when it was reconciled last. */
  readonly isLeft: (host: Host, name: string) => boolean
}

/** Hosts that a View selects, by name. */
export function selectedHosts(
  { resources }: Pick<ClusterView, 'resources'>,
  view: ViewResource,
): Host[] {
  return [...resources.Host.list()]
    .map(({ value }) => value)
    .filter((host) => host.metadata.deletionTimestamp === undefined && selectsHost(view, host))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** How they stand to it; `id` is how their replicas are asked for it, null before it is known. */
export function situationsOf(
  parts: SituationParts,
  view: ViewResource,
  id: string | null,
): HostSituation[] {
  return selectedHosts(parts.view, view).map((host) => {
    const isRegistered = view.spec.registryID !== undefined
    const { isAsked, reports } = reportsOf(parts, host, id)
    // What is served has its place.
    const isMissing = !isRegistered && [...reports.values()].includes(null)
    return {
      host,
      isRegistered,
      isForeign: isForeign(view, host),
      isOutdated: !isRegistered && isOutdated(parts.view, host),
      isLeft: isMissing && parts.isLeft(host, `${id}.view`),
      isAsked,
      reports,
    }
  })
}

/** Whether pods are made from a template without the folder of Views. */
function isOutdated(cluster: ClusterView, host: Host): boolean {
  const set = liveChild<V1StatefulSet>(cluster, host, 'StatefulSet', childNames(host).base)
  const containers = set?.spec?.template.spec?.containers
  return containers?.some(hasFolder) === false
}

function hasFolder({ env = [] }: { readonly env?: { readonly name: string }[] }): boolean {
  return env.some(({ name }) => name === environment.viewsDir)
}

function reportsOf(
  { view, observer }: SituationParts,
  host: Host,
  id: string | null,
): Pick<HostSituation, 'isAsked' | 'reports'> {
  const { views } = healthTargets(observer, host, { pods: podsOf(view, host), discovered: [] })
  const found = [...views].map(([ordinal, health]) => {
    const hosted = health?.views ?? undefined
    return [ordinal, hosted && (hosted.find((one) => one.id === id) ?? null)] as const
  })
  return { isAsked: ![...views.values()].includes(undefined), reports: new Map(found) }
}
