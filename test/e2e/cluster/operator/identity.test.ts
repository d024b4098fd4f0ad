import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { records } from '../../../../operator/api/annotations.ts'
import { type HealthReport, paths, ports } from '../../../../src/service/contract.ts'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  parked,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { runShown } from '../support/shown-command.ts'

const secret = 'kept-host-keyring'
const claim = 'keys-kept-host-0'

describe('the identity of a Host or Generator, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let peerID: string
  let key: string

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await here.write(hostOf('kept'))
    peerID = await peerIDOf()
    key = (await here.find('Secret', secret))?.data?.['0'] ?? ''
    assert.match(Buffer.from(key, 'base64').toString(), /^[\w-]{43}$/)
  })
  after(async () => {
    await space.close()
    cluster.close()
  })
  afterEach(() => {
    assert.ok(!space.output().includes(key))
    assert.ok(!space.output().includes(Buffer.from(key, 'base64').toString()))
  })

  /** The peer ID, once the pod is ready and says what the status does. */
  const peerIDOf = async (): Promise<string> => {
    await here.reason('Host', 'kept', 'Ready', 'AllReady')
    const pod = `${here.path('Pod', 'kept-host-0')}:${ports.health}/proxy${paths.health}`
    return await eventually(async () => {
      const { body } = await expectStatus(cluster.request('GET', pod), 200)
      const { p2p } = body as unknown as HealthReport
      const { nodes = [] } = await here.status('Host', 'kept')
      assert.ok(nodes[0]?.peerID)
      assert.ok(nodes[0].keyringFingerprint)
      assert.equal(p2p.self?.id, nodes[0].peerID)
      return nodes[0].peerID
    })
  }
  const podUID = async (): Promise<string | undefined> =>
    (await here.find('Pod', 'kept-host-0'))?.metadata.uid
  const gone = async (
    kind: 'Host' | 'PersistentVolumeClaim' | 'Pod' | 'StatefulSet' | 'Secret',
    name: string,
  ): Promise<void> => {
    await eventually(async () => assert.equal(await here.find(kind, name), null))
  }

  test('it survives the pod', async () => {
    const before = await podUID()
    await here.delete('Pod', 'kept-host-0')
    await eventually(async () => assert.notEqual((await podUID()) ?? before, before))
    assert.equal(await peerIDOf(), peerID)
  })

  test('an identity survives the resource and returns with one of the same name', async () => {
    await here.delete('Host', 'kept')
    await gone('StatefulSet', 'kept-host')
    await gone('Pod', 'kept-host-0')
    assert.equal((await here.find('Secret', secret))?.data?.['0'], key)
    await here.write(hostOf('kept'))
    assert.equal(await peerIDOf(), peerID)
  })

  test('a changed key stops at Stalled, names Secret, key and remedy, and touches no pod', async () => {
    const pod = await podUID()
    await here.patch('Secret', secret, {
      data: { '0': btoa('another secret of enough characters') },
    })
    const { message } = await here.reason('Host', 'kept', 'Stalled', 'IdentityConflict')
    assert.match(message, /key "0" of Secret kept-host-keyring .* put the original value back/)
    await here.patch('Host', 'kept', { spec: { pruning: { maxBlocks: 77 } } })
    await here.reason('Host', 'kept', 'Ready', 'Stalled')
    assert.equal(await podUID(), pod)

    await here.patch('Host', 'kept', { spec: { pruning: { maxBlocks: 1_000 } } })
    await here.patch('Secret', secret, { data: { '0': key } })
    await eventually(async () => {
      assert.equal(await here.condition('Host', 'kept', 'Stalled'), null)
    })
    assert.equal(await peerIDOf(), peerID)
    assert.equal(await podUID(), pod)
  })

  test('a deleted Secret is not made again, and going on needs the old value', async () => {
    const pod = await podUID()
    await here.delete('Secret', secret)
    const { message } = await here.reason('Host', 'kept', 'Stalled', 'KeyringMissing')
    assert.match(message, /Secret kept-host-keyring is missing.* from your backup/)
    assert.equal(await here.find('Secret', secret), null)
    assert.equal(await podUID(), pod)
    await restoreSecret()
    assert.equal(await peerIDOf(), peerID)
  })

  const writeSecret = async (name: string, data: object): Promise<void> => {
    await cluster.apply(`/api/v1/namespaces/${space.namespace}/secrets/${name}`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      data,
    })
  }
  const restoreSecret = async (): Promise<void> => await writeSecret(secret, { '0': key })

  test('where resource and Secret were deleted, the claim that is left says so', async () => {
    await here.delete('Host', 'kept')
    await here.delete('Secret', secret)
    await gone('Pod', 'kept-host-0')
    await here.write(hostOf('kept'))
    const { message } = await here.reason('Host', 'kept', 'Stalled', 'KeyringMissing')
    assert.match(message, /claim keys-kept-host-0/)
    assert.equal(await here.find('Secret', secret), null)
    assert.equal(await here.find('StatefulSet', 'kept-host'), null)
    await restoreSecret()
    assert.equal(await peerIDOf(), peerID)
  })

  test('another chain on the volumes that were kept is refused, with the names of the claims', async () => {
    await here.delete('Host', 'kept')
    await gone('Pod', 'kept-host-0')
    await here.write(hostOf('kept', { chain: { name: 'Ethereum', network: 'Sepolia' } }))
    const { message } = await here.reason('Host', 'kept', 'Stalled', 'ChainMismatch')
    assert.match(
      message,
      /keys-kept-host-0 \(Ethereum__Devnet\), data-kept-host-0 \(Ethereum__Devnet\)/,
    )
    assert.equal(await here.find('StatefulSet', 'kept-host'), null)
    await here.delete('Host', 'kept')
    await gone('Host', 'kept')
    await here.write(hostOf('kept'))
    assert.equal(await peerIDOf(), peerID)
  })

  test('missing Secrets of a spec are reported, and used as soon as they exist', async () => {
    const auth = { secretRef: { name: 'node-key', key: 'token' } }
    await here.write(
      generatorOf('lacking', {
        ...parked,
        upstream: { url: { http: ['http://node:8545'] }, auth },
        schemaAuth: { keysSecretRef: { name: 'schema-key', key: 'keys' } },
      }),
    )
    const registry = { adminTokenSecretRef: { name: 'admin', key: 'token' } }
    await here.write(hostOf('lacking', { ...parked, registry }))
    const ofGenerator = await here.reason('Generator', 'lacking', 'Ready', 'SecretMissing')
    assert.match(ofGenerator.message, /kubectl create secret generic node-key .*--from-file=token/)
    assert.match(
      ofGenerator.message,
      /kubectl create secret generic schema-key .*--from-file=keys=FILE/,
    )
    const ofHost = await here.reason('Host', 'lacking', 'Ready', 'SecretMissing')
    assert.match(ofHost.message, /kubectl create secret generic admin .*--from-file=token=FILE/)
    assert.equal(await here.find('StatefulSet', 'lacking-generator'), null)
    assert.equal(await here.find('StatefulSet', 'lacking-host'), null)

    await writeSecret('node-key', { token: btoa('Bearer of the node') })
    await writeSecret('schema-key', { keys: btoa('a key to the schema') })
    await writeSecret('admin', { token: btoa('a token of the administrator') })
    await here.reason('Generator', 'lacking', 'Ready', 'Unschedulable')
    await here.reason('Host', 'lacking', 'Ready', 'Unschedulable')
    await here.delete('Generator', 'lacking')
    await here.delete('Host', 'lacking')
  })

  test('one key for two Hosts stops the later one, which names the other and goes on without it', async () => {
    await writeSecret('shared', { '0': btoa('one secret of enough characters for both') })
    const identity = { secretRef: { name: 'shared' } }
    await here.write(hostOf('earlier', { ...parked, identity }))
    await here.reason('Host', 'earlier', 'Ready', 'Unschedulable')
    await here.write(hostOf('later', { ...parked, identity }))
    const { message } = await here.reason('Host', 'later', 'Stalled', 'DuplicateKey')
    assert.match(message, /Key "0" of Secret shared is a key of Host [^ ]+\/earlier too/)
    assert.equal(await here.find('StatefulSet', 'later-host'), null)
    await here.delete('Host', 'earlier')
    await here.reason('Host', 'later', 'Ready', 'Unschedulable')
    await here.delete('Host', 'later')
  })

  test('a keys claim without its labels is no lost one: it gets them back, and nothing stops', async () => {
    const pod = await podUID()
    const set = (await here.find('StatefulSet', 'kept-host'))?.metadata.uid
    const holds = async (): Promise<string | undefined> =>
      (await here.find('PersistentVolumeClaim', claim))?.metadata.labels?.['viewmesh.io/holds']
    await here.patch('PersistentVolumeClaim', claim, { metadata: { labels: null } })
    await eventually(async () => assert.equal(await holds(), 'keys'))
    assert.equal(await peerIDOf(), peerID)
    assert.equal(await here.condition('Host', 'kept', 'Stalled'), null)
    assert.equal(await podUID(), pod)
    assert.equal((await here.find('StatefulSet', 'kept-host'))?.metadata.uid, set)
  })

  test('a changed key of a Generator, or a missing one, stops it as well until it is put back', async () => {
    const upstream = { url: { http: ['http://node:8545'] } }
    await here.write(generatorOf('minded', { ...parked, upstream }))
    await here.reason('Generator', 'minded', 'Ready', 'Unschedulable')
    await eventually(async () => {
      const found = await here.find('PersistentVolumeClaim', 'keys-minded-generator-0')
      assert.ok(found?.metadata.annotations?.[records.keyringFingerprint])
      const { nodes = [] } = await here.status('Generator', 'minded')
      assert.ok(nodes[0]?.keyringFingerprint)
    })
    const name = 'minded-generator-keyring'
    const { data = {} } = (await here.find('Secret', name)) ?? {}
    await here.patch('Secret', name, { data: { '0': btoa('another secret of enough characters') } })
    const conflict = await here.reason('Generator', 'minded', 'Stalled', 'IdentityConflict')
    assert.match(conflict.message, /key "0" of Secret minded-generator-keyring /)
    await here.delete('Secret', name)
    await here.reason('Generator', 'minded', 'Stalled', 'KeyringMissing')
    assert.equal(await here.find('Secret', name), null)
    await writeSecret(name, data)
    await eventually(async () => {
      assert.equal(await here.condition('Generator', 'minded', 'Stalled'), null)
    })
    await here.delete('Generator', 'minded')
  })

  test('a keys claim that is being deleted keeps its volume, and the identity, as the message says', async () => {
    const identityOf = async (): Promise<string | undefined> =>
      (await here.status('Host', 'kept')).nodes?.[0]?.identity
    const before = await identityOf()
    assert.ok(before)
    await here.delete('PersistentVolumeClaim', claim)
    const { message } = await here.reason('Host', 'kept', 'Stalled', 'KeysClaimMissing')
    const [, keep = '', free = '', forget = '', volumeName = '', name = '', mark = ''] =
      /by (kubectl patch pv .*'), then (kubectl delete pod \S+ --namespace \S+), .* (kubectl patch pv .*'), and create the claim again with volumeName (\S+), with the annotation (\S+): "(\w+)"/.exec(
        message,
      ) ?? assert.fail(message)
    await runShown(keep, space.namespace)
    await runShown(free, space.namespace)
    await gone('PersistentVolumeClaim', claim)
    await runShown(forget, space.namespace)
    await cluster.apply(`/api/v1/namespaces/${space.namespace}/persistentvolumeclaims/${claim}`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: claim, annotations: { [name]: mark } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeName,
        resources: { requests: { storage: '1Gi' } },
      },
    })
    assert.equal(await peerIDOf(), peerID)
    await eventually(async () => assert.equal(await identityOf(), before))
    const { spec } = (await here.find('PersistentVolumeClaim', claim)) ?? {}
    assert.equal(Reflect.get(spec ?? {}, 'volumeName'), volumeName)
    await cluster.request('PATCH', `/api/v1/persistentvolumes/${volumeName}`, {
      body: { spec: { persistentVolumeReclaimPolicy: 'Delete' } },
      type: 'application/merge-patch+json',
    })
  })

  test('a deleted keys claim stops everything; neither it nor its pod comes back empty', async () => {
    const pod = await podUID()
    await here.delete('PersistentVolumeClaim', claim)
    const { message } = await here.reason('Host', 'kept', 'Stalled', 'KeysClaimMissing')
    assert.match(
      message,
      /Claim keys-kept-host-0 is being deleted.*keep its volume by kubectl patch pv /,
    )
    assert.equal(await podUID(), pod)
    await gone('StatefulSet', 'kept-host')
    await here.delete('Pod', 'kept-host-0')
    await gone('Pod', 'kept-host-0')
    await eventually(async () => {
      const { message: then } = await here.reason('Host', 'kept', 'Stalled', 'KeysClaimMissing')
      assert.match(then, /Claim keys-kept-host-0 is gone.*restore the claim from your backup/)
    })
    assert.equal(await here.find('PersistentVolumeClaim', claim), null)
    assert.equal(await here.find('Pod', 'kept-host-0'), null)
  })

  test('a keys claim that is restored as the message says is found, and all goes on', async () => {
    const { message } = await here.reason('Host', 'kept', 'Stalled', 'KeysClaimMissing')
    const [, name = '', mark = ''] = /with the annotation (\S+): "(\w+)"/.exec(message) ?? []
    await cluster.apply(`/api/v1/namespaces/${space.namespace}/persistentvolumeclaims/${claim}`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: claim, annotations: { [name]: mark } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    assert.equal(await peerIDOf(), peerID)
    assert.equal(await here.condition('Host', 'kept', 'Stalled'), null)
  })
})
