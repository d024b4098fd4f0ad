/**
 * The keyring Secret at the API server: reads fingerprints, makes keys. Values stay in here; what
 * leaves are fingerprints.
 */
import { randomBytes } from 'node:crypto'
import type { V1Secret } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { secretValue } from '../../resources/names/secret.ts'
import {
  addKeys,
  type KeyringKeys,
  keyringFingerprint,
  keyringSecret,
} from '../../resources/secrets/keyring-secret.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { builtinTypes, type ObjectAddress } from '../../runtime/client/resource-type.ts'
import { isOfFormer, isOwnedBy } from '../statements/ownership.ts'
import { terminatingError } from './secrets.ts'

/** A keyring without its values. */
export interface Keyring {
  readonly exists: boolean
  /** Fingerprints by ordinal. */
  readonly fingerprints: ReadonlyMap<number, string>
  /** Whether it goes together with the resource. */
  readonly isOwned: boolean
  /** When the Secret was created, in milliseconds since 1970; null for none. */
  readonly createdMs: number | null
}

/** Fingerprints that were computed before, by UID and resourceVersion: stretching takes 50 ms a key. */
export type FingerprintCache = Map<string, ReadonlyMap<number, string>>

/** Reads the Secret. Throws OPERATOR_TERMINATING where it is that of a deleted resource. */
export async function readKeyring(
  api: KubernetesApi,
  resource: Workload,
  cache: FingerprintCache,
  signal: AbortSignal,
): Promise<Keyring> {
  const secret = await findSecret(api, resource, signal)
  if (secret !== null) expectKeyringNotTerminating(resource, secret)
  return await toKeyring(resource, secret, cache)
}

/**
 * Generates keys for those of these ordinals that have none, and returns the keyring there is then. Throws
 * OPERATOR_API_EXISTS or OPERATOR_API_CONFLICT where others wrote the Secret meanwhile; the next attempt
 * finds what they wrote.
 */
export async function generateKeys(
  api: KubernetesApi,
  resource: Workload,
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
  resource: Workload,
  signal: AbortSignal,
): Promise<V1Secret | null> {
  return await api.find<V1Secret>(addressOf(resource), { signal })
}

async function toKeyring(
  resource: Workload,
  secret: V1Secret | null,
  cache: FingerprintCache,
): Promise<Keyring> {
  if (secret === null)
    return { exists: false, fingerprints: new Map(), isOwned: false, createdMs: null }
  const fingerprints = await fingerprintsOf(secret, cache)
  const isOwned = isOwnedBy(resource, secret.metadata?.ownerReferences ?? [])
  const createdMs = timeOf(secret.metadata?.creationTimestamp)
  return { exists: true, fingerprints, isOwned, createdMs }
}

function addressOf(resource: Workload): ObjectAddress {
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

/** Throws OPERATOR_TERMINATING where the keyring Secret is terminating. */
function expectKeyringNotTerminating(resource: Workload, { metadata }: V1Secret): void {
  const isTerminating =
    metadata?.deletionTimestamp !== undefined && knownOrdinals(resource).length === 0
  if (isTerminating || isOfFormer(resource, metadata?.ownerReferences ?? [])) {
    throw terminatingError('Secret', metadata?.name ?? '')
  }
}

/** Replicas that this very resource had: what goes of theirs is lost, and nothing to wait for. */
export function knownOrdinals({ status }: Workload): number[] {
  return (status?.nodes ?? []).flatMap(({ ordinal, keyringFingerprint }) =>
    keyringFingerprint === undefined ? [] : [ordinal],
  )
}
