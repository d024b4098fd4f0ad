import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { commandsOf } from '../../../docs/support/page.ts'
import { anvilPort, deployAnvil } from '../support/anvil-pod.ts'
import { type Cluster, openCluster, restrictedLevel } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { eventually } from '../support/cluster-resources.ts'
import {
  gotFromHelm,
  imageValues,
  type ReleaseCommand,
  releasesIn,
  untilReady,
} from '../support/helm.ts'
import { expectHidden, secretValues, shownIn } from '../support/secret-values.ts'
import { runShown } from '../support/shown-command.ts'

/**
 * The standalone charts from install to uninstall and back, in a namespace of the restricted Pod
 * Security level: real images, a running chain, the same peer IDs afterwards.
 */
describe('the standalone charts', { timeout: 900_000 }, () => {
  let cluster: Cluster
  let namespace: string
  let release: ReleaseCommand

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    cluster = await openCluster()
    namespace = await cluster.createNamespace(restrictedLevel)
    release = releasesIn(namespace)
    await deployAnvil(cluster, namespace)
    for (const name of ['gen-generator-keyring', 'hosts-host-keyring']) {
      const shown = name.replace(/^[a-z]+/, 'mainnet')
      const [create = ''] = commandsOf(
        'docs/kubernetes/charts.md',
        `create secret generic ${shown}`,
      )
      await runShown(create.replace(shown, name), namespace)
    }
  })
  after(async () => {
    await cluster.deleteNamespace(namespace)
    cluster.close()
  })

  interface Health {
    readonly status: string
    readonly head: number | null
    readonly p2p: { readonly self: { readonly id: string } }
  }

  async function health(pod: string): Promise<Health> {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}:8080/proxy/health`
    const { status, body } = await cluster.request('GET', path)
    assert.equal(status, 200)
    return body as unknown as Health
  }

  const peerId = async (pod: string): Promise<string> => (await health(pod)).p2p.self.id

  async function podUid(pod: string): Promise<unknown> {
    const { body } = await cluster.request('GET', `/api/v1/namespaces/${namespace}/pods/${pod}`)
    return body.metadata?.['uid']
  }

  const generatorValues = {
    mode: 'standalone',
    existingSecret: 'gen-generator-keyring',
    spec: {
      image: imageValues(clusterImage('generator')),
      chain: { name: 'Local', network: 'Devnet' },
      upstream: { service: { name: 'anvil', httpPort: anvilPort, wsPort: anvilPort } },
      start: { height: 0 },
      storage: { data: { size: '1Gi' } },
    },
  }

  function hostValues(replicas: number, generator: string): object {
    const address = `gen-generator-nodes.${namespace}.svc.cluster.local`
    return {
      mode: 'standalone',
      existingSecret: 'hosts-host-keyring',
      spec: {
        replicas,
        image: imageValues(clusterImage('host')),
        chain: { name: 'Local', network: 'Devnet' },
        bootstrapPeers: [`/dns4/${address}/tcp/9171/p2p/${generator}`],
        storage: { data: { size: '1Gi' } },
      },
    }
  }

  let generatorId: string
  let hostIds: string[]

  test('a Generator and two Hosts install, become ready, and pass helm test', async () => {
    await release(['install', 'gen', 'charts/generator', ...untilReady], generatorValues)
    generatorId = await peerId('gen-generator-0')
    await release(['install', 'hosts', 'charts/host', ...untilReady], hostValues(2, generatorId))
    hostIds = await Promise.all(['hosts-host-0', 'hosts-host-1'].map(peerId))
    assert.equal(new Set([generatorId, ...hostIds]).size, 3)
    await release(['test', 'gen'])
    await release(['test', 'hosts'])
  })

  test('the Hosts answer blocks of the running chain through their Service', async () => {
    const query = encodeURIComponent('{ Block(order: {number: DESC}, limit: 1) { number hash } }')
    const path = `/api/v1/namespaces/${namespace}/services/hosts-host:9181/proxy/api/v0/graphql?query=${query}`
    await eventually(async () => {
      const { body } = await cluster.request('GET', path)
      const { data } = body as { readonly data?: { readonly Block: readonly object[] } }
      assert.equal(data?.Block.length, 1)
    })
  })

  test('no value of a Secret is in a log, an Event, a ConfigMap or helm get', async () => {
    const values = await secretValues(cluster, namespace)
    assert.equal(values.length, 8)
    expectHidden(values, {
      ...(await shownIn(cluster, namespace)),
      ...(await gotFromHelm(release, ['gen', 'hosts'])),
    })
  })

  test('a new peer address restarts no pod, a new setting replaces pods, and peer IDs stay', async () => {
    const before = await podUid('hosts-host-0')
    const values = hostValues(2, generatorId)
    const more = structuredClone(values) as {
      spec: { bootstrapPeers: string[]; podTemplate?: object }
    }
    more.spec.bootstrapPeers.push(`/dns4/gen.example.org/tcp/9171/p2p/${generatorId}`)
    await release(['upgrade', 'hosts', 'charts/host', ...untilReady], more)
    assert.equal(await podUid('hosts-host-0'), before)

    const env = [{ name: 'LOG_LEVEL', value: 'debug' }]
    more.spec.podTemplate = { spec: { containers: [{ name: 'host', env }] } }
    await release(['upgrade', 'hosts', 'charts/host', ...untilReady], more)
    assert.notEqual(await podUid('hosts-host-0'), before)
    assert.deepEqual(await Promise.all(['hosts-host-0', 'hosts-host-1'].map(peerId)), hostIds)

    await release(['rollback', 'hosts', '1', ...untilReady])
    assert.deepEqual(await Promise.all(['hosts-host-0', 'hosts-host-1'].map(peerId)), hostIds)
  })

  test('a replica made before its key says so, and runs after what the page shows', async () => {
    await release(['upgrade', 'hosts', 'charts/host'], hostValues(3, generatorId))
    const path = `/api/v1/namespaces/${namespace}/pods/hosts-host-2`
    await eventually(async () => {
      const { status } = (await cluster.request('GET', path)).body as V1Pod
      const [container] = status?.containerStatuses ?? []
      const ended = container?.state?.terminated ?? container?.lastState?.terminated
      assert.match(`${ended?.message}`, /is a directory, as in Kubernetes where the Secret lack/)
    })
    const shown = commandsOf('docs/kubernetes/charts.md', 'patch secret')
    assert.equal(shown.length, 2)
    for (const line of shown) await runShown(line.replace('mainnet-', 'hosts-'), namespace)
    await eventually(() => health('hosts-host-2'))
    assert.deepEqual(await Promise.all(['hosts-host-0', 'hosts-host-1'].map(peerId)), hostIds)
  })

  test('uninstall leaves exactly Secret and volumes, and a new release has the same peer IDs', async () => {
    await release(['uninstall', 'gen', ...untilReady])
    await release(['uninstall', 'hosts', ...untilReady])
    assert.deepEqual(await leftovers(), [
      'PersistentVolumeClaim data-gen-generator-0',
      'PersistentVolumeClaim data-hosts-host-0',
      'PersistentVolumeClaim data-hosts-host-1',
      'PersistentVolumeClaim data-hosts-host-2',
      'PersistentVolumeClaim keys-gen-generator-0',
      'PersistentVolumeClaim keys-hosts-host-0',
      'PersistentVolumeClaim keys-hosts-host-1',
      'PersistentVolumeClaim keys-hosts-host-2',
      'Secret gen-generator-keyring',
      'Secret hosts-host-keyring',
    ])
    await release(['install', 'gen', 'charts/generator', ...untilReady], generatorValues)
    await release(['install', 'hosts', 'charts/host', ...untilReady], hostValues(2, generatorId))
    assert.equal(await peerId('gen-generator-0'), generatorId)
    assert.deepEqual(await Promise.all(['hosts-host-0', 'hosts-host-1'].map(peerId)), hostIds)
  })

  /** Objects of these releases; what Kubernetes itself puts into a namespace and anvil are left out. */
  async function leftovers(): Promise<string[]> {
    const kinds = 'statefulset,service,configmap,secret,serviceaccount,pvc,pdb,networkpolicy'
    const { stdout } = await cluster.kubectl([
      ...['--namespace', namespace, 'get', kinds, '--output', 'json'],
    ])
    const { items } = JSON.parse(stdout) as { readonly items: readonly V1PersistentVolumeClaim[] }
    return items
      .map(({ kind, metadata }) => `${kind} ${metadata?.name}`)
      .filter((name) => !/ (?:anvil|default|kube-root-ca\.crt)$/.test(name))
      .toSorted()
  }
})
