/**
 * Which claims of Generators and Hosts nothing uses any more. What a replica could come back to counts as used:
 * a claim is only unused where no pod mounts it, and no resource and no StatefulSet has its replica.
 */
import type { V1PersistentVolumeClaim, V1Pod, V1StatefulSet } from '@kubernetes/client-node'
import { labels, records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { baseName, programOf, specReplicas } from '../../resources/names/names.ts'
import { ordinalIn } from '../cluster/replicas.ts'

/** A claim with what a person has to know before deleting it. */
export interface ClaimUse {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** `keys` or `data`. */
  readonly holds: string
  /** The resource that its name and labels say, such as host/mainnet, whether or not there is one. */
  readonly resource: string
  readonly ordinal: number
  /** Who uses it; null for nobody. */
  readonly usedBy: string | null
  readonly isTerminating: boolean
  /** Whether an identity would be lost with it: a keys claim with a volume has one, or may have. */
  readonly hasIdentity: boolean
  /** Of the keyring key that opens its key directory; null where nobody noted it. */
  readonly fingerprint: string | null
  readonly size: string
  readonly createdAt: Date | string | undefined
}

/** What there is in the namespace. */
interface Surroundings {
  readonly resources: readonly Workload[]
  readonly pods: readonly V1Pod[]
  readonly sets: readonly V1StatefulSet[]
}

/** Claims that carry no label of ours, or another name than ours, are left out. */
export function claimUses(
  claims: readonly V1PersistentVolumeClaim[],
  around: Surroundings,
): ClaimUse[] {
  return claims.flatMap((claim) => claimUse(claim, around) ?? [])
}

function claimUse(claim: V1PersistentVolumeClaim, around: Surroundings): ClaimUse | null {
  const { metadata = {}, spec, status } = claim
  const { name = '', labels: marks = {}, annotations = {} } = metadata
  const holds = marks[labels.holds] ?? ''
  const kind = kindOf(marks[labels.name])
  const instance = marks[labels.instance] ?? ''
  if (kind === null || !['keys', 'data'].includes(holds)) return null
  const base = baseName(kind, instance)
  const ordinal = ordinalIn(name, `${holds}-${base}`)
  if (ordinal === null) return null
  return {
    name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    holds,
    resource: `${programOf({ kind })}/${instance}`,
    ordinal,
    usedBy: mountedBy(name, around) ?? replicaOf(kind, instance, ordinal, around),
    isTerminating: metadata.deletionTimestamp !== undefined,
    hasIdentity: holds === 'keys' && status?.phase !== 'Pending',
    fingerprint: annotations[records.keyringFingerprint] ?? null,
    size: status?.capacity?.['storage'] ?? spec?.resources?.requests?.['storage'] ?? '-',
    createdAt: metadata.creationTimestamp,
  }
}

function kindOf(program: string | undefined): Workload['kind'] | null {
  const kinds = { generator: 'Generator', host: 'Host' } as const
  return program === 'generator' || program === 'host' ? kinds[program] : null
}

/** Pods that have ended hold no volume, though they still name it. */
function mountedBy(claim: string, { pods }: Surroundings): string | null {
  const pod = pods.find(
    ({ spec, status }) =>
      !['Succeeded', 'Failed'].includes(status?.phase ?? '') &&
      spec?.volumes?.some(
        ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim,
      ),
  )
  return pod === undefined ? null : `pod ${pod.metadata?.name}`
}

/** Who has this replica, or would start it again. A set of a chart without a resource may be at 0 for a while. */
function replicaOf(
  kind: Workload['kind'],
  name: string,
  ordinal: number,
  { resources, sets }: Surroundings,
): string | null {
  const resource = resources.find((one) => one.kind === kind && one.metadata.name === name)
  if (resource !== undefined) {
    return ordinal < specReplicas(resource) ? `${kind} ${name}` : null
  }
  const set = sets.find(({ metadata }) => metadata?.name === baseName(kind, name))
  const replicas = set?.spec?.replicas ?? 1
  return set !== undefined && (replicas === 0 || ordinal < replicas)
    ? `StatefulSet ${set.metadata?.name}`
    : null
}
