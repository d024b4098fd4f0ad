/** Keeps a drain from taking more than one replica of a Host at a time. */
import type { V1PodDisruptionBudget } from '@kubernetes/client-node'
import type { Host } from '../../api.ts'
import { childMetadata, selectorLabels } from '../names/metadata.ts'
import { childNames } from '../names/names.ts'

/** Null for a single replica, which a budget could only keep from ever being moved. */
export function disruptionBudget(host: Host): V1PodDisruptionBudget | null {
  if (host.spec.replicas < 2) return null
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: childMetadata(host, childNames(host).base),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorLabels(host) } },
  }
}
