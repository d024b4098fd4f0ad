/**
 * Volumes made beforehand, for claims of two sizes. They are bound once a pod needs them, as volumes of most
 * classes are: the scheduler does that for many pods at once.
 */
import { type Cluster, expectStatus } from '../../e2e/cluster/support/cluster.ts'
import { benchLabels, selecting } from './fake-nodes.ts'
import { inParallel } from './in-parallel.ts'

export interface PremadeVolumes {
  readonly storageClassName: string
  /** Makes so many volumes of this size. */
  make(size: string, count: number): Promise<void>
  /** Takes them and their class away; the claims have to be gone before. */
  close(): Promise<void>
}

interface PremadeVolumesParts {
  readonly cluster: Cluster
  readonly signal: AbortSignal
}

const classes = '/apis/storage.k8s.io/v1/storageclasses'
const volumes = '/api/v1/persistentvolumes'

/** Makes a class without a provisioner; `name` is also label value and prefix, and nobody else's. */
export async function openPremadeVolumes(
  { name }: { readonly name: string },
  { cluster, signal }: PremadeVolumesParts,
): Promise<PremadeVolumes> {
  await expectStatus(cluster.request('POST', classes, { body: classOf(name) }), 201)
  return {
    storageClassName: name,
    make: async (size, count) => {
      const numbers = Array.from({ length: count }, (_, number) => number)
      await inParallel(numbers, signal, async (number) => {
        const body = volumeOf(name, size, number)
        await expectStatus(cluster.request('POST', volumes, { body }), 201)
      })
    },
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
    volumeBindingMode: 'WaitForFirstConsumer',
  }
}

function volumeOf(name: string, size: string, number: number): object {
  const suffix = `${size.toLowerCase()}-${number}`
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${name}-${suffix}`, labels: benchLabels(name) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: size },
      hostPath: { path: `/nonexistent/${suffix}` },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: name,
    },
  }
}
