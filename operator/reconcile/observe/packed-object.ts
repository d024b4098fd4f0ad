/**
 * Objects of ours as they are kept in memory: deflated JSON, a tenth of what the object would take.
 * They are unpacked only to be compared with what is wanted.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'

/** An object without its status, deflated, and what is asked of it often. */
export interface PackedObject {
  /** One character for each byte: a buffer would cost more than most objects take. */
  readonly packed: string
  readonly ownerUIDs: readonly string[]
  /** True while it is being deleted. */
  readonly isTerminating: boolean
}

interface AnyObject extends KubernetesObject {
  readonly status?: unknown
  readonly metadata?: KubernetesObject['metadata'] & {
    readonly ownerReferences?: readonly { readonly uid: string }[]
    readonly deletionTimestamp?: unknown
  }
}

/** Small windows and chunks: each call takes 32 KiB of memory for a moment instead of 280. */
const deflating = { level: 1, windowBits: 12, memLevel: 5, chunkSize: 4_096 }

export function packObject({ status, ...rest }: AnyObject): PackedObject {
  return {
    packed: deflateRawSync(JSON.stringify(rest), deflating).toString('latin1'),
    ownerUIDs: (rest.metadata?.ownerReferences ?? []).map(({ uid }) => uid),
    isTerminating: rest.metadata?.deletionTimestamp !== undefined,
  }
}

/** A reconcile reads the same few objects several times. */
const maxUnpacked = 32
const unpacked = new Map<PackedObject, KubernetesObject>()

/** The object again, without its status; not to be changed. */
export function unpackObject<T extends KubernetesObject>(object: PackedObject): T {
  const known = unpacked.get(object) ?? inflate(object)
  unpacked.delete(object)
  unpacked.set(object, known)
  const [oldest] = unpacked.size > maxUnpacked ? unpacked.keys() : []
  if (oldest !== undefined) unpacked.delete(oldest)
  return known as T
}

function inflate({ packed }: PackedObject): KubernetesObject {
  return JSON.parse(inflateRawSync(Buffer.from(packed, 'latin1')).toString('utf8'))
}
