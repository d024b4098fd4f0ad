/**
 * Writes the owner references of the keyring Secret and the claims, as the deletion policies of a
 * resource say.
 */
import type { V1Secret } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { ownerReference } from '../../resources/names/metadata.ts'
import { childNames } from '../../resources/names/names.ts'
import { claimApplied } from '../../resources/objects/claims.ts'
import type { PatchOperation } from '../../resources/secrets/keyring-secret.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { isKeyringOwned, type OwnerChanges } from '../evaluate/deletion-policy.ts'
import type { PlacedClaim } from '../observe/claim.ts'

/** Writes the owners. The keyring that was fetched before is outdated then. */
export async function followPolicies(
  api: KubernetesApi,
  resource: Workload,
  { keyring, claims }: OwnerChanges,
  signal: AbortSignal,
): Promise<void> {
  if (keyring) await followKeyringPolicy(api, resource, signal)
  for (const placed of claims) {
    const object = withOwnerAlone(resource, placed)
    await api.apply(builtinTypes.PersistentVolumeClaim, object, { signal })
  }
}

/** Has a generated Secret go together with the resource, or outlive it. */
export async function followKeyringPolicy(
  api: KubernetesApi,
  resource: Workload,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = resource.metadata
  const address = { type: builtinTypes.Secret, namespace, name: childNames(resource).keyring }
  const secret = await api.find<V1Secret>(address, { signal })
  if (secret === null) return
  await api.patch(address, ownerPatch(resource, secret), { type: 'json', signal })
}

function ownerPatch(resource: Workload, { metadata }: V1Secret): PatchOperation[] {
  const others = (metadata?.ownerReferences ?? []).filter(
    ({ uid }) => uid !== resource.metadata.uid,
  )
  const value = isKeyringOwned(resource) ? [...others, ownerReference(resource)] : others
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: metadata?.resourceVersion },
    { op: 'add', path: '/metadata/ownerReferences', value },
  ]
}

/**
 * What is applied to a claim for its owner's sake: everything else that the operator writes has the value
 * that is there, also where that is wrong.
 */
function withOwnerAlone(
  resource: Workload,
  { volume, ordinal, claim }: PlacedClaim,
): KubernetesObject {
  const { uid, requested: size, labels, annotations } = claim
  const facts = { uid, size, keyringFingerprint: null, start: null }
  const { metadata, ...applied } = claimApplied(resource, volume, ordinal, facts)
  return { ...applied, metadata: { ...metadata, labels, annotations } } as KubernetesObject
}
