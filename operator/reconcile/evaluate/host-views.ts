/** Which Views a Host is to serve, and where they lie: from the Views that select it and the ConfigMaps that keep them. */
import type { V1ConfigMap } from '@kubernetes/client-node'
import { viewFileID } from '../../../src/views/view-file.ts'
import { parseViewQuery } from '../../../src/views/view-query.ts'
import type { Host, ViewResource } from '../../api.ts'
import { selectsHost } from '../../resources/names/host-selector.ts'
import { networkOf, viewConfigName, viewPartName } from '../../resources/names/names.ts'
import {
  maxViewParts,
  type PlacedViews,
  placeViews,
  type StoredView,
  type ViewPart,
} from '../../resources/pod/placed-views.ts'
import { type ClusterView, keptChild, liveChild } from '../observe/cluster-view.ts'

/** What is watched of Views and Hosts. */
export type Cluster = Pick<ClusterView, 'resources' | 'children'>

/** The Views that select a Host, the oldest first, so that a later one takes nobody's room. */
export function viewsOf({ resources }: Cluster, host: Host): ViewResource[] {
  return [...resources.View.list()]
    .map(({ value }) => value)
    .filter((view) => view.metadata.deletionTimestamp === undefined && selectsHost(view, host))
    .toSorted((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1))
}

function ageKey({ metadata: { creationTimestamp = '', name } }: ViewResource): string {
  return `${creationTimestamp} ${name}`
}

/** The IDs by which its replicas are asked for these Views. */
export function askedViews(cluster: Cluster, host: Host): string[] {
  return viewsOf(cluster, host).flatMap(
    ({ spec, status }) => spec.registryID ?? status?.viewID ?? [],
  )
}

/** Where the Views of a Host lie; of paused Views those that it has, and where Views cannot be read all of these. */
export function placedViews(cluster: Cluster, host: Host): PlacedViews {
  const current = currentParts(cluster, host)
  const reflector = cluster.resources.View.reflectorOf(host.metadata.namespace)
  if (reflector !== undefined && reflector.unread() !== null) return { parts: current, left: [] }
  const wanted = viewsOf(cluster, host).flatMap((view): StoredView[] => {
    if (isForeign(view, host)) return []
    const held = heldView(view, current)
    if (view.spec.paused) return held === null ? [] : [held]
    // Where somebody deleted the ConfigMap that keeps it, the Host goes on until it is back.
    return [handedView(cluster, view) ?? held].filter((stored) => stored !== null)
  })
  return placeViews(current, wanted)
}

/** The file as Hosts get it: of a View that is to be registered only once its ID is said, which follows from who does. */
function handedView(cluster: Cluster, view: ViewResource): StoredView | null {
  const stored = storedView(cluster, view)
  const isOther = stored?.name !== `${view.status?.viewID}.view`
  return view.spec.registration !== undefined && isOther ? null : stored
}

/** The file that the ConfigMap of a View keeps; null before it is written, and of a View by its ID. */
export function storedView(cluster: Cluster, view: ViewResource): StoredView | null {
  const name = viewConfigName(view)
  const kept = keptChild(cluster, view, 'ConfigMap', name)
  if (!kept?.ownerUIDs.includes(view.metadata.uid)) return null
  const { binaryData = {} } = liveChild<V1ConfigMap>(cluster, view, 'ConfigMap', name) ?? {}
  const known = `${view.status?.viewID}.view`
  const files = Object.entries(binaryData)
    .filter(([key]) => viewFileID(key) !== null)
    .map(([key, bytes]): StoredView => ({ name: key, bytes }))
  // Others may have written keys beside ours.
  return files.find((file) => file.name === known) ?? files[0] ?? null
}

/** Whether the query names a collection of another chain than the Host has. */
export function isForeign({ spec: { definition } }: ViewResource, host: Host): boolean {
  if (definition === undefined) return false
  try {
    return 'foreign' in parseViewQuery(definition.query, networkOf(host))
  } catch {
    // What is wrong with it `Validated` says.
    return false
  }
}

function heldView({ status }: ViewResource, current: readonly ViewPart[]): StoredView | null {
  const name = `${status?.viewID}.view`
  const bytes = current.map((part) => part?.[name]).find((each) => each !== undefined)
  return bytes === undefined ? null : { name, bytes }
}

/** What the ConfigMaps of a Host hold now. */
export function currentParts(cluster: Cluster, host: Host): ViewPart[] {
  return Array.from({ length: maxViewParts }, (_, index) => partOf(cluster, host, index))
}

function partOf(cluster: Cluster, host: Host, index: number): ViewPart {
  const name = viewPartName(host, index)
  const kept = keptChild(cluster, host, 'ConfigMap', name)
  if (!kept?.ownerUIDs.includes(host.metadata.uid)) return null
  return liveChild<V1ConfigMap>(cluster, host, 'ConfigMap', name)?.binaryData ?? {}
}
