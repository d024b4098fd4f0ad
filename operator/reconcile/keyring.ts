/**
 * The keyring Secret at the API server: reads fingerprints, makes keys. Values stay in here; what
 * leaves are fingerprints.
 */
import { randomBytes } from 'node:crypto'
import type { V1Secret } from '@kubernetes/client-node'
import type { Resource } from '../api.ts'
import {
  addKeys,
  type KeyringKeys,
  keyringFingerprint,
  keyringSecret,
  type PatchOperation,
} from '../resources/keyring-secret.ts'
import { looseOwner } from '../resources/metadata.ts'
import { childNames } from '../resources/names.ts'
import { secretValue } from '../resources/secret.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import { builtinTypes, type ObjectAddress } from '../runtime/resource-type.ts'

/** A keyring without its values. */
export interface Keyring {
  readonly exists: boolean
  /** Fingerprints by ordinal. */
  readonly fingerprints: ReadonlyMap<number, string>
  /** Whether it goes together with the resource. */
  readonly isOwned: boolean
}

/** Fingerprints that were computed before, by UID and resourceVersion: stretching takes 50 ms a key. */
export type FingerprintCache = Map<string, ReadonlyMap<number, string>>

/** Reads the Secret. */
export async function readKeyring(
  api: KubernetesApi,
  resource: Resource,
  cache: FingerprintCache,
  signal: AbortSignal,
): Promise<Keyring> {
  return await toKeyring(resource, await findSecret(api, resource, signal), cache)
}

/**
 * Makes keys for those of these ordinals that have none, and answers the keyring there is then. Throws
 * OPERATOR_API_EXISTS or OPERATOR_API_CONFLICT where somebody else wrote the Secret meanwhile; whoever
 * tries again then finds what they wrote.
 */
export async function generateKeys(
  api: KubernetesApi,
  resource: Resource,
  { exists, ordinals }: { readonly exists: boolean; readonly ordinals: readonly number[] },
  cache: FingerprintCache,
  signal: AbortSignal,
): Promise<Keyring> {
  const secret = exists ? await findSecret(api, resource, signal) : null
  const missing = ordinals.filter(
    (ordinal) => secret === null || secretValue(secret, String(ordinal)) === undefined,
  )
  const keys: KeyringKeys = new Map(
    missing.map((ordinal) => [ordinal, randomBytes(32).toString('base64url')]),
  )
  if (secret === null) {
    const created = await api.create(builtinTypes.Secret, keyringSecret(resource, keys))
    return await toKeyring(resource, created, cache)
  }
  if (keys.size === 0) return await toKeyring(resource, secret, cache)
  const operations = addKeys(secret, keys)
  const patched = await api.patch<V1Secret>(addressOf(resource), operations, { type: 'json' })
  return await toKeyring(resource, patched, cache)
}

async function findSecret(
  api: KubernetesApi,
  resource: Resource,
  signal: AbortSignal,
): Promise<V1Secret | null> {
  return await api.find<V1Secret>(addressOf(resource), { signal })
}

async function toKeyring(
  resource: Resource,
  secret: V1Secret | null,
  cache: FingerprintCache,
): Promise<Keyring> {
  if (secret === null) return { exists: false, fingerprints: new Map(), isOwned: false }
  const fingerprints = await fingerprintsOf(secret, cache)
  return { exists: true, fingerprints, isOwned: isOwnedBy(secret, resource) }
}

/** Sets or removes the reference by which a generated Secret goes together with the resource. */
export async function followPolicy(
  api: KubernetesApi,
  resource: Resource,
  signal: AbortSignal,
): Promise<void> {
  const secret = await findSecret(api, resource, signal)
  if (secret === null) return
  const patch = ownerPatch(resource, secret, isToBeOwned(resource))
  await api.patch(addressOf(resource), patch, { type: 'json', signal })
}

/** Whether the Secret goes together with the resource; one of the user's own never does. */
export function isToBeOwned({ spec }: Resource): boolean {
  const { secretRef, deletionPolicy } = spec.identity
  return secretRef === undefined && deletionPolicy === 'Delete'
}

function isOwnedBy({ metadata }: V1Secret, resource: Resource): boolean {
  return (metadata?.ownerReferences ?? []).some(({ uid }) => uid === resource.metadata.uid)
}

function ownerPatch(resource: Resource, secret: V1Secret, owned: boolean): PatchOperation[] {
  const owners = (secret.metadata?.ownerReferences ?? []).filter(
    ({ uid }) => uid !== resource.metadata.uid,
  )
  const value = owned ? [...owners, looseOwner(resource)] : owners
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: secret.metadata?.resourceVersion },
    { op: 'add', path: '/metadata/ownerReferences', value },
  ]
}

function addressOf(resource: Resource): ObjectAddress {
  return {
    type: builtinTypes.Secret,
    namespace: resource.metadata.namespace,
    name: childNames(resource).keyring,
  }
}

const maxCached = 4_096

async function fingerprintsOf(
  secret: V1Secret,
  cache: FingerprintCache,
): Promise<ReadonlyMap<number, string>> {
  const version = `${secret.metadata?.uid}/${secret.metadata?.resourceVersion}`
  const before = cache.get(version)
  if (before !== undefined) return before
  const found = new Map<number, string>()
  for (const name of Object.keys(secret.data ?? {})) {
    const value = /^(0|[1-9]\d?)$/.test(name) ? secretValue(secret, name) : undefined
    if (value !== undefined) found.set(Number(name), await keyringFingerprint(value))
  }
  if (cache.size >= maxCached) cache.clear()
  cache.set(version, found)
  return found
}
