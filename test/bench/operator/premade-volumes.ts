/** Volumes made beforehand, bound by name to the claims that Hosts are going to have. */
import { type Cluster, expectStatus } from '../../support/cluster.ts'
import { benchLabels, selecting } from './fake-nodes.ts'
import { inParallel } from './in-parallel.ts'

export interface PremadeVolumes {
  readonly storageClassName: string
  /** Makes a volume for each of these claims. */
  make(namespace: string, claims: readonly string[]): Promise<void>
  /** Takes them and their class away; the claims have to be gone before. */
  close(): Promise<void>
}

export interface PremadeVolumesParts {
  readonly cluster: Cluster
  readonly signal: AbortSignal
}

const classes = '/apis/storage.k8s.io/v1/storageclasses'
const volumes = '/api/v1/persistentvolumes'
const size = '10Mi'

/** Makes a class without a provisioner; `name` is also label value and prefix, and nobody else's. */
export async function openPremadeVolumes(
  { name }: { readonly name: string },
  { cluster, signal }: PremadeVolumesParts,
): Promise<PremadeVolumes> {
  await expectStatus(cluster.request('POST', classes, { body: classOf(name) }), 201)
  return {
    storageClassName: name,
    make: async (namespace, claims) =>
      await inParallel(claims, signal, async (claim) => {
        const body = volumeOf(name, { namespace, name: claim })
        await expectStatus(cluster.request('POST', volumes, { body }), 201)
      }),
    close: async () => {
      await cluster.request('DELETE', volumes, { query: selecting(name) })
      await cluster.request('DELETE', `${classes}/${name}`)
    },
  }
}

function classOf(name: string): object {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, labels: benchLabels(name) },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'Immediate',
  }
}

function volumeOf(
  name: string,
  claim: { readonly namespace: string; readonly name: string },
): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${name}-${claim.name}`, labels: benchLabels(name) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: size },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...claim },
      hostPath: { path: `/nonexistent/${claim.name}` },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: name,
    },
  }
}
