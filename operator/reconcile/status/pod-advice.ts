/**
 * What to do about a pod that ended with a termination message. A program knows only itself, and its advice
 * is for running it by hand; where more is known of the cluster, that replaces it.
 */
import type { ReasonOf } from '../../api/conditions.ts'
import type { Generator, Workload } from '../../api.ts'
import { childNames, claimName, podName } from '../../resources/names/names.ts'
import type { IdentityPlan } from '../evaluate/identity.ts'
import type { KeptPod } from '../observe/pod.ts'
import type { TerminationMessage } from '../observe/termination-message.ts'
import type { Statement } from '../statements/problem.ts'

/** The pods by ordinal, with better advice where they fail. `identity` is null before it is evaluated. */
export function advisedPods(
  resource: Workload,
  pods: ReadonlyMap<number, KeptPod>,
  identity: IdentityPlan | null,
): KeptPod[] {
  return [...pods].map(([ordinal, pod]): KeptPod => {
    const { failure } = pod
    if (failure?.ended === undefined) return pod
    const { termination, what } = failure.ended
    const remedy =
      (resource.kind === 'Generator' ? wrongChainRemedy(resource, termination) : null) ??
      unlockedRemedy(resource, { ordinal, pod, termination }, identity) ??
      storeFullRemedy(resource, { ordinal, termination })
    return remedy === null ? pod : { ...pod, failure: { ...failure, message: `${what} ${remedy}` } }
  })
}

interface EndedPod {
  readonly ordinal: number
  readonly pod: KeptPod
  readonly termination: TerminationMessage
}

/** Of a pod whose key did not open the key directory, and does by now as far as marks say. */
function unlockedRemedy(
  resource: Workload,
  { ordinal, pod, termination }: EndedPod,
  identity: IdentityPlan | null,
): string | null {
  if (termination.code !== 'IDENTITY_LOCKED') return null
  if (identity === null || identity.problem !== null || identity.lack !== null) return null
  const key = `key "${ordinal}" of Secret ${childNames(resource).keyring}`
  const claim = claimName(resource, 'keys', ordinal)
  const hasten = `kubectl delete pod ${pod.name} --namespace ${resource.metadata.namespace}`
  return `By its fingerprint, ${key} is now the one for claim ${claim}: the pod starts by itself within five minutes, and ${hasten} hastens it. Where it still ends so, restore the key files on that claim from your backup.`
}

/** Of a store that has no room: its program would be set otherwise, which does not make it smaller. */
function storeFullRemedy(
  resource: Workload,
  { ordinal, termination }: Pick<EndedPod, 'ordinal' | 'termination'>,
): string | null {
  if (termination.code !== 'STORE_FULL') return null
  const claim = claimName(resource, 'data', ordinal)
  const larger = `Make spec.storage.data.size larger; the StorageClass of claim ${claim} has to allow that.`
  return resource.spec.storage.restartToResize
    ? larger
    : `${larger} Where its file system grows at a start of the pod only, set spec.storage.restartToResize as well.`
}

const blockHash = /^0x[0-9a-f]{64}$/

/** What its termination message says of the execution node; null where it is about something else. */
export function wrongChainStatement(
  generator: Generator,
  termination: TerminationMessage | null,
): Statement<ReasonOf<'UpstreamReachable'>> | null {
  const remedy = termination === null ? null : wrongChainRemedy(generator, termination)
  if (termination === null || remedy === null) return null
  return {
    reason: 'WrongChain',
    message: `${termination.message} (${termination.code}). ${remedy}`,
  }
}

/** What to do about it in a cluster, where the program's own advice does not help; null as above. */
function wrongChainRemedy(generator: Generator, termination: TerminationMessage): string | null {
  if (termination.code === 'GENERATOR_CHAIN_MISMATCH') return wrongNameRemedy(generator)
  if (!isOfOtherChain(termination)) return null
  const claim = claimName(generator, 'data', 0)
  return `Correct spec.upstream; or, to store the other chain from now on, kubectl delete pvc ${claim} --wait=false, then kubectl delete pod ${podName(generator, 0)}, and let Hosts that have the old chain fetch theirs again the same way.`
}

/** Names cannot be changed, since what is stored and signed bears them. */
function wrongNameRemedy({ spec }: Generator): string {
  const { name, network, id } = spec.chain
  const rename = `delete this Generator, and create it with names of its own in spec.chain, such as {name: Local, network: Devnet}, in place of ${name} and ${network}`
  return id === undefined
    ? `Correct spec.upstream; or, where that chain is meant, ${rename}, and a Host for it likewise.`
    : 'Correct spec.upstream or spec.chain.id.'
}

/**
 * Whether none of its blocks is the node's, or the two have another genesis block. A store can also be
 * foreign by its network or its program, of which the node knows nothing: then names differ, not hashes.
 */
function isOfOtherChain({ code, difference }: TerminationMessage): boolean {
  if (code === 'GENERATOR_CHAIN_CHANGED') return true
  if (code !== 'STORE_FOREIGN' || difference === null) return false
  return blockHash.test(difference.found) && blockHash.test(difference.expected)
}
