/** A small file system of its own as a volume for pods, where this machine is a node of the cluster. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, expectStatus } from './cluster.ts'
import { testLabels } from './leftovers.ts'

interface NodeVolume {
  /** StorageClass of claims that are bound to it. */
  readonly className: string
  /** Takes all room but a MiB. */
  fill(): void
  /** Gives that room back. */
  makeRoom(): void
  /** Takes the volume away, once nothing uses it. */
  close(): Promise<void>
}

interface Node {
  readonly metadata: { readonly name: string }
  readonly status: { readonly nodeInfo: { readonly machineID: string } }
}

const volumes = '/api/v1/persistentvolumes'
const roomBytes = 1024 * 1024

/** A volume of 64 MiB, or why there can be none. */
export async function openNodeVolume(cluster: Cluster, name: string): Promise<NodeVolume | string> {
  const node = await nodeHere(cluster)
  if (node === null) return 'the cluster has no node on this machine'
  const path = mkdtempSync(join(tmpdir(), 'viewmesh-volume-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=1777', 'tmpfs', path])
  } catch (error) {
    rmdirSync(path)
    return `nothing can be mounted here: ${error}`
  }
  const filler = join(path, 'filler')
  await cluster.apply(`${volumes}/${name}`, volumeAt(path, name, node))
  return {
    className: name,
    fill() {
      const { bavail, bsize } = statfsSync(path)
      writeFileSync(filler, Buffer.alloc(bavail * bsize - roomBytes))
    },
    makeRoom: () => rmSync(filler, { force: true }),
    async close() {
      await cluster.request('DELETE', `${volumes}/${name}`)
      execFileSync('umount', [path])
      rmdirSync(path)
    },
  }
}

/** Name of the node that this machine is; null for none. Names and addresses may be of another network. */
async function nodeHere(cluster: Cluster): Promise<string | null> {
  const { body } = await expectStatus(cluster.request('GET', '/api/v1/nodes'), 200)
  const { items } = body as unknown as { readonly items: readonly Node[] }
  const own = await readFile('/etc/machine-id', 'utf8').catch(() => '')
  const here = items.find(({ status }) => status.nodeInfo.machineID === own.trim())
  return here?.metadata.name ?? null
}

function volumeAt(path: string, name: string, node: string): object {
  const isNode = { key: 'metadata.name', operator: 'In', values: [node] }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, labels: testLabels() },
    spec: {
      capacity: { storage: '64Mi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: name,
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields: [isNode] }] } },
    },
  }
}
