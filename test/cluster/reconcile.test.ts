import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  writeNode,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('a Generator beside an execution node and a Host, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  after(async () => {
    await space.close()
    cluster.close()
  })
  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(['-n', space.namespace, ...args])
    assert.equal(code, 0, stderr)
    return stdout
  }

  test('the operator can read Secrets it knows by name, and neither list nor watch them', async () => {
    const can = async (verb: string): Promise<string> => {
      const as = `--as=system:serviceaccount:${space.namespace}:operator`
      const args = ['-n', space.namespace, 'auth', 'can-i', verb, 'secrets', as]
      return (await cluster.kubectl(args)).stdout.trim()
    }
    const verbs = ['get', 'create', 'patch', 'list', 'watch', 'delete', 'update']
    assert.deepEqual(await Promise.all(verbs.map(can)), [
      'yes',
      'yes',
      'yes',
      'no',
      'no',
      'no',
      'no',
    ])
  })

  test('applied in any order all become Ready, and each replica has a peer ID of its own', async () => {
    await here.write(hostOf('dev', { replicas: 2, generators: [{ name: 'dev' }] }))
    await here.reason('Host', 'dev', 'PeersConnected', 'GeneratorMissing')
    await here.write(generatorOf('dev'))
    const held = await here.reason('Generator', 'dev', 'Ready', 'WaitingForUpstream')
    assert.match(held.message, /Service .*\/node of the execution node does not exist/)
    await writeNode(cluster, space.namespace)
    await kubectl('wait', '--for=condition=Ready', '--timeout=180s', 'generator/dev', 'host/dev')

    await eventually(async () => {
      const { nodes: hosts = [] } = await here.status('Host', 'dev')
      const { nodes: generators = [] } = await here.status('Generator', 'dev')
      const ids = [...hosts, ...generators].map(({ peerID }) => peerID)
      assert.equal(new Set(ids).size, 3)
      assert.ok(ids.every((id) => id?.startsWith('12D3KooW')))
    })
  })

  test('the Host learns its peer and the schema without a restart, and answers blocks of the chain', async () => {
    await here.reason('Host', 'dev', 'SchemaInSync', 'Matched')
    await here.reason('Host', 'dev', 'PeersConnected', 'Connected')
    await here.reason('Generator', 'dev', 'UpstreamReachable', 'WebSocket')
    const path = `/api/v1/namespaces/${space.namespace}/services/http:dev-host:9181/proxy/api/v0/graphql`
    await eventually(async () => {
      const body = { query: '{ Block(limit: 1) { number hash } }' }
      const answer = await expectStatus(cluster.request('POST', path, { body }), 200)
      const { data } = answer.body as { data?: { Block?: { number: number }[] } }
      assert.equal(typeof data?.Block?.[0]?.number, 'number')
    })
  })

  test('pods run restricted, as 1001, with the identity in place', async () => {
    for (const pod of await here.list('Pod')) {
      if (pod.metadata.name.startsWith('node-')) continue
      assert.equal(
        await kubectl('exec', pod.metadata.name, '--', 'node', '-p', 'process.getuid()'),
        '1001\n',
      )
    }
    assert.equal((await here.condition('Host', 'dev', 'IdentityReady'))?.reason, 'KeyringGenerated')
    const { nodes = [] } = await here.status('Host', 'dev')
    for (const { ordinal, keyringFingerprint } of nodes) {
      const claim = await here.find('PersistentVolumeClaim', `keys-dev-host-${ordinal}`)
      const mark = claim?.metadata.annotations?.['viewmesh.io/keyring-fingerprint']
      assert.ok(mark)
      assert.equal(mark, keyringFingerprint)
    }
  })

  test('kubectl get tells chain, head, lag, peers, pods, ready and age', async () => {
    const [heads = '', row = ''] = (await kubectl('get', 'hosts')).split('\n')
    const columns = heads.trim().split(/\s+/)
    assert.deepEqual(columns, [
      'NAME',
      'CHAIN',
      'NETWORK',
      'HEAD',
      'LAG',
      'PEERS',
      'PODS',
      'READY',
      'AGE',
    ])
    assert.match(row, /^dev +Ethereum +Devnet .* 2\/2 +True /)
  })

  test('a restarted operator writes nothing to objects that need nothing', async () => {
    const kinds = [
      'ConfigMap',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Secret',
      'Service',
    ] as const
    const versions = async (): Promise<string[]> => {
      const all = await Promise.all(
        [...kinds, 'ServiceAccount', 'PersistentVolumeClaim', 'Pod'].map((kind) =>
          here.list(kind as (typeof kinds)[number]),
        ),
      )
      const sets = await here.list('StatefulSet')
      return [
        ...all.flat().map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
        ...sets.map(({ metadata }) => `${metadata.name} ${metadata.generation}`),
      ]
    }
    const before = await versions()
    const program = await space.start()
    await here.patch('Host', 'dev', {
      metadata: { annotations: { 'viewmesh.io/reconcile-at': 'now' } },
    })
    await eventually(async () => {
      assert.equal((await here.status('Host', 'dev')).lastHandledReconcileAt, 'now')
    })
    assert.deepEqual(await versions(), before)
    assert.ok(!program.stdout().includes('object written'))
  })

  test('nothing that is secret is in logs, statuses, ConfigMaps or Events', async () => {
    const secrets = await here.list('Secret')
    const values = secrets.flatMap(({ metadata, data = {} }) =>
      Object.entries(data)
        .filter(([key]) => !metadata.name.endsWith('-connection') || key === 'schema-key')
        .flatMap(([, value]) => [value, Buffer.from(value, 'base64').toString()])
        .filter((value) => value.length > 16),
    )
    assert.ok(values.length >= 8)
    const shown = [
      space.output(),
      await kubectl('get', 'viewmesh,configmaps,statefulsets,pods,events', '-o', 'json'),
    ].join('\n')
    for (const value of values) assert.ok(!shown.includes(value))
  })
})
