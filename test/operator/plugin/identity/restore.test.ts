import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Secret } from '@kubernetes/client-node'
import { labels, records } from '../../../../operator/api/annotations.ts'
import { secretValue } from '../../../../operator/resources/names/secret.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { backupOf, otherBackup } from '../../support/identity-backup.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { mainnetPath, restoreOf } from '../../support/restore-run.ts'
import {
  putKeyring,
  putKeysClaim,
  putReplica,
  volumesCluster,
} from '../../support/volumes-cluster.ts'

const room = kubernetesRoom()
const backup = await backupOf(1, 2)
const [first, second] = backup.replicas
const [other] = otherBackup.replicas
assert.ok(first && second && other)
const host = readHost('host-minimal')
const claimPath = (ordinal: number): string =>
  `/api/v1/namespaces/apps/persistentvolumeclaims/keys-mainnet-host-${ordinal}`
const secretPath = '/api/v1/namespaces/apps/secrets/mainnet-host-keyring'
const classPath = '/apis/storage.k8s.io/v1/storageclasses/fast'

const restore = restoreOf(room, backup)

const keysNow = (): Record<string, string | undefined> => {
  const secret = room.server.get(secretPath) as V1Secret | undefined
  return Object.fromEntries(
    Object.keys(secret?.data ?? {}).map((name) => [name, secretValue(secret ?? {}, name)]),
  )
}
const writes = (): string[] =>
  room.server.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path, body }) => {
      const { kind, metadata } = (body ?? {}) as KubernetesObject
      const name =
        kind === 'Pod' || path.includes('/pods/')
          ? 'helper'
          : (metadata?.name ?? path.split('/').at(-1))
      return `${method} ${name}`
    })

test('into an empty namespace all of it is made, and a replica can start only at the very end', async () => {
  room.server.put(classPath, {})
  const cluster = volumesCluster(room.server)
  const { code, stdout, stderr } = await restore(cluster)
  assert.deepEqual(
    [code, stdout],
    [
      0,
      [
        'claim keys-mainnet-host-0: made, with the key file of replica 0',
        'claim keys-mainnet-host-1: made, with the key file of replica 1',
        'Secret mainnet-host-keyring: keys "0", "1" written',
        '',
      ].join('\n'),
    ],
  )
  const image = /^Volumes are mounted by pods of the image that the backup names: \S+\/host:1\n/
  assert.match(stderr, image)
  assert.match(stderr, /Now create Host mainnet in namespace apps\./)
  assert.match(stderr, /Make sure that it runs nowhere else/)
  assert.deepEqual(writes(), [
    ...['POST keys-mainnet-host-0', 'POST helper', 'DELETE helper', 'PATCH keys-mainnet-host-0'],
    ...['POST keys-mainnet-host-1', 'POST helper', 'DELETE helper', 'PATCH keys-mainnet-host-1'],
    'POST mainnet-host-keyring',
  ])
  for (const { ordinal, keyFile, keyringFingerprint } of backup.replicas) {
    const claim = room.server.get(claimPath(ordinal))
    assert.equal(cluster.files.get(claim?.metadata?.uid ?? ''), keyFile)
    assert.deepEqual(claim?.metadata?.annotations, {
      [records.network]: 'Ethereum__Mainnet',
      [records.keyringFingerprint]: keyringFingerprint,
    })
    assert.equal(claim?.metadata?.labels?.[labels.holds], 'keys')
  }
  assert.deepEqual(keysNow(), { 0: first.key, 1: second.key })
  const { metadata } = room.server.get(secretPath) ?? {}
  assert.equal(metadata?.labels?.[labels.holds], 'keyring')
})

test('a claim has no mark before its key file is there, so that no operator starts on it', async () => {
  room.server.put(classPath, {})
  const cluster = volumesCluster(room.server)
  const marks: unknown[] = []
  const exec: typeof cluster.exec = async (...given) => {
    marks.push(room.server.get(claimPath(0))?.metadata?.annotations?.[records.keyringFingerprint])
    return await cluster.exec(...given)
  }
  await restore({ ...cluster, exec }, await backupOf(1))
  assert.deepEqual(marks, [undefined, undefined])
})

