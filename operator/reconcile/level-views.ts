/**
 * Where the Views of Hosts lie, checked once for each change: the bytes of all of them would be unpacked at every
 * reconcile otherwise, though they nearly always lie where they have to.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Host } from '../api.ts'
import { networkOf, viewConfigName, viewPartName } from '../resources/names/names.ts'
import { maxViewParts, type PlacedViews } from '../resources/pod/placed-views.ts'
import { type Cluster, currentParts, placedViews, viewsOf } from './evaluate/host-views.ts'

/** What was found of a Host last. */
interface Level {
  /** By which state of what is watched its Views lay where they had to; null where they did not. */
  readonly mark: string | null
  readonly left: PlacedViews['left']
}

/** More Hosts than an operator has; of one that is deleted its line stays until then. */
const maxKept = 10_000

interface HostPlaces {
  /** What `placedViews` returns, from the same objects. */
  placed(host: Host): PlacedViews
  /** Whether there was no room for a file of this name when `placed` was called last. */
  isLeft(host: Host, name: string): boolean
}

/** `onLeft` is called with a Host where room is lacking for other Views than before. */
export function createHostPlaces(cluster: Cluster, onLeft: (host: Host) => void): HostPlaces {
  const known = new Map<string, Level>()
  return {
    placed: (host) => {
      const { uid } = host.metadata
      const mark = markOf(cluster, host)
      const level = known.get(uid)
      const current = currentParts(cluster, host)
      if (mark !== null && level?.mark === mark) return { parts: current, left: level.left }
      const placed = placedViews(cluster, host)
      const { left } = placed
      if (known.size >= maxKept) known.clear()
      known.set(uid, { mark: isDeepStrictEqual(placed.parts, current) ? mark : null, left })
      if (!isDeepStrictEqual(left, level?.left ?? [])) onLeft(host)
      return placed
    },
    isLeft: ({ metadata: { uid } }, name) => known.get(uid)?.left.includes(name) ?? false,
  }
}

/** Text that changes with everything that the place of a View depends on; null while Views cannot be read. */
function markOf(cluster: Cluster, host: Host): string | null {
  const { namespace } = host.metadata
  if (cluster.resources.View.reflectorOf(namespace)?.unread()) return null
  const versionOf = (name: string): string => {
    const found = cluster.children.ConfigMap.get(namespace, name)
    return found === undefined ? '' : `${found.uid} ${found.resourceVersion}`
  }
  const views = viewsOf(cluster, host).map((view) => [
    ...[
      view.metadata.uid,
      view.spec.paused,
      view.spec.registration !== undefined,
      view.status?.viewID,
    ],
    versionOf(viewConfigName(view)),
  ])
  const parts = Array.from({ length: maxViewParts }, (_, index) =>
    versionOf(viewPartName(host, index)),
  )
  return JSON.stringify([networkOf(host), views, parts])
}
