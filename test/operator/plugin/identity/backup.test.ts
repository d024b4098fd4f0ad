import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { backupCommand } from '../../../../operator/plugin/identity/backup-command.ts'
import { parseBackup } from '../../../../operator/plugin/identity/backup-file.ts'
import { createOutput } from '../../../../operator/plugin/text/output.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { backupOf } from '../../support/identity-backup.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import type { Fault } from '../../support/kubernetes-server.ts'
import { runPlugin } from '../../support/plugin-run.ts'
import {
  putKeyring,
  putKeysClaim,
  putReplica,
  running,
  volumesCluster,
} from '../../support/volumes-cluster.ts'

const room = kubernetesRoom()
const wanted = await backupOf(1, 2)
const [first, second] = wanted.replicas
assert.ok(first && second)
const host = readHost('host-minimal')
const hostPath = '/apis/viewmesh.io/v1alpha1/namespaces/apps/hosts/mainnet'
const top = mkdtempSync(join(tmpdir(), 'viewmesh-backup-'))
after(() => rmSync(top, { recursive: true }))
let files = 0
const newFile = (): string => {
  files += 1
  return join(top, `${files}.json`)
}
const crashed = {
  phase: 'Running',
  containerStatuses: [
    { name: 'host', image: '', imageID: '', ready: false, restartCount: 9, state: { waiting: {} } },
  ],
}

/** Host mainnet with so many replicas, each with its whole identity. */
function putHost(
  replicas: number,
  helperStatus = running('keys'),
): ReturnType<typeof volumesCluster> {
  const { server } = room
  const cluster = volumesCluster(server, helperStatus)
  const nodes = wanted.replicas.map(({ ordinal, peerID }) => ({ ordinal, peerID: peerID ?? '' }))
  server.put(hostPath, {
    ...host,
    spec: { ...host.spec, replicas },
    status: { image: 'registry.example.org/host:1', nodes },
  } as KubernetesObject)
  putKeyring(server, wanted.replicas)
  for (const { ordinal, keyFile, keyringFingerprint: mark } of wanted.replicas) {
    putKeysClaim(server, cluster, ordinal, { mark, keyFile })
  }
  return cluster
}

const backUp = (
  cluster: ReturnType<typeof volumesCluster>,
  ...args: readonly string[]
): ReturnType<typeof runPlugin> =>
  runPlugin(room.client, ['backup', 'host/mainnet', ...args], { exec: cluster.exec })

test('all replicas are in a file for its owner alone, which says what it is', async () => {
  const cluster = putHost(2)
  putReplica(room.server, 0)
  putReplica(room.server, 1)
  const file = newFile()
  const { code, stdout, stderr } = await backUp(cluster, '-f', file)
  assert.deepEqual([code, stdout], [0, ''])
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    `${file} holds the identity of Host apps/mainnet: the keys of its keyring and the key files of its volumes.`,
    `  replica 0: signs as ${first.identity}, peer ID ${first.peerID}`,
    `  replica 1: signs as ${second.identity}, peer ID ${second.peerID}`,
    'It is a SECRET: whoever has it can sign and run as these replicas. Keep it encrypted and away from the cluster.',
  ])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const { createdAt: _, ...backup } = await parseBackup(readFileSync(file, 'utf8'), file)
  const { createdAt: __, ...expected } = wanted
  const replicas = wanted.replicas.map((replica) => ({
    ...replica,
    keysClaimUID: cluster.uidOf(`keys-mainnet-host-${replica.ordinal}`),
  }))
  assert.deepEqual(backup, { ...expected, replicas })
  assert.deepEqual(cluster.helpers, [])
})

test('a file that exists is not touched, and the cluster not even asked', async () => {
  const cluster = putHost(1)
  const file = newFile()
  writeFileSync(file, 'something else')
  const { code, stderr } = await backUp(cluster, '-f', file)
  assert.equal(code, 2)
  assert.match(stderr, /it exists already \(PLUGIN_FILE_UNUSABLE\)/)
  assert.equal(readFileSync(file, 'utf8'), 'something else')
  assert.deepEqual(room.server.requests, [])
})

test('it goes to another program without ever being a file', async () => {
  const cluster = putHost(2)
  const { code, stdout, stderr } = await backUp(cluster, '-f', '-')
  assert.equal(code, 0)
  assert.equal((await parseBackup(stdout, '-')).replicas.length, 2)
  assert.match(stderr, /^standard output holds the identity of Host apps\/mainnet/)
})

