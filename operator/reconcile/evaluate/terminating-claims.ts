/**
 * Claims that are terminating: those that go together with a deleted resource of the same name,
 * until Kubernetes has removed them. A pod that used them would lose them a moment later, so a new
 * resource waits.
 */
import type { Workload } from '../../api.ts'
import { knownOrdinals } from '../fetch/keyring.ts'
import { terminatingError } from '../fetch/secrets.ts'
import type { KeptPod } from '../observe/pod.ts'
import { isOfFormer } from '../statements/ownership.ts'
import type { ObservedState } from './observed-state.ts'

/** Throws OPERATOR_TERMINATING where a claim of a wanted replica is being deleted. */
export function expectNoTerminatingClaims(
  resource: Workload,
  { claims, pods }: Pick<ObservedState, 'claims' | 'pods'>,
): void {
  const known = knownOrdinals(resource)
  const terminating = claims.find(({ volume, ordinal, claim }) => {
    const isTerminating = volume === 'keys' && claim.isTerminating && !known.includes(ordinal)
    return isTerminating || isOfFormer(resource, claim.owners)
  })
  if (terminating === undefined) return
  const pod = pods.get(terminating.ordinal)
  const isHeld = pod !== undefined && !pod.isTerminating
  const remedy = isHeld ? heldRemedy(resource, pod) : undefined
  throw terminatingError('PersistentVolumeClaim', terminating.claim.name, remedy)
}

/** Pods whose StatefulSet was removed while the resource was paused outlive both. */
function heldRemedy({ metadata }: Workload, { name }: KeptPod): string {
  return `Pod ${name} of the deleted resource holds it: where that pod does not go by itself, run \`kubectl delete pod ${name} --namespace ${metadata.namespace}\`.`
}