test('where all of it is there, nothing is made', async () => {
  const cluster = volumesCluster(room.server)
  const nodes = backup.replicas.map(({ ordinal, keyringFingerprint }) => ({
    ...{ ordinal, keyringFingerprint },
  }))
  room.server.put(mainnetPath('apps'), { ...host, status: { nodes } } as KubernetesObject)
  putKeyring(room.server, backup.replicas)
  for (const { ordinal, keyFile, keyringFingerprint: mark } of backup.replicas) {
    putKeysClaim(room.server, cluster, ordinal, { mark, keyFile })
    putReplica(room.server, ordinal)
  }
  const { code, stdout } = await restore(cluster)
  assert.equal(code, 0)
  assert.match(stdout, /^claim keys-mainnet-host-0: has the key file of replica 0\n/)
  assert.doesNotMatch(stdout, /Secret/)
  assert.deepEqual(writes(), ['PATCH keys-mainnet-host-0', 'PATCH keys-mainnet-host-1'])
})

test('a restore that ended half way goes on where it was', async () => {
  room.server.put(classPath, {})
  const cluster = volumesCluster(room.server)
  const exec: typeof cluster.exec = async (...given) => {
    if (cluster.helpers.length === 2) throw new Error('the connection broke')
    return await cluster.exec(...given)
  }
  assert.equal((await restore({ ...cluster, exec })).code, 2)
  assert.equal(room.server.get(secretPath), undefined)
  assert.equal(
    room.server.get(claimPath(1))?.metadata?.annotations?.[records.keyringFingerprint],
    undefined,
  )
  assert.equal((await restore(cluster)).code, 0)
  assert.deepEqual(keysNow(), { 0: first.key, 1: second.key })
  assert.equal(cluster.files.get(cluster.uidOf('keys-mainnet-host-1') ?? ''), second.keyFile)
})

test('a keyring gets the keys it lacks, and keeps the others', async () => {
  const cluster = volumesCluster(room.server)
  putKeyring(room.server, [first, { ...second, ordinal: 7 }])
  for (const { ordinal, keyFile, keyringFingerprint: mark } of backup.replicas) {
    putKeysClaim(room.server, cluster, ordinal, { mark, keyFile })
  }
  const { code, stdout } = await restore(cluster)
  assert.equal(code, 0)
  assert.match(stdout, /Secret mainnet-host-keyring: keys "1" written/)
  assert.deepEqual(keysNow(), { 0: first.key, 1: second.key, 7: second.key })
})

test('a Secret of a person gets no label by which an operator would count it as its own', async () => {
  room.server.put(classPath, {})
  const cluster = volumesCluster(room.server)
  const own = { ...(await backupOf(1)), keyring: { secret: 'my-keys', isOwn: true } }
  assert.equal((await restore(cluster, own)).code, 0)
  const made = room.server.get('/api/v1/namespaces/apps/secrets/my-keys')
  assert.equal(made?.metadata?.labels, undefined)
  assert.equal(secretValue(made as V1Secret, '0'), first.key)
})

test('an empty claim that a person made is filled, wherever its volume is', async () => {
  const cluster = volumesCluster(room.server)
  room.server.put(claimPath(0), { metadata: { name: 'keys-mainnet-host-0' } })
  const uid = cluster.uidOf('keys-mainnet-host-0') ?? ''
  const { code, stdout } = await restore(cluster, await backupOf(1), '--storage-class', 'any')
  assert.equal(code, 0)
  assert.match(stdout, /^claim keys-mainnet-host-0: has the key file of replica 0\n/)
  assert.match(String(cluster.files.get(uid)), /"format": "viewmesh-key"/)
})

/** What is in the way of the backup, with what the command says of it. */
const obstacles: Readonly<
  Record<string, readonly [(cluster: ReturnType<typeof volumesCluster>) => void, RegExp]>
