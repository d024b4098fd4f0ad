/** What the bench of the operator waits for: Hosts that are ready, and Views that lie where their pods read them. */
import type { V1ConfigMap } from '@kubernetes/client-node'
import { labels } from '../../../operator/api/annotations.ts'
import { hostKind } from '../../../operator/api/resource-kinds.ts'
import type { Host } from '../../../operator/api.ts'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import { openStateWatch, type StateWatch } from './state-watch.ts'

interface Watched {
  readonly namespaces: readonly string[]
  readonly kubeconfig: string
}

interface WatchParts {
  readonly signal: AbortSignal
}

/** How far a Host is. */
export interface HostState {
  readonly name: string
  /** Whether the condition Ready is True, and speaks of the spec there is now. */
  readonly isReady: boolean
  readonly observedGeneration: number
}

export function openHostWatch(where: Watched, parts: WatchParts): Promise<StateWatch<HostState>> {
  const describe = (hosts: readonly HostState[]): string =>
    `${hosts.filter(({ isReady }) => isReady).length} of ${hosts.length} Hosts are ready`
  return openStateWatch({ ...where, type: hostKind, keep: hostState, describe }, parts)
}

function hostState({ metadata, status }: Host): HostState {
  const observedGeneration = status?.observedGeneration ?? -1
  const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready')
  const isCurrent = observedGeneration >= (metadata.generation ?? 0)
  const isReady = isCurrent && ready?.status === 'True'
  return { name: metadata.name, isReady, observedGeneration }
}

/** How many Views lie in a ConfigMap of a Host. */
export function openPlacedWatch(where: Watched, parts: WatchParts): Promise<StateWatch<number>> {
  const describe = (counts: readonly number[]): string =>
    `${counts.reduce((sum, count) => sum + count, 0)} Views lie in the ConfigMaps of Hosts`
  const options = {
    type: builtinTypes.ConfigMap,
    labelSelector: `${labels.partOf}=viewmesh,${labels.name}=host`,
    keep: ({ binaryData = {} }: V1ConfigMap): number => Object.keys(binaryData).length,
  }
  return openStateWatch({ ...where, ...options, describe }, parts)
}
