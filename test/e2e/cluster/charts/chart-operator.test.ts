import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { anvilPort, deployAnvil } from '../support/anvil-pod.ts'
import { canAccount } from '../support/can-i.ts'
import { type Cluster, restrictedLevel } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { eventually, type LiveObject, type Namespaced } from '../support/cluster-resources.ts'
import {
  gotFromHelm,
  imageValues,
  type ReleaseCommand,
  releasesIn,
  untilReady,
} from '../support/helm.ts'
import { expectHidden, secretValues, shownIn } from '../support/secret-values.ts'
import { openTestNamespace } from '../support/test-namespace.ts'

/**
 * The operator from its own image with the chart's rights in its namespace, and the charts of Generator
 * and Host in its hands: install, upgrade, rollback, uninstall and back, under the restricted level.
 */
describe('the operator’s chart', { timeout: 900_000 }, () => {
  let cluster: Cluster
  let namespace: string
  let close: () => Promise<void>
  let here: Namespaced
  let release: ReleaseCommand

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    ;({ cluster, namespace, here, close } = await openTestNamespace({ labels: restrictedLevel }))
    release = releasesIn(namespace)
    await deployAnvil(cluster, namespace)
    await cluster.apply(here.path('Secret', 'given'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'given' },
      stringData: { node: 'marker-of-the-execution-node', admin: 'marker-of-the-admin-routes' },
    })
  })
  after(() => close())

  function operatorValues(more: object = {}): object {
    return {
      image: imageValues(clusterImage('operator')),
      operands: { generator: clusterImage('generator'), host: clusterImage('host') },
      scope: { clusterWide: false },
      crds: { install: false },
      logLevel: 'debug',
      ...more,
    }
  }

  /** Makes a program log as much as it can. */
  function talkative(name: string): object {
    const env = [{ name: 'LOG_LEVEL', value: 'debug' }]
    return { podTemplate: { spec: { containers: [{ name, env }] } } }
  }

  const common = {
    chain: { name: 'Local', network: 'Devnet' },
    storage: { data: { size: '1Gi' } },
  }
  /** The resources name the images that the operator would choose, so that helm test has one too. */
  const generatorValues = {
    mode: 'operator',
    spec: {
      ...common,
      image: imageValues(clusterImage('generator')),
      ...talkative('generator'),
      upstream: {
        url: { http: [`http://anvil:${anvilPort}`], ws: `ws://anvil:${anvilPort}` },
        auth: { secretRef: { name: 'given', key: 'node' } },
      },
      start: { height: 0 },
    },
  }
  const hostValues = {
    mode: 'operator',
    spec: {
      ...common,
      image: imageValues(clusterImage('host')),
      ...talkative('host'),
      replicas: 2,
      generators: [{ name: 'dev' }],
      registry: { adminTokenSecretRef: { name: 'given', key: 'admin' } },
    },
  }

  async function ready(...resources: readonly string[]): Promise<void> {
    const { code, stderr } = await cluster.kubectl([
      ...['--namespace', namespace, 'wait', '--for=condition=Ready', '--timeout=300s'],
      ...resources,
    ])
    assert.equal(code, 0, stderr)
  }

  const pods = ['dev-generator-0', 'apps-host-0', 'apps-host-1']

  async function podUids(): Promise<(string | undefined)[]> {
    const found = await Promise.all(pods.map((name) => here.find('Pod', name)))
    return found.map((pod) => pod?.metadata.uid)
  }

  /** Peer IDs as the status reports them, once it has those of all replicas. */
  async function peerIds(): Promise<string[]> {
    return await eventually(async () => {
      const found = await Promise.all([
        here.status('Generator', 'dev'),
        here.status('Host', 'apps'),
      ])
      const ids = found.flatMap(({ nodes = [] }) => nodes.flatMap(({ peerID }) => peerID ?? []))
      assert.equal(ids.length, pods.length)
      return ids
    })
  }

  let ids: string[]

  test('it installs, is ready, and passes helm test; it may neither list nor watch Secrets', async () => {
    await release(['install', 'op', 'charts/operator', ...untilReady], operatorValues())
    await release(['test', 'op'])
    const can = canAccount(cluster, namespace, 'op-viewmesh-operator')
    for (const verb of ['list', 'watch', 'delete', 'update']) {
      assert.equal(await can(verb, 'secrets', '--namespace', namespace), false, verb)
    }
    assert.equal(await can('get', 'secrets', '--namespace', namespace), true)
    assert.equal(await can('get', 'secrets', '--namespace', 'default'), false)
    assert.equal(await can('create', 'rolebindings', '--namespace', namespace), false)
  })

  test('a Generator and two Hosts from their charts become Ready and pass helm test', async () => {
    await release(['install', 'apps', 'charts/host'], hostValues)
    await release(['install', 'dev', 'charts/generator'], generatorValues)
    // The pods of a Host that is there first are replaced once its Generator has a key to the schema.
    await here.reason('Host', 'apps', 'SchemaInSync', 'Matched')
    await ready('generator/dev', 'host/apps')
    ids = await peerIds()
    assert.equal(new Set(ids).size, 3)
    await release(['test', 'dev'])
    await release(['test', 'apps'])
  })

  test('the Generator hears of blocks from the execution node at the address that it is given', async () => {
    await here.reason('Generator', 'dev', 'UpstreamReachable', 'WebSocket')
  })

  test('the Hosts answer blocks of the running chain through their Service', async () => {
    const query = encodeURIComponent('{ Block(order: {number: DESC}, limit: 1) { number } }')
    const path = `/api/v1/namespaces/${namespace}/services/apps-host:9181/proxy/api/v0/graphql?query=${query}`
    await eventually(async () => {
      const { body } = await cluster.request('GET', path)
      const { data } = body as { readonly data?: { readonly Block: readonly object[] } }
      assert.equal(data?.Block.length, 1)
    })
  })

  test('no value of a Secret is in a log, an Event, a status, a ConfigMap or helm get', async () => {
    const keyring = 'apps-host-keyring'
    const values = await secretValues(cluster, namespace)
    const { data: { '0': key = '' } = {} } = (await here.find('Secret', keyring)) ?? {}
    const wrong = 'marker-of-a-key-that-is-wrong'
    await here.patch('Secret', keyring, { data: { '0': btoa(wrong) } })
    await here.reason('Host', 'apps', 'Stalled', 'IdentityConflict')
    const statuses = ['--namespace', namespace, 'get', 'viewmesh', '--output', 'json']
    expectHidden([...values, wrong, btoa(wrong)], {
      ...(await shownIn(cluster, namespace)),
      ...(await gotFromHelm(release, ['op', 'dev', 'apps'])),
      'Generators and Hosts': (await cluster.kubectl(statuses)).stdout,
    })
    await here.patch('Secret', keyring, { data: { '0': key } })
    await eventually(async () => {
      assert.equal(await here.condition('Host', 'apps', 'Stalled'), null)
    })
    await ready('host/apps')
  })

  /** What Kubernetes mounts into pods where serviceAccount.automount is true. */
  const ownToken = {
    name: 'own-token',
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: 600 } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  }

  test('upgrading to other values and rolling back replaces no pod of a Generator or Host', async () => {
    const before = await podUids()
    const values = operatorValues({
      global: { imagePullSecrets: [{ name: 'given' }] },
      logLevel: 'info',
      logFormat: 'text',
      leaderElection: { leaseDuration: '35s', renewDeadline: '30s', retryPeriod: '5s' },
      serviceAccount: { automount: false },
      extraArgs: ['--service-account=/etc/own'],
      extraVolumes: [ownToken],
      extraVolumeMounts: [{ name: 'own-token', mountPath: '/etc/own', readOnly: true }],
    })
    await release(['upgrade', 'op', 'charts/operator', ...untilReady], values)
    for (const [kind, name] of [
      ['Generator', 'dev'],
      ['Host', 'apps'],
    ] as const) {
      await here.reason(kind, name, 'UpdateAvailable', 'NewTemplate')
    }
    const lease = await here.find('Lease', 'op-viewmesh-operator')
    assert.equal(Reflect.get(lease?.spec ?? {}, 'leaseDurationSeconds'), 35)
    await release(['rollback', 'op', '1', ...untilReady])
    await ready('generator/dev', 'host/apps')
    assert.deepEqual(await podUids(), before)
  })

  test('an uninstall keeps pods, CRDs, Secrets and volumes; a new install keeps the peer IDs', async () => {
    const before = await podUids()
    await release(['uninstall', 'op', '--wait'])
    assert.deepEqual(await podUids(), before)
    await release(['uninstall', 'dev', 'apps', '--wait'])
    await eventually(async () => {
      assert.deepEqual(await leftovers(), [
        'Lease op-viewmesh-operator',
        'PersistentVolumeClaim data-apps-host-0',
        'PersistentVolumeClaim data-apps-host-1',
        'PersistentVolumeClaim data-dev-generator-0',
        'PersistentVolumeClaim keys-apps-host-0',
        'PersistentVolumeClaim keys-apps-host-1',
        'PersistentVolumeClaim keys-dev-generator-0',
        'Secret apps-host-keyring',
        'Secret dev-generator-keyring',
      ])
    })
    await release(['install', 'op', 'charts/operator', ...untilReady], operatorValues())
    await release(['install', 'dev', 'charts/generator'], generatorValues)
    await release(['install', 'apps', 'charts/host'], hostValues)
    await ready('generator/dev', 'host/apps')
    assert.deepEqual(await peerIds(), ids)
  })

  /** What there is, but for anvil, what was given, and what Kubernetes itself puts into a namespace. */
  async function leftovers(): Promise<string[]> {
    const kinds =
      'statefulset,pod,service,configmap,secret,serviceaccount,pvc,pdb,networkpolicy,role,rolebinding,lease'
    const { stdout } = await cluster.kubectl([
      ...['--namespace', namespace, 'get', `${kinds},viewmesh`, '--output', 'json'],
    ])
    const { items } = JSON.parse(stdout) as { readonly items: readonly LiveObject[] }
    return items
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      .filter((name) => !/ (?:anvil(?:-\S+)?|default|given|kube-root-ca\.crt)$/.test(name))
      .toSorted()
  }
})
