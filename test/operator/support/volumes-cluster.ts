/** A stand-in for a cluster with volumes: pods that are created run at once, and commands in them find key files. */
import type { V1Pod, V1Secret } from '@kubernetes/client-node'
import { labels, records } from '../../../operator/api/annotations.ts'
import type { ContainerExec } from '../../../operator/plugin/cluster/exec.ts'
import type { IdentityBackup } from '../../../operator/plugin/identity/backup-file.ts'
import { opaqueSecret } from '../../../operator/resources/names/secret.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import type { KubernetesServer } from './kubernetes-server.ts'

interface VolumesCluster {
  readonly exec: ContainerExec
  /** Key files by the UID of their claim. */
  readonly files: Map<string, string>
  /** Pods that were created. */
  readonly helpers: V1Pod[]
  /** UID of a claim; undefined where there is none. */
  uidOf(claim: string): string | undefined
}

const folder = '/api/v1/namespaces/apps'

/** `status` is what becomes of pods that are created; default is that they run. */
export function volumesCluster(
  server: KubernetesServer,
  status: NonNullable<V1Pod['status']> = running('keys'),
): VolumesCluster {
  const files = new Map<string, string>()
  const helpers: V1Pod[] = []
  server.faults.add(({ method, path, body }) => {
    if (method !== 'POST' || path !== `${folder}/pods`) return false
    const pod = body as V1Pod & KubernetesObject
    helpers.push(pod)
    setImmediate(() =>
      server.put(`${path}/${pod.metadata?.name}`, { ...pod, status } as KubernetesObject),
    )
    return false
  })
  const uidOf = (claim: string): string | undefined =>
    server.get(`${folder}/persistentvolumeclaims/${claim}`)?.metadata?.uid
  const exec: ContainerExec = async ({ pod }, command, { stdin } = {}) => {
    const found = server.get(`${folder}/pods/${pod}`) as V1Pod | undefined
    const claim = found?.spec?.volumes?.[0]?.persistentVolumeClaim?.claimName ?? ''
    const uid = uidOf(claim) ?? ''
    const isRight = command.some((word) => word.includes('"/app/.viewmesh/keys/host.json"'))
    if (!isRight) return { exitCode: 1, stdout: '', stderr: 'Error: another path' }
    if (stdin === undefined) {
      const file = files.get(uid)
      return { exitCode: file === undefined ? 44 : 0, stdout: file ?? '', stderr: '' }
    }
    if (found?.spec?.containers[0]?.volumeMounts?.some(({ readOnly }) => readOnly))
      return { exitCode: 1, stdout: '', stderr: 'Error: EROFS: read-only file system' }
    if (files.has(uid)) return { exitCode: 45, stdout: '', stderr: '' }
    files.set(uid, stdin)
    return { exitCode: 0, stdout: '', stderr: '' }
  }
  return { exec, files, helpers, uidOf }
}

export function running(container: string): NonNullable<V1Pod['status']> {
  const state = { running: {} }
  return {
    phase: 'Running',
    containerStatuses: [
      { name: container, image: '', imageID: '', ready: true, restartCount: 0, state },
    ],
  }
}

/** Puts a claim of Host mainnet there, with a key file where there is one. */
export function putKeysClaim(
  server: KubernetesServer,
  { files, uidOf }: VolumesCluster,
  ordinal: number,
  { mark, keyFile }: { readonly mark?: string; readonly keyFile?: string },
): string {
  const name = `keys-mainnet-host-${ordinal}`
  server.put(`${folder}/persistentvolumeclaims/${name}`, {
    metadata: {
      labels: { [labels.name]: 'host', [labels.instance]: 'mainnet', [labels.holds]: 'keys' },
      annotations: {
        [records.network]: 'Ethereum__Mainnet',
        ...(mark === undefined ? {} : { [records.keyringFingerprint]: mark }),
      },
    },
    spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
    status: { phase: 'Bound' },
  } as KubernetesObject)
  const uid = uidOf(name) ?? ''
  if (keyFile !== undefined) files.set(uid, keyFile)
  return uid
}

/** Puts the keyring there, with the keys of these replicas. */
export function putKeyring(
  server: KubernetesServer,
  replicas: IdentityBackup['replicas'],
): V1Secret {
  const name = 'mainnet-host-keyring'
  const keys = Object.fromEntries(replicas.map(({ ordinal, key }) => [String(ordinal), key]))
  const secret = opaqueSecret({ name, namespace: 'apps' }, keys)
  return server.put(`${folder}/secrets/${name}`, secret as KubernetesObject) as V1Secret
}

/** A pod of Host mainnet that runs, or is so. */
export function putReplica(
  server: KubernetesServer,
  ordinal: number,
  status: NonNullable<V1Pod['status']> = running('host'),
): void {
  const claimName = `keys-mainnet-host-${ordinal}`
  server.put(`${folder}/pods/mainnet-host-${ordinal}`, {
    metadata: { labels: { [labels.name]: 'host', [labels.instance]: 'mainnet' } },
    spec: { nodeName: 'node-7', volumes: [{ name: 'keys', persistentVolumeClaim: { claimName } }] },
    status,
  } as KubernetesObject)
}
