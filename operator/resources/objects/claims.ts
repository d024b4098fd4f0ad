/**
 * The claims of a StatefulSet. Their templates cannot be changed in place, so they hold nothing that
 * may change but the size; what they do hold needs no write of ours once a claim is there.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { labels, records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { ownerReference, selectorLabels } from '../names/metadata.ts'
import { claimName, type NamedResource, networkOf, type Volume } from '../names/names.ts'

/** `keys` and `data`, in this order. */
export function claimTemplates(resource: Workload): V1PersistentVolumeClaim[] {
  return [claimTemplate(resource, 'keys'), claimTemplate(resource, 'data')]
}

function claimTemplate(resource: Workload, volume: Volume): V1PersistentVolumeClaim {
  const { size, storageClassName } = resource.spec.storage[volume]
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: volume,
      labels: claimLabels(resource, volume),
      annotations: chainRecord(resource),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      ...(storageClassName === undefined ? {} : { storageClassName }),
      resources: { requests: { storage: size } },
    },
  }
}

/** By which claims are found, and distinguished by people. */
export function claimLabels(resource: NamedResource, volume: Volume): Record<string, string> {
  return { ...selectorLabels(resource), [labels.holds]: volume }
}

function chainRecord(resource: Workload): Record<string, string> {
  return { [records.network]: networkOf(resource) }
}

/** Whether claims of a volume go together with the resource. */
export function isClaimOwned({ spec }: Workload, volume: Volume): boolean {
  const { deletionPolicy } = volume === 'keys' ? spec.identity : spec.storage.data
  return deletionPolicy === 'Delete'
}

/** What is applied to a claim that exists. */
interface ClaimFacts {
  /** UID of the claim, so that another one of its name is left alone. */
  readonly uid: string
  /** The larger one of the wanted size and the size it has. */
  readonly size: string
  /** Of the keyring key with which its key directory opens; null on data claims. */
  readonly keyringFingerprint: string | null
  /** Where the store on it began; null on `keys` claims, of Hosts, and while it has no blocks. */
  readonly start: string | null
}

/**
 * What the operator wants of a claim the StatefulSet made, for server-side apply: its size, its labels,
 * the records of chain, keyring and start, and an owner where the spec has it deleted together with the resource.
 */
export function claimApplied(
  resource: Workload,
  volume: Volume,
  ordinal: number,
  { uid, size, keyringFingerprint, start }: ClaimFacts,
): V1PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(resource, volume, ordinal),
      namespace: resource.metadata.namespace,
      uid,
      labels: claimLabels(resource, volume),
      annotations: {
        ...chainRecord(resource),
        ...(keyringFingerprint === null
          ? {}
          : { [records.keyringFingerprint]: keyringFingerprint }),
        ...(start === null ? {} : { [records.start]: start }),
      },
      ...(isClaimOwned(resource, volume) ? { ownerReferences: [ownerReference(resource)] } : {}),
    },
    spec: { resources: { requests: { storage: size } } },
  }
}
