/** Where the replicas of a resource are checked: those that run, and their external addresses. */
import type { Workload } from '../../api.ts'
import {
  p2pServiceName,
  podName,
  specOrdinals,
  wantedReplicas,
} from '../../resources/names/names.ts'
import { type ClusterView, keptChild } from '../observe/cluster-view.ts'
import type { HealthObserver, Target } from '../observe/health-observer.ts'
import type { HealthView } from '../observe/health-view.ts'
import type { Ingress } from '../observe/ingress.ts'
import { observedName } from '../observe/observed-name.ts'
import type { KeptPod } from '../observe/pod.ts'
import { discoveredAddresses } from './external-address.ts'
import { externalTargets } from './external-health.ts'

interface SeenReplicas {
  readonly pods: ReadonlyMap<number, KeptPod>
  /** By ordinal: discovered external addresses. */
  readonly discovered: readonly (readonly string[])[]
}

interface HealthTargets {
  readonly internal: readonly Target[]
  readonly external: readonly Target[]
  /** By ordinal, of the internal ones. */
  readonly views: ReadonlyMap<number, HealthView | null | undefined>
}

/** An external address is a target once its replica has reported its peer ID inside the cluster. */
export function healthTargets(
  observer: Pick<HealthObserver, 'view'>,
  resource: Workload,
  { pods, discovered }: SeenReplicas,
): HealthTargets {
  const name = observedName(resource)
  const internal = [...pods].flatMap(([ordinal, { ip, uid, isTerminating }]): Target[] =>
    ip === null || isTerminating || ordinal >= wantedReplicas(resource)
      ? []
      : [{ ordinal, uid, ip }],
  )
  const views = new Map(internal.map((target) => [target.ordinal, observer.view(name, target)]))
  return { internal, views, external: externalTargets(resource, { pods, views, discovered }) }
}

/** By ordinal: external addresses of the replicas, as Services and pods have them. */
export function addressesOf(
  view: ClusterView,
  resource: Workload,
  pods: ReadonlyMap<number, KeptPod>,
): string[][] {
  return discoveredAddresses(resource, {
    ingress: ingressByName(view, resource),
    pods: new Map([...pods].map(([ordinal, pod]) => [podName(resource, ordinal), pod])),
  })
}

function ingressByName(view: ClusterView, resource: Workload): Map<string, Ingress> {
  const found = new Map<string, Ingress>()
  for (const ordinal of specOrdinals(resource)) {
    const name = p2pServiceName(resource, ordinal)
    const ingress = keptChild(view, resource, 'Service', name)?.ingress
    if (ingress !== undefined) found.set(name, ingress)
  }
  return found
}