test('where a program does not run, a pod without rights mounts its claim, beside it, and goes', async () => {
  const cluster = putHost(1)
  putReplica(room.server, 0, crashed)
  const { code } = await backUp(cluster, '-f', newFile())
  assert.equal(code, 0)
  const [beside, anywhere] = cluster.helpers
  assert.equal(beside?.spec?.volumes?.[0]?.persistentVolumeClaim?.claimName, 'keys-mainnet-host-0')
  assert.deepEqual(
    beside?.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms[0]?.matchFields,
    [{ key: 'metadata.name', operator: 'In', values: ['node-7'] }],
  )
  assert.equal(anywhere?.spec?.affinity, undefined)
  for (const { spec, metadata } of cluster.helpers) {
    const [container] = spec?.containers ?? []
    assert.deepEqual([spec?.automountServiceAccountToken, spec?.enableServiceLinks], [false, false])
    assert.equal(spec?.activeDeadlineSeconds, 600)
    assert.equal(container?.image, 'registry.example.org/host:1')
    assert.equal(container?.volumeMounts?.[0]?.readOnly, true)
    assert.equal(room.server.get(`/api/v1/namespaces/apps/pods/${metadata?.name}`), undefined)
  }
})

test('a backup says how large its claims are, and of which class, as far as they do', async () => {
  const cluster = putHost(1)
  const path = '/api/v1/namespaces/apps/persistentvolumeclaims/keys-mainnet-host-0'
  const storageOf = async (spec: object): Promise<unknown> => {
    room.server.put(path, { ...room.server.get(path), spec } as KubernetesObject)
    return JSON.parse((await backUp(cluster, '-f', '-')).stdout).storage
  }
  const resources = { requests: { storage: '3Gi' } }
  assert.deepEqual(await storageOf({ resources }), { size: '3Gi', storageClassName: null })
  const unsized = await storageOf({ storageClassName: 'slow' })
  assert.deepEqual(unsized, { size: '1Gi', storageClassName: 'slow' })
})

test('a keyring of a person is said to be theirs, and a pod without a machine holds no volume', async () => {
  const cluster = putHost(1)
  const { spec, ...rest } = room.server.get(hostPath) as KubernetesObject & Host
  const identity = { ...spec.identity, secretRef: { name: 'my-keys' } }
  const { data } = putKeyring(room.server, wanted.replicas)
  room.server.put('/api/v1/namespaces/apps/secrets/my-keys', { data } as never)
  room.server.remove('/api/v1/namespaces/apps/secrets/mainnet-host-keyring')
  const podTemplate = { spec: { tolerations: [{ key: 'a' }] } }
  room.server.put(hostPath, { ...rest, spec: { ...spec, identity, podTemplate } } as never)
  putReplica(room.server, 0, { phase: 'Pending' })
  const path = '/api/v1/namespaces/apps/pods/mainnet-host-0'
  const pod = room.server.get(path) ?? {}
  room.server.put(path, { ...pod, spec: { nodeSelector: { disk: 'fast' } } } as KubernetesObject)
  const { code, stdout } = await backUp(cluster, '-f', '-')
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(stdout).keyring, { secret: 'my-keys', isOwn: true })
  const [{ spec: helper } = {}, anywhere] = cluster.helpers
  assert.deepEqual([helper?.nodeSelector, helper?.affinity], [{ disk: 'fast' }, undefined])
  assert.deepEqual(anywhere?.spec?.tolerations, [{ key: 'a' }], 'there is no StatefulSet')
})

test('a pod that cannot get its image says so and what to name, and is taken away', async () => {
  const waiting = { reason: 'ErrImagePull', message: 'no such image' }
  const failing = putHost(1, {
    containerStatuses: [
      { name: 'keys', image: '', imageID: '', ready: false, restartCount: 0, state: { waiting } },
    ],
  })
  const { code, stderr } = await backUp(failing, '-f', newFile())
  assert.equal(code, 2)
  assert.match(stderr, /claim keys-mainnet-host-0, does not start: ErrImagePull no such image/)
  assert.match(stderr, /What to do: Name an image .* with --image/)
  const [{ metadata } = {}] = failing.helpers
  assert.equal(room.server.get(`/api/v1/namespaces/apps/pods/${metadata?.name}`), undefined)
})

