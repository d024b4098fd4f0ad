import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  inNamespace,
  type Namespaced,
  parked,
  type Written,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('what is discovered in the cluster, on a real one', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let validators: Namespaced
  let apps: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here: validators } = await openOperatedCluster({ namespaces: 2 }))
    apps = inNamespace(cluster, space.namespaces[1] ?? '')
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const url = { upstream: { url: { http: ['http://node.example.org:8545'] } } }
  const fileOf = async (here: Namespaced, map: string, file: string): Promise<string | undefined> =>
    (await here.find('ConfigMap', map))?.data?.[file]

  test("a load balancer's address reaches the pod's file without a new pod template", async () => {
    const p2p = { service: { type: 'LoadBalancer' } }
    await validators.write(generatorOf('outside', { ...url, ...parked, p2p }))
    await validators.reason('Generator', 'outside', 'AddressPublished', 'Pending')
    const before = (await validators.find('StatefulSet', 'outside-generator'))?.metadata.generation
    await giveAddress(validators.path('Service', 'outside-generator-p2p-0'), '203.0.113.7')
    const { message } = await validators.reason(
      'Generator',
      'outside',
      'AddressPublished',
      'LoadBalancer',
    )
    assert.equal(message, 'Published to peers: /ip4/203.0.113.7/tcp/9171.')
    await eventually(async () => {
      const file = await fileOf(validators, 'outside-generator-config', 'announce-0')
      assert.equal(file, '/ip4/203.0.113.7/tcp/9171\n')
    })
    const set = await validators.find('StatefulSet', 'outside-generator')
    assert.equal(set?.metadata.generation, before)
  })

  const giveAddress = async (service: string, ip: string): Promise<void> => {
    const body = { status: { loadBalancer: { ingress: [{ ip, ipMode: 'VIP' }] } } }
    const type = 'application/merge-patch+json'
    await expectStatus(cluster.request('PATCH', `${service}/status`, { body, type }), 200)
  }

  test('a Host of another namespace gets a schema key only while the Generator allows it', async () => {
    const [first = '', second = ''] = space.namespaces
    await apps.write(
      hostOf('reader', { ...parked, generators: [{ name: 'outside', namespace: first }] }),
    )
    const { message } = await apps.reason('Host', 'reader', 'SchemaInSync', 'NotAllowed')
    assert.match(message, new RegExp(second))
    assert.equal(await apps.find('Secret', 'reader-host-schema-keys'), null)

    await validators.write(allowing([second]))
    await eventually(async () => {
      const theirs = await validators.find('Secret', 'outside-generator-schema-keys')
      const ours = await apps.find('Secret', 'reader-host-schema-keys')
      assert.ok(ours?.data?.['token'])
      assert.equal(ours.data['token'], theirs?.data?.['keys'])
    })
    await eventually(async () => {
      assert.match(await templateOf(apps, 'reader-host'), /GENERATOR_SCHEMA_URL/)
    })

    await validators.write(allowing([]))
    await apps.reason('Host', 'reader', 'SchemaInSync', 'NotAllowed')
    await eventually(async () => {
      const ours = await apps.find('Secret', 'reader-host-schema-keys')
      assert.equal(ours?.data?.['token'] ?? '', '')
      assert.doesNotMatch(await templateOf(apps, 'reader-host'), /GENERATOR_SCHEMA_URL/)
    })
  })

  const allowing = (allowedNamespaces: readonly string[]): Written =>
    generatorOf('outside', {
      ...url,
      ...parked,
      p2p: { service: { type: 'LoadBalancer' } },
      schemaAuth: { allowedNamespaces },
    })
  const templateOf = async (here: Namespaced, name: string): Promise<string> =>
    JSON.stringify((await here.find('StatefulSet', name))?.spec)

  test('a Host that names a Generator of another chain says which is of which, and what to correct', async () => {
    const [first = ''] = space.namespaces
    const chain = { network: 'Astray' }
    await validators.write(
      hostOf('astray', { ...parked, chain, generators: [{ name: 'outside' }] }),
    )
    const { message } = await validators.reason('Host', 'astray', 'SchemaInSync', 'PrefixMismatch')
    assert.equal(
      message,
      `Of another chain than this Host (Ethereum__Astray): Generator ${first}/outside (Ethereum__Devnet). Correct spec.generators, or create another Host for that chain.`,
    )
  })

  test('an operator with another default image changes no pod template until asked to', async () => {
    await apps.write(hostOf('waiting', parked))
    await apps.reason('Host', 'waiting', 'UpdateAvailable', 'UpToDate')
    const before = await templateOf(apps, 'waiting-host')
    await space.start({ env: { HOST_IMAGE: 'localhost/viewmesh-host:next' } })
    const { message } = await apps.reason('Host', 'waiting', 'UpdateAvailable', 'NewTemplate')
    assert.match(message, /differently: spec\.containers\[host\]\.image\. .*viewmesh\.io\/roll-at/)
    assert.equal(await templateOf(apps, 'waiting-host'), before)

    const annotations = { 'viewmesh.io/roll-at': '2026-11-21' }
    await apps.patch('Host', 'waiting', { metadata: { annotations } })
    await apps.reason('Host', 'waiting', 'UpdateAvailable', 'UpToDate')
    assert.match(await templateOf(apps, 'waiting-host'), /localhost\/viewmesh-host:next/)
    assert.equal((await apps.status('Host', 'waiting')).image, 'localhost/viewmesh-host:next')
    await eventually(async () => {
      assert.deepEqual(
        (await apps.notes('PodsReplaced')).filter((note) => note.includes('roll-at')),
        [
          'Pods are replaced, since their template changed: metadata.annotations.viewmesh.io/roll-at, spec.containers[host].image.',
        ],
      )
    })
  })

  test('an operator that is to make no NetworkPolicies and budgets takes away those that were made', async () => {
    await apps.write(hostOf('guarded', { ...parked, replicas: 2 }))
    const guards = async (): Promise<boolean[]> => {
      const kinds = ['NetworkPolicy', 'PodDisruptionBudget'] as const
      const found = kinds.map((kind) => apps.find(kind, 'guarded-host'))
      return (await Promise.all(found)).map((object) => object !== null)
    }
    await eventually(async () => assert.deepEqual(await guards(), [true, true]))
    const env = { GENERATE_NETWORK_POLICY: 'false', GENERATE_POD_DISRUPTION_BUDGET: 'false' }
    await space.start({ env })
    await eventually(async () => assert.deepEqual(await guards(), [false, false]))
    await space.start()
    await eventually(async () => assert.deepEqual(await guards(), [true, true]))
  })

  test('the execution node’s pods, once found, stay what they were while their Service is away', async () => {
    const service = { kind: 'Service', apiVersion: 'v1', metadata: { name: 'geth' } }
    const spec = { selector: { app: 'geth' }, ports: [{ port: 8545 }] }
    await cluster.apply(validators.path('Service', 'geth'), { ...service, spec })
    await validators.write(
      generatorOf('beside', { ...parked, upstream: { service: { name: 'geth' } } }),
    )
    await eventually(async () => {
      assert.match(await templateOf(validators, 'beside-generator'), /podAffinity.*"app":"geth"/)
    })
    const before = await templateOf(validators, 'beside-generator')
    await validators.delete('Service', 'geth')
    const annotations = { 'viewmesh.io/reconcile-at': 'now' }
    await validators.patch('Generator', 'beside', { metadata: { annotations } })
    await eventually(async () => {
      const { lastHandledReconcileAt } = await validators.status('Generator', 'beside')
      assert.equal(lastHandledReconcileAt, 'now')
    })
    assert.equal(await templateOf(validators, 'beside-generator'), before)
  })

  test("an execution node's pods are known in another namespace only while its Service consents", async () => {
    const [first = '', second = ''] = space.namespaces
    const metadata = { name: 'reth' }
    const spec = { selector: { app: 'reth' }, ports: [{ port: 8545 }] }
    const service = { kind: 'Service', apiVersion: 'v1', metadata, spec }
    await cluster.apply(validators.path('Service', 'reth'), service)
    const upstream = { service: { name: 'reth', namespace: first } }
    await apps.write(generatorOf('afar', { ...parked, upstream }))
    await apps.reason('Generator', 'afar', 'Ready', 'Unschedulable')
    const policy = async (): Promise<string> =>
      JSON.stringify((await apps.find('NetworkPolicy', 'afar-generator'))?.spec)
    assert.doesNotMatch(await templateOf(apps, 'afar-generator'), /reth"/)
    assert.doesNotMatch(await policy(), /reth/)
    const { message } = (await apps.condition('Generator', 'afar', 'UpstreamReachable')) ?? {}
    assert.match(message ?? '', new RegExp(`have its owner name ${second} in its annotation`))

    const annotations = { 'viewmesh.io/allowed-namespaces': second }
    await validators.patch('Service', 'reth', { metadata: { annotations } })
    await eventually(async () => {
      assert.match(await templateOf(apps, 'afar-generator'), /podAffinity.*"app":"reth"/)
      assert.match(await policy(), /"app":"reth"/)
    })
    const template = await templateOf(apps, 'afar-generator')
    await validators.patch('Service', 'reth', {
      metadata: { annotations: null },
      spec: { selector: { app: 'renamed' } },
    })
    await eventually(async () => assert.doesNotMatch(await policy(), /reth|renamed/))
    assert.equal(await templateOf(apps, 'afar-generator'), template)
  })

  test('what the spec has deleted together with the resource is deleted, and nothing else', async () => {
    const identity = { deletionPolicy: 'Delete' }
    const storage = { keys: { size: '1Mi' }, data: { size: '1Mi', deletionPolicy: 'Delete' } }
    await apps.write(hostOf('brief', { ...parked, identity, storage }))
    await apps.write(hostOf('lasting', parked))
    await eventually(async () => {
      const { nodes = [] } = await apps.status('Host', 'lasting')
      assert.ok(nodes[0]?.keyringFingerprint)
      const owned = [
        await apps.find('Secret', 'brief-host-keyring'),
        await apps.find('PersistentVolumeClaim', 'keys-brief-host-0'),
        await apps.find('PersistentVolumeClaim', 'data-brief-host-0'),
      ]
      for (const object of owned) assert.equal(object?.metadata.ownerReferences?.length, 1)
    })
    await apps.delete('Host', 'brief')
    await apps.delete('Host', 'lasting')
    await eventually(async () => {
      const [secrets, claims] = [
        await apps.list('Secret'),
        await apps.list('PersistentVolumeClaim'),
      ]
      const names = [...secrets, ...claims].map(({ metadata }) => metadata.name)
      assert.deepEqual(
        names.filter((name) => /brief|lasting/.test(name)),
        ['lasting-host-keyring', 'data-lasting-host-0', 'keys-lasting-host-0'],
      )
    })
  })
})
