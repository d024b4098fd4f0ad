import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { commandsOf } from '../../../docs/support/page.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced, parked } from '../support/cluster-resources.ts'
import { notesOf } from '../support/helm.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { runShown } from '../support/shown-command.ts'

const page = 'docs/kubernetes/identities.md'
const goes = { identity: { deletionPolicy: 'Delete' } }
const stays = { identity: { deletionPolicy: 'Retain' } }
const secret = 'mainnet-host-keyring'

describe('identities that are released, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let folder: string

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'viewmesh-keyrings-'))
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await space.close()
    cluster.close()
  })

  /** Runs commands of the page in the namespace of this suite. */
  const follow = async (...commands: readonly string[]): Promise<void> => {
    for (const command of commands) await runShown(command, space.namespace, folder)
  }
  const peerIDOf = async (name: string): Promise<string> => {
    await here.reason('Host', name, 'Ready', 'AllReady')
    return await eventually(async () => {
      const { nodes: [node] = [] } = await here.status('Host', name)
      assert.ok(node?.peerID)
      assert.ok(node.keyringFingerprint)
      return node.peerID
    })
  }
  const gone = async (kind: 'Host' | 'Pod' | 'Secret' | 'PersistentVolumeClaim', name: string) => {
    await eventually(async () => assert.equal(await here.find(kind, name), null))
  }
  const keyOf = async (name: string, ordinal: number): Promise<string | undefined> =>
    (await here.find('Secret', name))?.data?.[String(ordinal)]
  const ownersOf = async (kind: 'Secret' | 'PersistentVolumeClaim', name: string) =>
    (await here.find(kind, name))?.metadata.ownerReferences?.length ?? 0
  /** Kinds of the owners of a pod. */
  const kindsOfOwners = async (name: string): Promise<unknown[]> => {
    const { ownerReferences = [] } = (await here.find('Pod', name))?.metadata ?? {}
    return ownerReferences.map((owner) => Reflect.get(owner, 'kind'))
  }
  /** Deletes a claim. Kubernetes may make an empty one of its name before the operator stops it. */
  const lose = async (name: string): Promise<void> => {
    const claim = await here.find('PersistentVolumeClaim', name)
    assert.ok(claim)
    await here.delete('PersistentVolumeClaim', name)
    await eventually(async () => {
      const now = await here.find('PersistentVolumeClaim', name)
      assert.notEqual(now?.metadata.uid, claim.metadata.uid)
    })
  }
  /** As `kubectl delete --cascade=orphan` does it. */
  const orphan = async (name: string): Promise<void> => {
    await here.delete('StatefulSet', name, { propagationPolicy: 'Orphan' })
    await eventually(async () => assert.equal(await here.find('StatefulSet', name), null))
  }
  const goesOn = async (name: string): Promise<void> => {
    await eventually(async () => assert.equal(await here.condition('Host', name, 'Stalled'), null))
    await here.reason('Host', name, 'Ready', 'Unschedulable')
  }
  const marked = async (name: string, ordinals: readonly number[]): Promise<void> => {
    await eventually(async () => {
      const { nodes = [] } = await here.status('Host', name)
      for (const ordinal of ordinals) assert.ok(nodes[ordinal]?.keyringFingerprint)
    })
  }

  test('a Host deleted with its keys and created again waits and starts with new keys', async () => {
    await here.write(hostOf('brief', goes))
    const peerID = await peerIDOf('brief')
    const key = await keyOf('brief-host-keyring', 0)
    const claim = await here.find('PersistentVolumeClaim', 'keys-brief-host-0')
    await here.delete('Host', 'brief')
    await here.write(hostOf('brief', goes))
    await eventually(async () => {
      const now = await here.find('PersistentVolumeClaim', 'keys-brief-host-0')
      assert.ok(now !== null && now.metadata.uid !== claim?.metadata.uid)
    })
    assert.notEqual(await peerIDOf('brief'), peerID)
    assert.notEqual(await keyOf('brief-host-keyring', 0), key)
    for (const reason of ['KeyringMissing', 'KeysClaimMissing', 'PeerIDChanged']) {
      assert.deepEqual(await here.notes(reason), [])
    }
    await here.delete('Host', 'brief')
  })

  test('a stalled Host keeps its keys as soon as its policy says so', async () => {
    await here.write(hostOf('stopped', { ...parked, ...goes, replicas: 2 }))
    await here.reason('Host', 'stopped', 'Ready', 'Unschedulable')
    await marked('stopped', [0, 1])
    const keys = [await keyOf('stopped-host-keyring', 0), await keyOf('stopped-host-keyring', 1)]
    await lose('keys-stopped-host-1')
    const { message } = await here.reason('Host', 'stopped', 'Stalled', 'KeysClaimMissing')
    assert.match(message, /first set spec.identity.deletionPolicy to Retain and wait/)
    assert.equal(await ownersOf('Secret', 'stopped-host-keyring'), 1)

    await here.patch('Host', 'stopped', { spec: stays })
    await eventually(async () => {
      const reported = await here.reason('Host', 'stopped', 'Stalled', 'KeysClaimMissing')
      assert.doesNotMatch(reported.message, /deletionPolicy/)
    })
    assert.equal(await ownersOf('Secret', 'stopped-host-keyring'), 0)
    assert.equal(await ownersOf('PersistentVolumeClaim', 'keys-stopped-host-0'), 0)
    await here.patch('Host', 'stopped', { spec: goes })
    await eventually(async () => {
      assert.equal(await ownersOf('PersistentVolumeClaim', 'keys-stopped-host-0'), 1)
    })
    await here.patch('Host', 'stopped', { spec: stays })
    await eventually(async () => {
      assert.equal(await ownersOf('PersistentVolumeClaim', 'keys-stopped-host-0'), 0)
      assert.equal(await ownersOf('Secret', 'stopped-host-keyring'), 0)
    })

    await here.delete('Host', 'stopped')
    await here.write(hostOf('stopped', { ...parked, ...stays, replicas: 2 }))
    await goesOn('stopped')
    assert.deepEqual(
      [await keyOf('stopped-host-keyring', 0), await keyOf('stopped-host-keyring', 1)],
      keys,
    )
    await here.delete('Host', 'stopped')
  })

  test('fewer replicas let those before a lost one run, and the page says how to abandon it', async () => {
    await here.write(hostOf('mainnet', { ...parked, replicas: 3 }))
    await here.reason('Host', 'mainnet', 'Ready', 'Unschedulable')
    await marked('mainnet', [0, 1, 2])
    const [first, last] = [await keyOf(secret, 0), await keyOf(secret, 2)]
    await here.delete('PersistentVolumeClaim', 'keys-mainnet-host-2')
    const { message } = await here.reason('Host', 'mainnet', 'Stalled', 'KeysClaimMissing')
    assert.match(message, /set spec.replicas, or the maximum of what scales it, to 2 or less/)
    await here.patch('Host', 'mainnet', { spec: { replicas: 2 } })
    await goesOn('mainnet')
    assert.ok(await here.find('StatefulSet', 'mainnet-host'))
    await here.patch('Host', 'mainnet', { spec: { replicas: 3 } })
    await here.reason('Host', 'mainnet', 'Stalled', 'KeysClaimMissing')

    await follow(...commandsOf(page, '/data/2'))
    await eventually(async () => {
      const made = await keyOf(secret, 2)
      assert.ok(made !== undefined && made !== last)
    })
    await goesOn('mainnet')
    assert.ok(await here.find('PersistentVolumeClaim', 'keys-mainnet-host-2'))
    assert.equal(await keyOf(secret, 0), first)
    await here.delete('Host', 'mainnet')
    await here.delete('Secret', secret)
    for (const { metadata } of await here.list('PersistentVolumeClaim')) {
      await here.delete('PersistentVolumeClaim', metadata.name)
    }
    await gone('PersistentVolumeClaim', 'keys-mainnet-host-0')
  })

  test('a keyring restored from a backup as the page says keeps the peer ID', async () => {
    const [backUp = '', restore = ''] = commandsOf(page, '> keyrings.yaml')
    await here.write(hostOf('mainnet', goes))
    const peerID = await peerIDOf('mainnet')
    await follow(backUp)
    await here.delete('Host', 'mainnet')
    await gone('Secret', secret)
    await gone('PersistentVolumeClaim', 'keys-mainnet-host-0')
    await follow(restore)
    await here.write(hostOf('mainnet', goes))
    assert.equal(await peerIDOf('mainnet'), peerID)
    const [tellPeers = ''] = commandsOf(page, '{.ordinal} {.peerID}')
    assert.equal(await runShown(tellPeers, space.namespace), `0 ${peerID}\n`)
    await eventually(async () => assert.equal(await ownersOf('Secret', secret), 1))
  })

  test('a Secret that is backed up and put back as the notes of a chart say stays', async () => {
    const name = 'noted-host-keyring'
    const values = { mode: 'operator', spec: goes }
    const notes = await notesOf('host', { name: 'noted', namespace: space.namespace }, values)
    const lines = notes.split('\n').map((line) => line.trim())
    await here.write(hostOf('noted', { ...parked, ...goes }))
    await here.reason('Host', 'noted', 'Ready', 'Unschedulable')
    const key = await keyOf(name, 0)
    await follow(...lines.filter((line) => / \| sed /.test(line)))
    await here.delete('Host', 'noted')
    await gone('Secret', name)
    await follow(...lines.filter((line) => /^kubectl apply/.test(line)))
    assert.equal(await keyOf(name, 0), key)
    assert.equal(await ownersOf('Secret', name), 0)
  })

  test('a pod whose StatefulSet is gone for a lost claim goes with its Host, for a new one', async () => {
    const peerID = await peerIDOf('mainnet')
    await here.patch('Host', 'mainnet', { spec: stays })
    const pod = await here.find('Pod', 'mainnet-host-0')
    await here.delete('PersistentVolumeClaim', 'keys-mainnet-host-0')
    await eventually(async () => {
      await here.reason('Host', 'mainnet', 'Stalled', 'KeysClaimMissing')
      assert.equal(await here.find('StatefulSet', 'mainnet-host'), null)
    })
    assert.deepEqual(await kindsOfOwners('mainnet-host-0'), ['Host'])
    assert.equal((await here.find('Pod', 'mainnet-host-0'))?.metadata.uid, pod?.metadata.uid)
    await here.delete('Host', 'mainnet')
    await gone('Pod', 'mainnet-host-0')
    await here.write(hostOf('mainnet'))
    assert.equal(await peerIDOf('mainnet'), peerID)
    assert.deepEqual(await kindsOfOwners('mainnet-host-0'), ['StatefulSet'])
  })

  test('pods of a StatefulSet that somebody deletes without them go with a stalled Host', async () => {
    const { data = {} } = (await here.find('Secret', secret)) ?? {}
    const pod = await here.find('Pod', 'mainnet-host-0')
    const changed = btoa('another secret of enough characters')
    await here.patch('Secret', secret, { data: { '0': changed } })
    await here.reason('Host', 'mainnet', 'Stalled', 'IdentityConflict')
    await orphan('mainnet-host')
    await eventually(async () => assert.deepEqual(await kindsOfOwners('mainnet-host-0'), ['Host']))

    await here.patch('Secret', secret, { data })
    await here.reason('Host', 'mainnet', 'Ready', 'AllReady')
    await eventually(async () => {
      assert.deepEqual(await kindsOfOwners('mainnet-host-0'), ['StatefulSet'])
    })
    assert.equal((await here.find('Pod', 'mainnet-host-0'))?.metadata.uid, pod?.metadata.uid)

    await here.patch('Secret', secret, { data: { '0': changed } })
    await here.reason('Host', 'mainnet', 'Stalled', 'IdentityConflict')
    await orphan('mainnet-host')
    await eventually(async () => assert.deepEqual(await kindsOfOwners('mainnet-host-0'), ['Host']))
    await here.delete('Host', 'mainnet')
    await gone('Pod', 'mainnet-host-0')
  })
})
