/**
 * What to do about a pod that ended with words of its own. A program knows only itself, and its advice
 * is for who runs it by hand; where more is known of the cluster, that is told in its place.
 */
import type { Resource } from '../api.ts'
import { childNames, claimName } from '../resources/names.ts'
import type { LastWords } from './health/last-words.ts'
import { wrongChainRemedy } from './health/wrong-chain.ts'
import type { IdentityPlan } from './identity.ts'
import type { KeptPod } from './pod.ts'

/** The pods by ordinal, with better advice in their troubles. `identity` is null before it is judged. */
export function advisedPods(
  resource: Resource,
  pods: ReadonlyMap<number, KeptPod>,
  identity: IdentityPlan | null,
): KeptPod[] {
  return [...pods].map(([ordinal, pod]): KeptPod => {
    const { trouble } = pod
    if (trouble?.ended === undefined) return pod
    const { words, what } = trouble.ended
    const remedy =
      (resource.kind === 'Generator' ? wrongChainRemedy(resource, words) : null) ??
      unlockedRemedy(resource, { ordinal, pod, words }, identity) ??
      storeFullRemedy(resource, { ordinal, words })
    return remedy === null ? pod : { ...pod, trouble: { ...trouble, message: `${what} ${remedy}` } }
  })
}

interface EndedPod {
  readonly ordinal: number
  readonly pod: KeptPod
  readonly words: LastWords
}

/** Of a pod whose key did not open the key directory, and does by now as far as marks say. */
function unlockedRemedy(
  resource: Resource,
  { ordinal, pod, words }: EndedPod,
  identity: IdentityPlan | null,
): string | null {
  if (words.code !== 'IDENTITY_LOCKED') return null
  if (identity === null || identity.problem !== null || identity.lack !== null) return null
  const key = `key "${ordinal}" of Secret ${childNames(resource).keyring}`
  const claim = claimName(resource, 'keys', ordinal)
  const hasten = `kubectl delete pod ${pod.name} --namespace ${resource.metadata.namespace}`
  return `By its fingerprint, ${key} is now the one for claim ${claim}: the pod starts by itself within five minutes, and ${hasten} hastens it. Where it still ends so, restore the key files on that claim from your backup.`
}

/** Of a store that has no room: its program would be set otherwise, which does not make it smaller. */
function storeFullRemedy(
  resource: Resource,
  { ordinal, words }: Pick<EndedPod, 'ordinal' | 'words'>,
): string | null {
  if (words.code !== 'STORE_FULL') return null
  const claim = claimName(resource, 'data', ordinal)
  const larger = `Make spec.storage.data.size larger; the StorageClass of claim ${claim} has to allow that.`
  return resource.spec.storage.restartToResize
    ? larger
    : `${larger} Where its file system grows at a start of the pod only, set spec.storage.restartToResize as well.`
}