> = {
  'another key in the keyring': [
    () => putKeyring(room.server, [{ ...other, ordinal: 0 }]),
    /key "0" of Secret mainnet-host-keyring is that of another identity \(fingerprint [0-9a-f]{16}, in the backup/,
  ],
  'a keyring that is being deleted': [
    () =>
      room.server.put(secretPath, { metadata: { deletionTimestamp: 'now' } } as KubernetesObject),
    /Secret mainnet-host-keyring is being deleted: wait until it is gone/,
  ],
  'a claim with another mark': [
    (cluster) => putKeysClaim(room.server, cluster, 1, { mark: other.keyringFingerprint }),
    /claim keys-mainnet-host-1 has another identity/,
  ],
  'a claim with another key file': [
    (cluster) =>
      putKeysClaim(room.server, cluster, 1, {
        mark: second.keyringFingerprint,
        keyFile: other.keyFile,
      }),
    /claim keys-mainnet-host-1 has a key file of another identity/,
  ],
  'a claim that is being deleted': [
    () =>
      room.server.put(claimPath(0), { metadata: { deletionTimestamp: 'now' } } as KubernetesObject),
    /claim keys-mainnet-host-0 is being deleted: wait until it is gone/,
  ],
  'a claim of another chain': [
    () =>
      room.server.put(claimPath(0), {
        metadata: { annotations: { [records.network]: 'Ethereum__Sepolia' } },
      }),
    /claim keys-mainnet-host-0 is for Ethereum__Sepolia, and the backup for Ethereum__Mainnet/,
  ],
  'a Host of another chain': [
    () => {
      const spec = { ...host.spec, chain: { name: 'Ethereum', network: 'Sepolia' } }
      room.server.put(mainnetPath('apps'), { ...host, spec } as KubernetesObject)
    },
    /Host apps\/mainnet is for Ethereum__Sepolia, and the backup for Ethereum__Mainnet/,
  ],
  'the same identity in another namespace': [
    () => {
      const metadata = { ...host.metadata, namespace: 'elsewhere' }
      const nodes = [{ ordinal: 0, keyringFingerprint: second.keyringFingerprint }]
      room.server.put(mainnetPath('elsewhere'), {
        ...host,
        metadata,
        status: { nodes },
      } as KubernetesObject)
    },
    /Host elsewhere\/mainnet has this identity: delete it first, since two programs with one key sign against each other/,
  ],
  'a class that does not exist, be it of one claim,': [
    (cluster) => {
      const { keyringFingerprint: mark, keyFile } = first
      putKeysClaim(room.server, cluster, 0, { mark, keyFile })
      room.server.remove(classPath)
    },
    /there is no StorageClass fast here: name another with --storage-class/,
  ],
}
for (const [what, [put, message]] of Object.entries(obstacles)) {
  test(`${what} forbids a restore, which writes nothing then`, async () => {
    room.server.put(classPath, {})
    const cluster = volumesCluster(room.server)
    put(cluster)
    const { code, stdout, stderr } = await restore(cluster)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /^error: Host apps\/mainnet is not restored: /m)
    assert.match(stderr, message)
    assert.match(stderr, /\(PLUGIN_IDENTITY_CONFLICT\)\nWhat to do: Nothing was written\./)
    assert.deepEqual(
      writes().filter((write) => !write.endsWith('helper')),
      [],
    )
  })
}

test('a key that others write at the same time is never written over', async () => {
  const cluster = volumesCluster(room.server)
  putKeyring(room.server, [first])
  for (const { ordinal, keyFile, keyringFingerprint: mark } of backup.replicas) {
    putKeysClaim(room.server, cluster, ordinal, { mark, keyFile })
  }
  room.server.faults.add(({ method, path }) => {
    if (method === 'PATCH' && path === secretPath)
      putKeyring(room.server, [first, { ...other, ordinal: 1 }])
    return false
  })
  const { code, stderr } = await restore(cluster)
  assert.equal(code, 2)
  assert.match(stderr, /Somebody else changed it at the same time/)
  assert.deepEqual(keysNow(), { 0: first.key, 1: other.key })
})
