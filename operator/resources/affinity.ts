/** Where pods run: a Generator near its execution node, a Host's replicas apart. */
import type {
  V1Affinity,
  V1PodAffinityTerm,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node'
import type { Generator, Host } from '../api.ts'
import type { ExecutionNode } from './context.ts'
import { selectorLabels } from './metadata.ts'

const hostname = 'kubernetes.io/hostname'

/** Keeps a Generator on the machine of its execution node; nothing where that is not known. */
export function generatorAffinity(
  { spec }: Generator,
  node: ExecutionNode | null,
): V1Affinity | undefined {
  const colocate = (spec.upstream.service ?? spec.upstream.podSelector)?.colocate ?? 'None'
  if (node === null || colocate === 'None') return undefined
  const term: V1PodAffinityTerm = {
    topologyKey: hostname,
    namespaces: [node.namespace],
    labelSelector: { matchLabels: { ...node.labels } },
  }
  const podAffinity =
    colocate === 'Required'
      ? { requiredDuringSchedulingIgnoredDuringExecution: [term] }
      : {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
        }
  return { podAffinity }
}

/** Spreads a Host's replicas over machines as far as there are any. */
export function hostSpread(host: Host): V1TopologySpreadConstraint[] {
  return [
    {
      topologyKey: hostname,
      maxSkew: 1,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: selectorLabels(host) },
    },
  ]
}