test('a pod that is never placed says why, whatever else its watch reports', async (t) => {
  const cluster = putHost(1)
  const message = '0/1 nodes are available'
  const conditions = [{ type: 'PodScheduled', status: 'False', message }]
  const unplaced: Fault = ({ path, query }, response) => {
    if (query['watch'] !== 'true' || path !== '/api/v1/namespaces/apps/pods') return false
    const [pod] = cluster.helpers
    const object = { ...pod, status: { phase: 'Pending', conditions } }
    const bookmark = { kind: 'Pod', metadata: { resourceVersion: '9' } }
    response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`)
    response.end(`${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`)
    return true
  }
  room.server.faults.add(unplaced)
  t.after(() => room.server.faults.delete(unplaced))
  putReplica(room.server, 0, crashed)
  const { code, stderr } = await backUp(cluster, '-f', newFile())
  assert.equal(code, 2)
  assert.match(stderr, new RegExp(`claim keys-mainnet-host-0, does not start: ${message}`))
})

test('whoever gives up leaves no pod behind', async () => {
  const cluster = putHost(1)
  const stop = new AbortController()
  const { signal } = stop
  const exec: typeof cluster.exec = () => {
    stop.abort()
    return Promise.reject(signal.reason)
  }
  const args = ['backup', 'host/mainnet', '-f', newFile()]
  const { code, stdout, stderr } = await runPlugin(room.client, args, { exec, signal })
  assert.deepEqual([code, stdout, stderr], [2, '', ''])
  const [{ metadata } = {}] = cluster.helpers
  assert.ok(metadata?.name)
  assert.equal(room.server.get(`/api/v1/namespaces/apps/pods/${metadata.name}`), undefined)
})

for (const [what, spoil, message] of [
  ['a key', () => putKeyring(room.server, [first]), /Secret mainnet-host-keyring has no key "1"/],
  [
    'a claim',
    () => room.server.remove('/api/v1/namespaces/apps/persistentvolumeclaims/keys-mainnet-host-1'),
    /there is no claim keys-mainnet-host-1/,
  ],
  [
    'a key file',
    (cluster: ReturnType<typeof volumesCluster>) =>
      cluster.files.delete(cluster.uidOf('keys-mainnet-host-1') ?? ''),
    /claim keys-mainnet-host-1 has no key file yet/,
  ],
] as const) {
  test(`without ${what} of a replica that is wanted nothing is written`, async () => {
    const cluster = putHost(2)
    spoil(cluster)
    const file = newFile()
    const { code, stderr } = await backUp(cluster, '-f', file)
    assert.equal(code, 2)
    assert.match(stderr, /^error: replica 1 of Host apps\/mainnet has no whole identity: /)
    assert.match(stderr, message)
    assert.equal(statSync(file, { throwIfNoEntry: false }), undefined)
  })
}

test('a key that does not open its key file is noticed while the right one may still be found', async () => {
  const cluster = putHost(1)
  putKeyring(room.server, [{ ...first, key: second.key }, second])
  const { code, stderr } = await backUp(cluster, '-f', newFile())
  assert.equal(code, 2)
  assert.match(stderr, /^error: claim keys-mainnet-host-0: a key file does not open with its key/)
})

test('a replica that is no longer wanted is in it as far as it is whole, else that is reported', async () => {
  const cluster = putHost(1)
  const whole = await backUp(cluster, '-f', '-')
  assert.equal(JSON.parse(whole.stdout).replicas.length, 2)
  putKeyring(room.server, [first])
  const half = await backUp(cluster, '-f', '-')
  assert.deepEqual([half.code, JSON.parse(half.stdout).replicas.length], [0, 1])
  assert.match(half.stderr, /replica 1 is not in it: Secret mainnet-host-keyring has no key "1"/)
})

test('what a deleted Host left is backed up as well, with an image that is named', async () => {
  const cluster = putHost(2)
  room.server.remove(hostPath)
  const refused = await backUp(cluster, '-f', '-')
  assert.match(refused.stderr, /What to do: Name one of a Generator or Host .*--image IMAGE/)
  const image = ['--image', 'registry.example.org/a:2'] as const
  const { code, stdout, stderr } = await backUp(cluster, '-f', '-', ...image)
  assert.equal(code, 0)
  assert.match(stderr, /replica 0: signs as [0-9a-f]{66}, peer ID not known yet\n/)
  const backup = await parseBackup(stdout, '-')
  assert.deepEqual(
    backup.replicas.map(({ identity }) => identity),
    [first.identity, second.identity],
  )
  assert.deepEqual(
    [backup.network, backup.image],
    ['Ethereum__Mainnet', 'registry.example.org/a:2'],
  )
  assert.equal(cluster.helpers[0]?.spec?.containers[0]?.image, 'registry.example.org/a:2')
})

test('of a Host that never was there is nothing to back up', async () => {
  const cluster = volumesCluster(room.server, running('keys'))
  const { code, stderr } = await backUp(cluster, '-f', newFile())
  assert.equal(code, 2)
  assert.match(
    stderr,
    /^error: there is no identity of Host apps\/mainnet \(PLUGIN_IDENTITY_INCOMPLETE\)/,
  )
})

test('of a deleted Host all that is left is needed, and its claims have to say their chain', async () => {
  const cluster = putHost(2)
  room.server.remove(hostPath)
  putKeyring(room.server, [first])
  const image = ['--image', 'registry.example.org/a:2'] as const
  const half = await backUp(cluster, '-f', '-', ...image)
  assert.equal(half.code, 2)
  assert.match(half.stderr, /replica 1 of Host apps\/mainnet has no whole identity: /)
  putKeyring(room.server, wanted.replicas)
  const path = '/api/v1/namespaces/apps/persistentvolumeclaims/keys-mainnet-host-0'
  const { metadata, ...claim } = room.server.get(path) ?? {}
  room.server.put(path, { ...claim, metadata: { ...metadata, annotations: {} } })
  const { code, stderr } = await backUp(cluster, '-f', '-', ...image)
  assert.equal(code, 2)
  assert.match(stderr, /nothing says which chain the claims of Host apps\/mainnet are for/)
})

test('a pod that is being deleted is not asked, and a helper has the image of its StatefulSet', async () => {
  const cluster = putHost(1)
  const spec = {
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'a' }],
    affinity: { podAffinity: {}, nodeAffinity: {} },
    imagePullSecrets: [{ name: 'pull' }],
    containers: [
      { name: 'proxy', image: 'proxy:1' },
      { name: 'host', image: 'registry.example.org/host:7' },
    ],
  }
  room.server.put('/apis/apps/v1/namespaces/apps/statefulsets/mainnet-host', {
    ...{ spec: { template: { spec } } },
  } as KubernetesObject)
  putReplica(room.server, 0)
  const path = '/api/v1/namespaces/apps/pods/mainnet-host-0'
  const { metadata, ...pod } = room.server.get(path) ?? {}
  const deletionTimestamp = '2026-01-01T12:00:00Z'
  room.server.put(path, {
    ...pod,
    metadata: { ...metadata, deletionTimestamp },
  } as KubernetesObject)
  assert.equal((await backUp(cluster, '-f', '-')).code, 0)
  const [beside, anywhere] = cluster.helpers
  assert.equal(beside?.spec?.containers[0]?.image, 'registry.example.org/host:7')
  const { nodeSelector, tolerations, imagePullSecrets } = spec
  const {
    nodeSelector: at,
    tolerations: in_,
    affinity,
    imagePullSecrets: by,
  } = anywhere?.spec ?? {}
  assert.deepEqual(
    [at, in_, affinity, by],
    [nodeSelector, tolerations, { nodeAffinity: {} }, imagePullSecrets],
  )
})

test('a file that cannot be written is named with what the system says', async () => {
  const cluster = putHost(1)
  const file = join(top, 'missing', 'a.json')
  const { code, stderr } = await backUp(cluster, '-f', file)
  assert.equal(code, 2)
  assert.match(stderr, new RegExp(`^error: the backup is not written to ${file}: ENOENT`))
})

test('a backup that is cut off, as the disk is full, leaves no file that looks like one', async (t) => {
  const cluster = putHost(1)
  const file = newFile()
  const probe = await open(file, 'wx')
  await probe.close()
  await unlink(file)
  // A fake: no disk of a test is full. This is what the last step says where one is.
  t.mock.method(Object.getPrototypeOf(probe) as FileHandle, 'sync', () =>
    Promise.reject(new Error('ENOSPC: no space left on device')),
  )
  const { code, stderr } = await backUp(cluster, '-f', file)
  assert.equal(code, 2)
  assert.match(stderr, new RegExp(`^error: the backup is not written to ${file}: ENOSPC`))
  assert.equal(existsSync(file), false)
})

test('a backup is not shown on a terminal, and the cluster not asked for one', async () => {
  const output = {
    ...createOutput({ stdout: new PassThrough(), stderr: new PassThrough() }),
    isTerminal: true,
  }
  const access = { api: room.client.api, namespace: 'apps', exec: putHost(1).exec }
  await assert.rejects(backupCommand(access, 'host/mainnet', { filename: '-' }, output), {
    code: 'PLUGIN_FILE_UNUSABLE',
    message: 'the backup is not written to standard output: it is a terminal',
  })
  assert.deepEqual(room.server.requests, [])
})
