import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { V1Condition, V1Secret } from '@kubernetes/client-node'
import { anvilPort, deployAnvil } from '../support/anvil-pod.ts'
import { type Cluster, openCluster } from '../support/cluster.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { type HelmResult, helm } from '../support/helm.ts'

/**
 * The operator from its own image with the chart's rights, and the charts of Generator and Host in its
 * hands: install, upgrade, rollback, uninstall and back, in a namespace of the restricted level.
 */
describe('the operator’s chart', { timeout: 900_000 }, () => {
  let cluster: Cluster
  let namespace: string

  before(async () => {
    cluster = await openCluster()
    namespace = await cluster.createNamespace({
      'pod-security.kubernetes.io/enforce': 'restricted',
    })
    await cluster.installDefinitions()
    await deployAnvil(cluster, namespace)
  })
  after(async () => {
    await helm(['uninstall', 'wide', '--namespace', namespace])
    await cluster.deleteNamespace(namespace)
    cluster.close()
  })

  async function release(args: readonly string[], values?: object): Promise<HelmResult> {
    const result = await helm([...args, '--namespace', namespace], values)
    assert.equal(result.code, 0, `${result.stderr}\n${await diagnostics()}`)
    return result
  }

  /** What a person would look at first. */
  async function diagnostics(): Promise<string> {
    const looks = await Promise.all(
      [
        ['get', 'viewmesh,pods,pvc', '-o', 'wide'],
        ['get', 'events', '--sort-by=.lastTimestamp'],
        ['logs', '--selector', 'app.kubernetes.io/name=operator', '--tail', '40'],
      ].map((args) => cluster.kubectl(['--namespace', namespace, ...args])),
    )
    return looks.map(({ stdout }) => stdout).join('\n')
  }

  const wait = ['--wait', '--timeout', '3m']

  function operatorValues(more: object = {}): object {
    const [repository, tag] = clusterImage('operator').split(/:(?=[^/]*$)/)
    const operands = { generator: clusterImage('generator'), host: clusterImage('host') }
    return { image: { repository, tag }, operands, scope: { clusterWide: false }, ...more }
  }

  const chain = { name: 'Local', network: 'Devnet' }
  const generatorValues = {
    mode: 'operator',
    global: { imageRegistry: 'localhost' },
    spec: {
      chain,
      upstream: { service: { name: 'anvil', httpPort: anvilPort, wsPort: anvilPort } },
      start: { height: 0 },
      storage: { data: { size: '1Gi' } },
    },
  }
  const hostValues = {
    mode: 'operator',
    global: { imageRegistry: 'localhost' },
    spec: {
      chain,
      replicas: 2,
      generators: [{ name: 'dev' }],
      storage: { data: { size: '1Gi' } },
    },
  }

  interface ViewmeshStatus {
    readonly conditions?: readonly V1Condition[]
    readonly nodes?: readonly { readonly peerID?: string; readonly head?: number }[]
  }

  async function statusOf(plural: string, name: string): Promise<ViewmeshStatus> {
    const path = `/apis/viewmesh.io/v1alpha1/namespaces/${namespace}/${plural}/${name}`
    return ((await cluster.request('GET', path)).body.status ?? {}) as ViewmeshStatus
  }

  async function ready(...resources: readonly string[]): Promise<void> {
    const { code, stderr } = await cluster.kubectl([
      ...['--namespace', namespace, 'wait', '--for=condition=Ready', '--timeout=180s'],
      ...resources,
    ])
    assert.equal(code, 0, `${stderr}\n${await diagnostics()}`)
  }

  const pods = ['dev-generator-0', 'apps-host-0', 'apps-host-1']

  async function podUids(): Promise<unknown[]> {
    return await Promise.all(
      pods.map(async (name) => {
        const { body } = await cluster.request(
          'GET',
          `/api/v1/namespaces/${namespace}/pods/${name}`,
        )
        return body.metadata?.['uid']
      }),
    )
  }

  /** Peer IDs as the status tells them, once it tells those of all replicas. */
  async function peerIds(): Promise<string[]> {
    for (let attempt = 0; attempt < 150; attempt += 1) {
      const found = await Promise.all([statusOf('generators', 'dev'), statusOf('hosts', 'apps')])
      const ids = found.flatMap(({ nodes = [] }) => nodes.map(({ peerID }) => peerID))
      const known = ids.filter((id) => id !== undefined)
      if (known.length === pods.length) return known
      await sleep(1_000)
    }
    throw new Error(`no peer IDs in the status\n${await diagnostics()}`)
  }

  async function mayI(account: string, question: readonly string[]): Promise<boolean> {
    const { stdout } = await cluster.kubectl([
      ...['auth', 'can-i', ...question, '--as', `system:serviceaccount:${namespace}:${account}`],
    ])
    return stdout.trim() === 'yes'
  }

  let ids: string[]

  test('it installs, is ready, and passes helm test; it may neither list nor watch Secrets', async () => {
    const values = operatorValues({ crds: { install: false } })
    await release(['install', 'op', 'charts/operator', ...wait], values)
    await release(['test', 'op'])
    const account = 'op-viewmesh-operator'
    const here = ['--namespace', namespace]
    for (const verb of ['list', 'watch', 'delete', 'update']) {
      assert.equal(await mayI(account, [verb, 'secrets', ...here]), false, verb)
    }
    assert.equal(await mayI(account, ['get', 'secrets', ...here]), true)
    assert.equal(await mayI(account, ['get', 'secrets', '--namespace', 'default']), false)
    assert.equal(await mayI(account, ['create', 'rolebindings', ...here]), false)
  })

  test('a Generator and two Hosts from their charts become Ready and pass helm test', async () => {
    await release(['install', 'apps', 'charts/host'], hostValues)
    await release(['install', 'dev', 'charts/generator'], generatorValues)
    await ready('generator/dev', 'host/apps')
    ids = await peerIds()
    assert.equal(new Set(ids).size, 3)
    const images = (program: 'generator' | 'host'): object => {
      const [repository, tag] = clusterImage(program).split(/:(?=[^/]*$)/)
      return { image: { repository, tag } }
    }
    await upgradeOperands(images('generator'), images('host'))
    await release(['test', 'dev'])
    await release(['test', 'apps'])
  })

  /** The pods of `helm test` need an image that is here; the resources then name the one they have. */
  async function upgradeOperands(generator: object, host: object): Promise<void> {
    const withSpec = <T extends { readonly spec: object }>(values: T, more: object): object => ({
      ...values,
      spec: { ...values.spec, ...more },
    })
    const before = await podUids()
    await release(['upgrade', 'dev', 'charts/generator'], withSpec(generatorValues, generator))
    await release(['upgrade', 'apps', 'charts/host'], withSpec(hostValues, host))
    await ready('generator/dev', 'host/apps')
    assert.deepEqual(await podUids(), before)
  }

  test('the Hosts answer blocks of the running chain through their Service', async () => {
    const query = encodeURIComponent('{ Block(order: {number: DESC}, limit: 1) { number } }')
    const path = `/api/v1/namespaces/${namespace}/services/apps-host:9181/proxy/api/v0/graphql?query=${query}`
    let rows: readonly object[] = []
    for (let attempt = 0; attempt < 90 && rows.length === 0; attempt += 1) {
      const { body } = await cluster.request('GET', path)
      rows = (body as { readonly data?: { readonly Block: readonly object[] } }).data?.Block ?? []
      await sleep(1_000)
    }
    assert.equal(rows.length, 1, await diagnostics())
  })

  test('upgrading and rolling back the operator restarts no pod of a Generator or Host', async () => {
    const before = await podUids()
    const values = operatorValues({ crds: { install: false }, logLevel: 'debug' })
    await release(['upgrade', 'op', 'charts/operator', ...wait], values)
    await release(['rollback', 'op', '1', ...wait])
    await ready('generator/dev', 'host/apps')
    assert.deepEqual(await podUids(), before)
  })

  test('helm get shows no value of a Secret', async () => {
    const path = `/api/v1/namespaces/${namespace}/secrets/apps-host-keyring`
    const { data = {} } = (await cluster.request('GET', path)).body as V1Secret
    const { stdout } = await release(['get', 'all', 'apps'])
    assert.ok(Object.keys(data).length >= 2)
    for (const value of Object.values(data)) {
      assert.equal(stdout.includes(value), false)
      assert.equal(stdout.includes(Buffer.from(value, 'base64').toString()), false)
    }
  })

  test('without the operator the pods run on; CRDs, Secrets and volumes stay; a new install has the same peer IDs', async () => {
    const before = await podUids()
    await release(['uninstall', 'op', '--wait'])
    assert.deepEqual(await podUids(), before)
    await release(['uninstall', 'dev', 'apps', '--wait'])
    await gone()
    assert.deepEqual(await leftovers(), [
      'PersistentVolumeClaim data-apps-host-0',
      'PersistentVolumeClaim data-apps-host-1',
      'PersistentVolumeClaim data-dev-generator-0',
      'PersistentVolumeClaim keys-apps-host-0',
      'PersistentVolumeClaim keys-apps-host-1',
      'PersistentVolumeClaim keys-dev-generator-0',
      'Secret apps-host-keyring',
      'Secret dev-generator-keyring',
    ])
    const values = operatorValues({ crds: { install: false } })
    await release(['install', 'op', 'charts/operator', ...wait], values)
    await release(['install', 'dev', 'charts/generator'], generatorValues)
    await release(['install', 'apps', 'charts/host'], hostValues)
    await ready('generator/dev', 'host/apps')
    assert.deepEqual(await peerIds(), ids)
  })

  /** Waits until nothing of the resources runs any more. */
  async function gone(): Promise<void> {
    const { code, stderr } = await cluster.kubectl([
      ...['--namespace', namespace, 'wait', '--for=delete', '--timeout=120s', 'pods'],
      ...['--selector', 'apps.kubernetes.io/pod-index'],
    ])
    assert.equal(code, 0, stderr)
  }

  async function leftovers(): Promise<string[]> {
    const kinds = 'statefulset,service,configmap,secret,serviceaccount,pvc,pdb,networkpolicy,role'
    const { stdout } = await cluster.kubectl([
      ...['--namespace', namespace, 'get', `${kinds},viewmesh`, '--output', 'json'],
    ])
    const { items } = JSON.parse(stdout) as { readonly items: readonly V1Secret[] }
    return items
      .map(({ kind, metadata }) => `${kind} ${metadata?.name}`)
      .filter((name) => !/ (?:anvil|default|kube-root-ca\.crt)$/.test(name))
      .toSorted()
  }

  test('with CRDs of its own the chart takes them over, and leaves them when it goes', async () => {
    const values = operatorValues({ scope: { clusterWide: true }, replicaCount: 0 })
    await release(['install', 'wide', 'charts/operator', '--take-ownership', ...wait], values)
    const account = 'wide-viewmesh-operator'
    assert.equal(await mayI(account, ['get', 'secrets', '--namespace', 'default']), true)
    assert.equal(await mayI(account, ['list', 'secrets', '--all-namespaces']), false)
    assert.equal(await mayI(account, ['watch', 'hosts.viewmesh.io', '--all-namespaces']), true)
    await release(['uninstall', 'wide', '--wait'])
    const { status } = await cluster.request('GET', '/apis/viewmesh.io/v1alpha1/hosts')
    assert.equal(status, 200)
  })
})
