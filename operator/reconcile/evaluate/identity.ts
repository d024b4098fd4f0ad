/**
 * Whether the replicas may run with their identities. A key directory opens with one keyring key only,
 * and a program that starts without either gets a new identity, so what is known of an identity is compared
 * with what is there before anything else is done:
 *
 * | Keyring key | `keys` claim | Then |
 * |---|---|---|
 * | there | marked with its fingerprint | go on |
 * | there | marked with another one | Stalled: IdentityConflict |
 * | there | new, and no identity was known | go on, and mark it |
 * | there | gone, terminating or another one, and an identity was known | Stalled: KeysClaimMissing |
 * | missing | there, or gone though an identity was known | Stalled: KeyringMissing |
 * | missing | none, or one that was never used (`unused-claims.ts`), and no identity was known | a new identity begins |
 * | any | any, and one of them goes with a deleted resource of this name | wait (`terminating-claims.ts`) |
 * | the same as of another replica | any | Stalled: DuplicateKey |
 *
 * A mark that was edited on the very claim that the status remembers is put back. A claim that lost its
 * labels is not gone (`unwatched-claims.ts`).
 */
import { records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { childNames, claimName, podName, wantedReplicas } from '../../resources/names/names.ts'
import { parseKey } from '../../runtime/client/resource-type.ts'
import type { SharedKey } from '../fetch/key-holders.ts'
import type { KeysClaim, ReplicaIdentity } from '../observe/claim.ts'

/** Why no pod may be touched. */
interface IdentityProblem {
  readonly reason: 'DuplicateKey' | 'IdentityConflict' | 'KeyringMissing' | 'KeysClaimMissing'
  readonly message: string
}

/** Why pods have to wait for a Secret that the user brings. */
interface IdentityLack {
  readonly reason: 'SecretMissing' | 'KeyMissing'
  readonly message: string
}

export interface IdentityPlan {
  /** Ordinals for which a key has to be made before anything else is written. */
  readonly generate: readonly number[]
  readonly problem: IdentityProblem | null
  readonly lack: IdentityLack | null
}

type Loss = Exclude<IdentityProblem['reason'], 'DuplicateKey'>
type Verdict = 'go' | 'generate' | Loss

/**
 * Evaluates all wanted replicas. `secretExists` distinguishes a missing Secret from one without a key, and `isBound`
 * whether keys would be deleted together with the resource; both for the message alone.
 */
export function planIdentity(
  resource: Workload,
  replicas: readonly ReplicaIdentity[],
  secretExists: boolean,
  isBound: boolean = resource.spec.identity.deletionPolicy === 'Delete',
): IdentityPlan {
  const wanted = replicas.filter(({ ordinal }) => ordinal < wantedReplicas(resource))
  const verdicts = wanted.map((replica) => ({ replica, verdict: verdictOn(replica) }))
  const bad = verdicts.find(({ verdict }) => verdict !== 'go' && verdict !== 'generate')
  if (bad !== undefined) {
    const reason = bad.verdict as Loss
    const problem = describe(resource, bad.replica, { reason, isBound })
    return { generate: [], problem, lack: null }
  }
  const duplicate = duplicateProblem(resource, wanted, isBound)
  if (duplicate !== null) return { generate: [], problem: duplicate, lack: null }
  const without = verdicts
    .filter(({ verdict }) => verdict === 'generate')
    .map(({ replica }) => replica.ordinal)
  if (resource.spec.identity.secretRef === undefined || without.length === 0) {
    return { generate: without, problem: null, lack: null }
  }
  return { generate: [], problem: null, lack: lackOf(resource, without, secretExists) }
}

function verdictOn({ key, claim, known }: ReplicaIdentity): Verdict {
  if (key === null) return claim === null && known === null ? 'generate' : 'KeyringMissing'
  if (claim === null) return known === null ? 'go' : 'KeysClaimMissing'
  if (claim.isTerminating) return 'KeysClaimMissing'
  const mark = known?.claimUID === claim.uid ? known.fingerprint : claim.fingerprint
  if (mark !== null) return mark === key ? 'go' : 'IdentityConflict'
  return known === null ? 'go' : 'KeysClaimMissing'
}

function describe(
  resource: Workload,
  replica: ReplicaIdentity,
  { reason, isBound }: { readonly reason: Loss; readonly isBound: boolean },
): IdentityProblem {
  const { ordinal, key, claim, known } = replica
  const secret = `key "${ordinal}" of Secret ${childNames(resource).keyring}`
  const name = claimName(resource, 'keys', ordinal)
  const mark = known?.fingerprint ?? claim?.fingerprint ?? 'unknown'
  const begin = reason === 'KeysClaimMissing' ? 'new keys under the same peer ID' : 'a new identity'
  const way = isForgotten(replica)
    ? 'delete this claim'
    : `${retainFirst(resource, isBound)}delete ${obstacleOf(resource, replica)}the ${resource.kind} and create the ${resource.kind} again`
  const renew = `to begin with ${begin}, ${way}${withoutIt(ordinal)}`
  return {
    reason,
    message: {
      IdentityConflict: `The ${secret} has the fingerprint ${key}, but the key directory on claim ${name} opens with ${mark}: put the original value back from your backup${withoutIt(ordinal)}. No pod is touched meanwhile.`,
      KeyringMissing: `The ${secret} is missing, and the key directory on claim ${name} opens with nothing else (fingerprint ${mark}): put the value back from your backup; ${renew}. No pod is touched meanwhile.`,
      KeysClaimMissing: `Claim ${name} ${fateOf(claim)}, and with it the key directory of replica ${ordinal}, which opens with the ${secret}: ${restoreText(resource, replica)}, with the annotation ${records.keyringFingerprint}: "${mark}"; ${renew}. ${othersOf(resource)}`,
    }[reason],
  }
}

/** Whether nothing but the claim is left of an identity, so that the next one begins once the claim is gone. */
function isForgotten({ key, known }: ReplicaIdentity): boolean {
  return key === null && known === null
}

/**
 * How the claim comes back. One that is terminating has its volume still, which goes with it unless its reclaim
 * policy is Retain; a claim of its name gets it again once the volume forgets which claim it was.
 */
function restoreText(resource: Workload, { ordinal, claim }: ReplicaIdentity): string {
  if (claim === null || !claim.isTerminating || claim.volumeName === null) {
    return 'restore the claim from your backup, or bind it to its old volume where that was kept'
  }
  const volume = claim.volumeName
  const pod = `${podName(resource, ordinal)} --namespace ${resource.metadata.namespace}`
  const retain = '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'
  const release = '[{"op":"remove","path":"/spec/claimRef/uid"}]'
  return `keep its volume by kubectl patch pv ${volume} --patch '${retain}', then kubectl delete pod ${pod}, which holds the claim; once the claim is gone, kubectl patch pv ${volume} --type json --patch '${release}', and create the claim again with volumeName ${volume}`
}

/** What has to be deleted before a new identity can begin: the claim, and the pod that keeps it from terminating. */
function obstacleOf(resource: Workload, { ordinal, claim }: ReplicaIdentity): string {
  if (claim === null) return ''
  return claim.isTerminating ? `pod ${podName(resource, ordinal)} and ` : 'this claim and '
}

/** What goes before the advice to delete the resource where that deletes the keys of all replicas. */
function retainFirst({ kind, spec }: Workload, isBound: boolean): string {
  if (!isBound) return ''
  const resumed = spec.paused ? ' and spec.paused to false' : ''
  return `first set spec.identity.deletionPolicy to Retain${resumed} and wait until this message asks for that no more, since the keys of all replicas would be deleted with the ${kind}; then `
}

/** How the replicas before one that stops all of them go on. */
function withoutIt(ordinal: number): string {
  return ordinal === 0
    ? ''
    : `; or have the replicas before it go on without it: set spec.replicas, or the maximum of what scales it, to ${ordinal} or less`
}

/** Two replicas of one resource with one key. */
function duplicateProblem(
  resource: Workload,
  replicas: readonly ReplicaIdentity[],
  isBound: boolean,
): IdentityProblem | null {
  const first = new Map<string, number>()
  for (const { ordinal, key } of replicas) {
    if (key === null) continue
    const other = first.get(key)
    if (other !== undefined) {
      const secret = childNames(resource).keyring
      const message = `Keys "${other}" and "${ordinal}" of Secret ${secret} are equal, so replicas ${other} and ${ordinal} would have one peer ID: ${anotherKey(resource, ordinal, isBound)}. No pod is touched meanwhile.`
      return { reason: 'DuplicateKey', message }
    }
    first.set(key, ordinal)
  }
  return null
}

/**
 * A replica that has the key of one of another resource. A resource of another namespace is not named: whoever
 * reads this message may have no rights there.
 */
export function sharedKeyProblem(
  resource: Workload,
  replicas: readonly ReplicaIdentity[],
  shared: readonly SharedKey[],
  isBound: boolean = resource.spec.identity.deletionPolicy === 'Delete',
): IdentityProblem | null {
  for (const { holder, fingerprint } of shared) {
    const ordinal = replicas.find(({ key }) => key === fingerprint)?.ordinal
    if (ordinal === undefined) continue
    const secret = childNames(resource).keyring
    const { name, way } = othersWords(resource, holder)
    const message = `Key "${ordinal}" of Secret ${secret} is a key of ${name} too, so replica ${ordinal} would have the peer ID of one there: ${anotherKey(resource, ordinal, isBound)}; ${way}. No pod is touched meanwhile.`
    return { reason: 'DuplicateKey', message }
  }
  return null
}

/** What the message may say of the other resource, and of what can be done about it. */
function othersWords(
  { kind, metadata }: Workload,
  holder: string,
): { readonly name: string; readonly way: string } {
  if (parseKey(holder).namespace === metadata.namespace) {
    return { name: `${kind} ${holder}`, way: 'or delete one of the two' }
  }
  return {
    name: `a ${kind} in another namespace`,
    way: `or delete this ${kind}, or ask your cluster admin, to whom the operator's log names the other one`,
  }
}

function anotherKey(resource: Workload, ordinal: number, isBound: boolean): string {
  const claim = claimName(resource, 'keys', ordinal)
  return `give "${ordinal}" a secret of its own, of at least 32 random characters; where claim ${claim} is there already, ${retainFirst(resource, isBound)}delete it and the ${resource.kind} too, and create the ${resource.kind} again`
}

/** What it means for the others that there is no StatefulSet, which would make an empty claim. */
function othersOf(resource: Workload): string {
  return wantedReplicas(resource) === 1
    ? 'No pod is touched meanwhile, and none is started again.'
    : 'All pods that run go on meanwhile, but the StatefulSet is gone, since it would make an empty claim: until this is mended no replica is started again, moved, scaled or updated, and draining a machine with one of them may be refused.'
}

function fateOf(claim: KeysClaim | null): string {
  if (claim === null) return 'is gone'
  return claim.isTerminating ? 'is being deleted' : 'was replaced by an empty one'
}

function lackOf(
  resource: Workload,
  without: readonly number[],
  secretExists: boolean,
): IdentityLack {
  const name = childNames(resource).keyring
  const keys = without.map((ordinal) => `"${ordinal}"`).join(', ')
  if (secretExists) {
    const message = `Secret ${name} of identity.secretRef lacks ${keys}: add a secret of at least 32 random characters for each, of its own.`
    return { reason: 'KeyMissing', message }
  }
  const { namespace } = resource.metadata
  const values = without.map((ordinal) => `--from-literal=${ordinal}="$(openssl rand -base64 32)"`)
  const message = `Secret ${name} of identity.secretRef does not exist: create it with ${keys}, each a secret of at least 32 random characters of its own, and keep a copy: kubectl create secret generic ${name} --namespace ${namespace} ${values.join(' ')}`
  return { reason: 'SecretMissing', message }
}
