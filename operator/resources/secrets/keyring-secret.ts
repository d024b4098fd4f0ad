/**
 * The keyring Secret: one key for each replica, under its ordinal. Each is written once, before its
 * replica exists, and never changed or removed by the operator.
 */
import { createHmac, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { V1ObjectMeta, V1Secret } from '@kubernetes/client-node'
import { labels } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { keptMetadata, ownerReference } from '../names/metadata.ts'
import { childNames, type NamedResource } from '../names/names.ts'
import { opaqueSecret, toBase64 } from '../names/secret.ts'

/** Keys by ordinal. */
export type KeyringKeys = ReadonlyMap<number, string>

/** An operation of a JSON patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'add' | 'remove'
  readonly path: string
  readonly value?: unknown
}

/**
 * The Secret as it is created. It has no owner, so that it outlives the resource, unless the spec has
 * the identity deleted with it.
 */
export function keyringSecret(resource: Workload, keys: KeyringKeys): V1Secret {
  const owned = resource.spec.identity.deletionPolicy === 'Delete'
  return opaqueSecret(
    {
      ...keyringMetadata(resource, childNames(resource).keyring),
      ...(owned ? { ownerReferences: [ownerReference(resource)] } : {}),
    },
    Object.fromEntries([...keys].map(([ordinal, key]) => [String(ordinal), key])),
  )
}

/** Its metadata without an owner, by which people find it and know what it is. */
export function keyringMetadata(resource: NamedResource, name: string): V1ObjectMeta {
  const kept = keptMetadata(resource, name)
  return {
    ...kept,
    labels: { ...kept.labels, [labels.holds]: 'keyring' },
    annotations: {
      'viewmesh.io/backup': `Keep a copy of this Secret and of the keys volumes: the identity of ${resource.kind} ${resource.metadata.name} cannot be made again.`,
    },
  }
}

/**
 * Adds keys to the Secret, if it still is as it was read: a key that others added meanwhile is
 * never written over.
 */
export function addKeys(secret: V1Secret, keys: KeyringKeys): PatchOperation[] {
  const version = secret.metadata?.resourceVersion
  const data = secret.data === undefined ? [{ op: 'add' as const, path: '/data', value: {} }] : []
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: version },
    ...data,
    ...[...keys].map(
      ([ordinal, key]): PatchOperation => ({
        op: 'add',
        path: `/data/${ordinal}`,
        value: toBase64(key),
      }),
    ),
  ]
}

const fingerprintLabel = 'viewmesh/keyring-fingerprint/1'
/** What the operator generates: 32 random bytes in base64url. */
const generatedKey = /^[A-Za-z0-9_-]{43}$/
const stretch = promisify<string, string, number, object, Buffer>(scrypt)
const stretching = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1_024 * 1_024 }

/**
 * A short fingerprint of a key, 16 hex digits. It may be read by many, so it must not help to guess a
 * key: what a person may have thought up is stretched, 256 random bits need no stretching.
 */
export async function keyringFingerprint(key: string): Promise<string> {
  const trimmed = key.replace(/[\r\n]+$/, '')
  const digest = generatedKey.test(trimmed)
    ? createHmac('sha256', trimmed).update(fingerprintLabel).digest()
    : await stretch(trimmed, fingerprintLabel, 32, stretching)
  return digest.toString('hex').slice(0, 16)
}
