import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { V1Container, V1ContainerStatus, V1Pod, V1Volume } from '@kubernetes/client-node'
import { parse, stringify } from 'yaml'
import { repository } from '../../../support/repository.ts'
import { type Cluster, openCluster, restrictedLevel } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { eventually } from '../support/cluster-resources.ts'

interface Snippet {
  readonly podLabels: Readonly<Record<string, string>>
  readonly extraContainers: [V1Container]
  readonly extraVolumes: V1Volume[]
}

const snippet: Snippet = parse(readFileSync(`${repository}/charts/sidecar/geth.yaml`, 'utf8'))
const claims = readFileSync(`${repository}/charts/sidecar/claims.yaml`, 'utf8')
const service = readFileSync(`${repository}/charts/sidecar/service.yaml`, 'utf8')

/** The node's user and group, as the charts of execution clients have them. */
const nodeUser = 10001

/**
 * A Generator as one more container beside the node: whatever becomes of it, the node's container runs
 * on and is not restarted.
 */
describe('a Generator in the pod of an execution node', { timeout: 600_000 }, () => {
  let cluster: Cluster
  let namespace: string

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    cluster = await openCluster()
    namespace = await cluster.createNamespace(restrictedLevel)
    const stringData = Object.fromEntries(
      ['0', 'schema-keys'].map((key) => [key, randomBytes(32).toString('base64url')]),
    )
    const metadata = { name: 'viewmesh-generator-keyring' }
    const keyring = stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData })
    await apply(claims, service, keyring)
  })
  after(async () => {
    await cluster.deleteNamespace(namespace)
    cluster.close()
  })

  async function apply(...documents: readonly string[]): Promise<void> {
    const args = ['--namespace', namespace, 'apply', '-f', '-']
    const { code, stderr } = await cluster.kubectl(args, documents.join('---\n'))
    assert.equal(code, 0, stderr)
  }

  /** A pod with anvil as the node and the snippet's container, changed as a case wants it. */
  async function startPod(name: string, change: Partial<V1Container>): Promise<void> {
    const [container] = snippet.extraContainers
    const tmp = { name: 'tmp', emptyDir: {} }
    const node: V1Container = {
      name: 'node',
      image: clusterImage('anvil'),
      args: ['--host', '0.0.0.0', '--block-time', '1', '--chain-id', '1'],
      readinessProbe: { tcpSocket: { port: 8545 }, periodSeconds: 1 },
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    }
    const image = clusterImage('generator')
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: snippet.podLabels },
      spec: {
        terminationGracePeriodSeconds: 1,
        securityContext: {
          fsGroup: nodeUser,
          runAsGroup: nodeUser,
          runAsNonRoot: true,
          runAsUser: nodeUser,
        },
        containers: [node, { ...container, image, ...change }],
        volumes: [...snippet.extraVolumes, tmp],
      },
    }
    await apply(stringify(pod))
  }

  async function readPod(name: string): Promise<V1Pod> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`
    return (await cluster.request('GET', path)).body as V1Pod
  }

  function statusOf(pod: V1Pod, container: string): V1ContainerStatus | undefined {
    return pod.status?.containerStatuses?.find(({ name }) => name === container)
  }

  /** Polls until the pod is as wanted. Throws with its status where it never is. */
  async function podThat(name: string, isWanted: (pod: V1Pod) => boolean): Promise<V1Pod> {
    for (let attempt = 0; attempt < 240; attempt += 1) {
      const pod = await readPod(name)
      if (isWanted(pod)) return pod
      await sleep(500)
    }
    throw new Error(JSON.stringify((await readPod(name)).status, null, 2))
  }

  function isReady(pod: V1Pod): boolean {
    return pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  }

  function assertNodeUntouched(pod: V1Pod): void {
    const node = statusOf(pod, 'node')
    assert.notEqual(node?.state?.running, undefined)
    assert.deepEqual([node?.ready, node?.restartCount], [true, 0])
  }

  async function removePod(name: string): Promise<void> {
    await cluster.kubectl(['--namespace', namespace, 'delete', 'pod', name, '--now'])
  }

  const generatorOf = (pod: V1Pod): V1ContainerStatus | undefined =>
    statusOf(pod, 'viewmesh-generator')

  interface Health {
    readonly head?: number | null
    readonly p2p?: {
      readonly self?: { readonly id: string }
      readonly peers: readonly { readonly id: string }[]
    }
  }

  /** The health report of a pod, as soon as it is as wanted. */
  async function healthThat(pod: string, isWanted: (health: Health) => boolean): Promise<Health> {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}:8080/proxy/health`
    return await eventually(async () => {
      const health = (await cluster.request('GET', path)).body as Health
      assert.ok(isWanted(health), JSON.stringify(health))
      return health
    })
  }

  /** A Host in a pod of its own, with a key that is gone with it. */
  async function startHost(name: string, bootstrapPeer: string): Promise<void> {
    const [{ env = [], securityContext, volumeMounts = [] }] = snippet.extraContainers
    const settings = {
      DB_KEYRING_SECRET_FILE: '/run/viewmesh/secrets/0',
      BOOTSTRAP_PEERS: bootstrapPeer,
    }
    const container: V1Container = {
      name: 'host',
      image: clusterImage('host'),
      env: [
        ...env.filter((variable) => variable.name.startsWith('CHAIN_')),
        ...Object.entries(settings).map(([variable, value]) => ({ name: variable, value })),
      ],
      ...(securityContext && { securityContext }),
      volumeMounts: [
        { name: 'home', mountPath: '/app/.viewmesh' },
        ...volumeMounts.filter((mount) => mount.name === 'viewmesh-secrets'),
      ],
    }
    const secrets = snippet.extraVolumes.filter((volume) => volume.name === 'viewmesh-secrets')
    await apply(
      stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: {
          terminationGracePeriodSeconds: 1,
          securityContext: { fsGroup: 1001 },
          containers: [container],
          volumes: [...secrets, { name: 'home', emptyDir: {} }],
        },
      }),
    )
  }

  test('both containers run, the pod is Ready, and a Host gets the blocks through the Service', async () => {
    const [{ env = [] }] = snippet.extraContainers
    await startPod('healthy', { env: [...env, { name: 'GENERATOR_START_HEIGHT', value: '0' }] })
    await podThat('healthy', isReady)
    const { p2p } = await healthThat('healthy', ({ head }) => Number(head) >= 1)
    const id = `${p2p?.self?.id}`
    const address = `/dns4/viewmesh-generator.${namespace}.svc.cluster.local/tcp/9171/p2p/${id}`
    await startHost('host', address)
    const host = await healthThat('host', ({ head }) => Number(head) >= 1)
    assert.deepEqual(
      host.p2p?.peers.map((peer) => peer.id),
      [id],
    )
    assertNodeUntouched(await readPod('healthy'))
    await removePod('host')
    await removePod('healthy')
  })

  test('with an image that is missing the node runs on; the pod is not Ready', async () => {
    await startPod('missing', { image: 'localhost/viewmesh-none:none', imagePullPolicy: 'Never' })
    const pod = await podThat(
      'missing',
      (found) =>
        generatorOf(found)?.state?.waiting?.reason === 'ErrImageNeverPull' &&
        statusOf(found, 'node')?.ready === true,
    )
    assertNodeUntouched(pod)
    assert.equal(isReady(pod), false)
    await removePod('missing')
  })

  test('a sidecar that crash-loops leaves the node running and the pod not Ready', async () => {
    await startPod('crashing', { env: [{ name: 'NODE_RPC_URL', value: 'not a URL' }] })
    const pod = await podThat('crashing', (found) => {
      const { restartCount = 0, state } = generatorOf(found) ?? {}
      return restartCount >= 2 && state?.waiting?.reason === 'CrashLoopBackOff'
    })
    assertNodeUntouched(pod)
    assert.equal(isReady(pod), false)
    await removePod('crashing')
  })

  test('where it does not reach the node, the pod becomes Ready all the same', async () => {
    const [{ env = [] }] = snippet.extraContainers
    const elsewhere = env.filter(({ name }) => !name.startsWith('NODE_'))
    await startPod('unready', {
      env: [...elsewhere, { name: 'NODE_RPC_URL', value: 'http://127.0.0.1:1' }],
    })
    const pod = await podThat('unready', isReady)
    assertNodeUntouched(pod)
    assert.notEqual(generatorOf(pod)?.state?.running, undefined)
    await removePod('unready')
  })
})
