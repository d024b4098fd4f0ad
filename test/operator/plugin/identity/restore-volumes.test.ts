/** Which claims a restore makes, of which class, and with which image it mounts them. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { backupOf } from '../../support/identity-backup.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { mainnetPath, restoreOf } from '../../support/restore-run.ts'
import { putKeysClaim, volumesCluster } from '../../support/volumes-cluster.ts'

const room = kubernetesRoom()
const backup = await backupOf(1)
const host = readHost('host-minimal')
const claimPath = '/api/v1/namespaces/apps/persistentvolumeclaims/keys-mainnet-host-0'
const classes = '/apis/storage.k8s.io/v1/storageclasses'
const ofBackup = 'Volumes are mounted by pods of the image that the backup names'

const restore = restoreOf(room, backup)

/** Class and size of the claim that was made. */
function made(): readonly unknown[] {
  const { spec } = room.server.get(claimPath) as V1PersistentVolumeClaim & KubernetesObject
  return [spec?.storageClassName, spec?.resources?.requests?.['storage']]
}

function refuse(start: string, code: number, reason: string): void {
  room.server.faults.add(({ path }, response) => {
    if (!path.startsWith(start)) return false
    send(response, code, status(code, reason, 'no'))
    return true
  })
}

/** The Host with this in its spec for the claims with keys. */
function putHost(keys: object = {}): void {
  const storage = { ...host.spec.storage, keys: { ...host.spec.storage.keys, ...keys } }
  const spec = { ...host.spec, storage }
  const at = { image: 'registry.example.org/host:2' }
  room.server.put(mainnetPath('apps'), { ...host, spec, status: at } as KubernetesObject)
}

beforeEach(() => void room.server.put(`${classes}/fast`, {}))

test('a claim is made of the class and size of the backup, or those of the Host that is there', async () => {
  await restore(volumesCluster(room.server))
  assert.deepEqual(made(), ['fast', '1Gi'])
  room.server.remove(claimPath)
  putHost({ storageClassName: 'slow', size: '3Gi' })
  await restore(volumesCluster(room.server))
  assert.deepEqual(made(), ['slow', '3Gi'])
  room.server.remove(claimPath)
  await restore(volumesCluster(room.server), backup, '--storage-class', 'named')
  assert.deepEqual(made(), ['named', '3Gi'])
})

test('of a backup without a class the claim has none, and nobody is asked for one', async () => {
  refuse(classes, 422, 'Invalid')
  const replicas = backup.replicas.map((replica) => ({ ...replica, peerID: null }))
  const none = { ...backup, replicas, storage: { size: '1Gi', storageClassName: null } }
  const { code, stderr } = await restore(volumesCluster(room.server), none)
  assert.equal(code, 0)
  assert.match(stderr, /signs as [0-9a-f]{66}, peer ID as before\n/)
  assert.deepEqual(made(), [undefined, '1Gi'])
})

test('whether a class exists is asked only where a claim of it is made', async () => {
  refuse(classes, 422, 'Invalid')
  const cluster = volumesCluster(room.server)
  assert.match((await restore(cluster)).stderr, /OPERATOR_API_INVALID/)
  const [replica] = backup.replicas
  const mark = replica?.keyringFingerprint ?? ''
  putKeysClaim(room.server, cluster, 0, { mark, keyFile: replica?.keyFile ?? '' })
  assert.equal((await restore(cluster)).code, 0)
})

test('whether the class of a backup exists is not asked where a flag or the Host names another', async () => {
  refuse(classes, 422, 'Invalid')
  const named = ['--storage-class', 'named'] as const
  assert.equal((await restore(volumesCluster(room.server), backup, ...named)).code, 0)
  room.server.remove(claimPath)
  putHost()
  assert.equal((await restore(volumesCluster(room.server))).code, 0)
})

test('where classes may not be seen a claim is made all the same', async () => {
  refuse(classes, 403, 'Forbidden')
  assert.equal((await restore(volumesCluster(room.server))).code, 0)
  assert.deepEqual(made(), ['fast', '1Gi'])
})

test('the image of a helper is that of the flag, of the Host, or else of the backup, as is said', async () => {
  const mounted = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const cluster = volumesCluster(room.server)
    const { code, stderr } = await restore(cluster, backup, ...args)
    assert.equal(code, 0, stderr)
    return [cluster.helpers[0]?.spec?.containers[0]?.image, stderr.includes(ofBackup)]
  }
  assert.deepEqual(await mounted(), ['registry.example.org/host:1', true])
  room.server.remove(claimPath)
  assert.deepEqual(await mounted('--image', 'other:3'), ['other:3', false])
  room.server.remove(claimPath)
  putHost()
  assert.deepEqual(await mounted(), ['registry.example.org/host:2', false])
})

test('a backup that names no image needs one, and nothing is made without it but the claim', async () => {
  const cluster = volumesCluster(room.server)
  const { code, stderr } = await restore(cluster, { ...backup, image: null })
  assert.equal(code, 2)
  assert.match(stderr, /^error: no image is known for the pod that mounts the claim/)
  assert.deepEqual(cluster.helpers, [])
})

test('a volume that does not keep what is written to it is not used', async () => {
  const cluster = volumesCluster(room.server)
  const exec: typeof cluster.exec = async (...given) => {
    const result = await cluster.exec(...given)
    return { ...result, stdout: `${result.stdout}?` }
  }
  const { code, stderr } = await restore({ ...cluster, exec })
  assert.equal(code, 2)
  assert.match(stderr, /claim keys-mainnet-host-0 does not keep what is written to it/)
  assert.equal(room.server.get('/api/v1/namespaces/apps/secrets/mainnet-host-keyring'), undefined)
})

test('where other namespaces may not be seen that is said, and the own one is read', async () => {
  refuse('/apis/viewmesh.io/v1alpha1/hosts', 403, 'Forbidden')
  const [replica] = backup.replicas
  const metadata = { ...host.metadata, name: 'second' }
  const nodes = [{ ordinal: 0 }, { ordinal: 1, keyringFingerprint: replica?.keyringFingerprint }]
  const path = mainnetPath('apps').replace('mainnet', 'second')
  room.server.put(path, { ...host, metadata, status: { nodes } } as KubernetesObject)
  const unseen =
    /Whether this identity runs in another namespace could not be seen: make sure that it does not\./
  const refused = await restore(volumesCluster(room.server))
  assert.match(refused.stderr, unseen)
  assert.match(refused.stderr, /Host apps\/second has this identity: delete it first/)
  room.server.remove(path)
  const { code, stderr } = await restore(volumesCluster(room.server))
  assert.equal(code, 0)
  assert.match(stderr, unseen)
})
