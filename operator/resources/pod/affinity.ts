/** Where pods run: a Generator near its execution node, a Host's replicas apart. */
import type {
  V1Affinity,
  V1PodAffinityTerm,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node'
import type { Colocation } from '../../api/generator-spec.ts'
import type { Generator, Host } from '../../api.ts'
import { selectorLabels } from '../names/metadata.ts'
import type { ExecutionNode } from './context.ts'

const hostname = 'kubernetes.io/hostname'

/** How near to its execution node a Generator is to run. */
export function colocationOf({ spec }: Generator): Colocation {
  return (spec.upstream.service ?? spec.upstream.podSelector)?.colocate ?? 'None'
}

/**
 * Keeps a Generator on the machine of its execution node; nothing where that is not known, which where
 * it is required keeps the pod from being made (`../../reconcile/fetch/upstream.ts`).
 */
export function generatorAffinity(
  generator: Generator,
  node: ExecutionNode | null,
): V1Affinity | undefined {
  const colocate = colocationOf(generator)
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
