/**
 * What is on its way out: the keyring Secret and the claims that go together with a deleted resource of the
 * same name, until Kubernetes has taken them away. Whoever took them for his own would lose them a moment
 * later, so a new resource waits, and then begins anew.
 */
import type { V1Secret } from '@kubernetes/client-node'
import type { Resource } from '../api.ts'
import { isOfFormer } from './ownership.ts'
import type { Picture } from './picture.ts'
import type { KeptPod } from './pod.ts'
import { leavingError } from './secrets.ts'

/** Throws OPERATOR_LEAVING where the keyring Secret is on its way out. */
export function expectKeyringStays(resource: Resource, { metadata }: V1Secret): void {
  const isGoing = metadata?.deletionTimestamp !== undefined && knownOrdinals(resource).length === 0
  if (isGoing || isOfFormer(resource, metadata?.ownerReferences ?? [])) {
    throw leavingError('Secret', metadata?.name ?? '')
  }
}

/** The same for the claims of wanted replicas. */
export function expectClaimsStay(
  resource: Resource,
  { claims, pods }: Pick<Picture, 'claims' | 'pods'>,
): void {
  const known = knownOrdinals(resource)
  const leaving = claims.find(({ volume, ordinal, claim }) => {
    const isGoing = volume === 'keys' && claim.isGoing && !known.includes(ordinal)
    return isGoing || isOfFormer(resource, claim.owners)
  })
  if (leaving === undefined) return
  const pod = pods.get(leaving.ordinal)
  const isHeld = pod !== undefined && !pod.isGoing
  const remedy = isHeld ? heldRemedy(resource, pod) : undefined
  throw leavingError('PersistentVolumeClaim', leaving.claim.name, remedy)
}

/** Pods of a StatefulSet that was taken away because of a lost claim outlive their resource. */
function heldRemedy({ metadata }: Resource, { name }: KeptPod): string {
  return `Pod ${name} of the deleted resource holds it: where that pod does not go by itself, run \`kubectl delete pod ${name} --namespace ${metadata.namespace}\`.`
}

/** Replicas that this very resource had: what goes of theirs is lost, and nothing to wait for. */
function knownOrdinals({ status }: Resource): number[] {
  return (status?.nodes ?? []).flatMap(({ ordinal, keyringFingerprint }) =>
    keyringFingerprint === undefined ? [] : [ordinal],
  )
}
