/** What is said of a keyring with which nothing is wrong. */
import type { ReasonOf } from '../../api/conditions.ts'
import type { Workload } from '../../api.ts'
import { childNames, wantedReplicas } from '../../resources/names/names.ts'
import type { Keyring } from '../fetch/keyring.ts'
import type { Statement } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'

/** `IdentityReady`: while no pods are wanted a keyring need not be there, nor have the key of each replica. */
export function keyringStatement(
  resource: Workload,
  { fingerprints }: Pick<Keyring, 'fingerprints'>,
): Statement<ReasonOf<'IdentityReady'>> {
  const { keyring } = childNames(resource)
  const isOwn = resource.spec.identity.secretRef === undefined
  const isResting = wantedReplicas(resource) === 0
  if (isResting && fingerprints.size === 0) {
    return { reason: 'NotNeeded', message: 'No pods are wanted, so no key is needed yet.' }
  }
  const ordinals = [...fingerprints.keys()].toSorted((a, b) => a - b)
  const keys = isResting
    ? `${ordinals.length === 1 ? 'key' : 'keys'} ${listed(ordinals.map((ordinal) => `"${ordinal}"`))}`
    : 'the keys of all replicas'
  return isOwn
    ? { reason: 'KeyringGenerated', message: `Secret ${keyring} has ${keys}: keep a copy of it.` }
    : { reason: 'KeyringProvided', message: `Secret ${keyring} has ${keys}.` }
}
