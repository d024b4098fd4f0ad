/** What is known of a resource: its status, and the pods and volumes behind it. */
import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { type ConditionDefinition, conditions } from '../../api/conditions.ts'
import type { Condition, NodeStatus } from '../../api/status.ts'
import type { Resource, Workload } from '../../api.ts'
import {
  claimName,
  networkOf,
  podName,
  specOrdinals,
  type Volume,
} from '../../resources/names/names.ts'
import { claimsByOrdinal, podsByOrdinal } from '../cluster/replicas.ts'

/** A condition, and whether it is one that a person should look at. */
export interface StatedCondition extends Condition {
  readonly wantsAttention: boolean
}

/** The claim of a replica. */
interface VolumeSummary {
  readonly claim: string
  readonly holds: Volume
  /** What the volume has, or what is asked for before it is bound. */
  readonly size: string
  /** Of Kubernetes, such as Bound; Missing where there is no claim. */
  readonly phase: string
}

export interface ReplicaSummary extends Partial<NodeStatus> {
  readonly ordinal: number
  readonly pod: string
  /** `Ready`, or what keeps the pod from it; Suspended or Missing where there is no pod. */
  readonly state: string
  readonly restarts: number
  readonly volumes: readonly VolumeSummary[]
}

/** What is known of a resource of any kind. */
export interface Stated {
  readonly kind: Resource['kind']
  readonly namespace: string
  readonly name: string
  /** Whether Ready is True, for the newest spec. */
  readonly isReady: boolean
  /** Why the status is not to be believed as it is; null where it is. */
  readonly remark: string | null
  readonly conditions: readonly StatedCondition[]
}

export interface ResourceSummary extends Stated {
  readonly kind: Workload['kind']
  readonly chain: string
  /** Image that the pods are meant to run; null before the operator chose one. */
  readonly image: string | null
  readonly pods: string | null
  readonly head: number | null
  readonly lag: number | null
  readonly peers: number | null
  readonly replicas: readonly ReplicaSummary[]
}

/** What there is in the cluster, of this resource and of others. */
export interface Behind {
  readonly pods: readonly V1Pod[]
  readonly claims: readonly V1PersistentVolumeClaim[]
}

export function summaryOf(resource: Workload, behind: Behind): ResourceSummary {
  const { kind, status } = resource
  return {
    ...statedOf(resource),
    kind,
    chain: networkOf(resource),
    image: status?.image ?? null,
    pods: status?.pods ?? null,
    head: status?.head ?? null,
    lag: status?.lag ?? null,
    peers: status?.peers ?? null,
    replicas: replicasOf(resource, behind),
  }
}

/** What the status of any resource says of it. */
export function statedOf(resource: Resource): Stated {
  const { kind, metadata, status } = resource
  const conditionsNow = (status?.conditions ?? []).map(statedCondition)
  const remark = remarkOn(resource)
  const ready = conditionsNow.find(({ type }) => type === 'Ready')
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    isReady: remark === null && ready?.status === 'True',
    remark,
    conditions: conditionsNow,
  }
}

function statedCondition(condition: Condition): StatedCondition {
  const known: Readonly<Record<string, ConditionDefinition>> = conditions
  const polarity = known[condition.type]?.polarity ?? 'information'
  const good = { 'normal-true': 'True', 'abnormal-true': 'False', information: condition.status }
  return { ...condition, wantsAttention: condition.status !== good[polarity] }
}

/** The operator reports what it has seen; until it has seen the newest spec, nothing is known of that. */
function remarkOn({ metadata, status }: Resource): string | null {
  const seen = status?.observedGeneration ?? -1
  if (seen === metadata.generation) return null
  if (seen < 0) {
    return 'No operator has seen it yet: check that one runs and watches this namespace.'
  }
  return `The operator has not seen the newest spec yet (generation ${metadata.generation}, seen ${seen}): what follows is about the spec before.`
}

/** Those of the spec, also while none of them is to run, and those whose pods there still are. */
function replicasOf(resource: Workload, behind: Behind): ReplicaSummary[] {
  const pods = podsByOrdinal(behind.pods, resource)
  const ordinals = [...specOrdinals(resource), ...pods.map(({ ordinal }) => ordinal)]
  const volumes = (['keys', 'data'] as const).map((volume) => ({
    volume,
    claims: claimsByOrdinal(behind.claims, resource, volume),
  }))
  return [...new Set(ordinals)].map((ordinal) => {
    const isThis = (one: { readonly ordinal: number }): boolean => one.ordinal === ordinal
    const pod = pods.find(isThis)?.object
    return {
      ...resource.status?.nodes?.find(isThis),
      ordinal,
      pod: podName(resource, ordinal),
      state: pod === undefined && resource.spec.suspend ? 'Suspended' : stateOf(pod),
      restarts: restartsOf(pod),
      volumes: volumes.map(({ volume, claims }) => {
        const name = claimName(resource, volume, ordinal)
        return volumeOf(name, volume, claims.find(isThis)?.object)
      }),
    }
  })
}

function restartsOf(pod: V1Pod | undefined): number {
  const containers = pod?.status?.containerStatuses ?? []
  return containers.reduce((sum, { restartCount }) => sum + restartCount, 0)
}

function stateOf(pod: V1Pod | undefined): string {
  if (pod === undefined) return 'Missing'
  if (pod.metadata?.deletionTimestamp !== undefined) return 'Terminating'
  const { conditions: found = [], containerStatuses = [], phase = 'Unknown' } = pod.status ?? {}
  if (found.some(({ type, status }) => type === 'Ready' && status === 'True')) return 'Ready'
  const waiting = containerStatuses.flatMap(({ state }) => state?.waiting?.reason ?? [])
  const unplaced = found.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  return waiting[0] ?? unplaced?.reason ?? (phase === 'Running' ? 'NotReady' : phase)
}

function volumeOf(
  claim: string,
  holds: Volume,
  found: V1PersistentVolumeClaim | undefined,
): VolumeSummary {
  if (found === undefined) return { claim, holds, size: '-', phase: 'Missing' }
  const { spec, status, metadata } = found
  const isTerminating = metadata?.deletionTimestamp !== undefined
  return {
    claim,
    holds,
    size: status?.capacity?.['storage'] ?? spec?.resources?.requests?.['storage'] ?? '-',
    phase: isTerminating ? 'Terminating' : (status?.phase ?? 'Pending'),
  }
}
