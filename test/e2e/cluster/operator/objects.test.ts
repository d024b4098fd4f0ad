import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { V1PodTemplateSpec, V1StatefulSet } from '@kubernetes/client-node'
import { records } from '../../../../operator/api/annotations.ts'
import type { Generator, Host } from '../../../../operator/api.ts'
import { driftOf } from '../../../../operator/resources/drift/drift.ts'
import { generatorObjects } from '../../../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import type { ChildObject } from '../../../../operator/resources/objects/child-object.ts'
import { keyringSecret } from '../../../../operator/resources/secrets/keyring-secret.ts'
import {
  generatorCases,
  hostCases,
  hostContext,
  readGenerator,
  readHost,
  readManifest,
} from '../../../support/resources/operator-cases.ts'
import {
  type Cluster,
  type ClusterAnswer,
  expectStatus,
  openCluster,
  restrictedLevel,
} from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { eventually } from '../support/cluster-resources.ts'

const collections: Readonly<Record<string, string>> = {
  ConfigMap: '/api/v1/namespaces/N/configmaps',
  NetworkPolicy: '/apis/networking.k8s.io/v1/namespaces/N/networkpolicies',
  PodDisruptionBudget: '/apis/policy/v1/namespaces/N/poddisruptionbudgets',
  Secret: '/api/v1/namespaces/N/secrets',
  Service: '/api/v1/namespaces/N/services',
  ServiceAccount: '/api/v1/namespaces/N/serviceaccounts',
  StatefulSet: '/apis/apps/v1/namespaces/N/statefulsets',
}
const applyType = 'application/apply-patch+yaml'
const strict = { fieldManager: 'viewmesh-operator', force: 'true', fieldValidation: 'Strict' }

const tried = { dryRun: 'All', fieldValidation: 'Strict' }

interface AnyObject {
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
}

function pathOf({ kind = '', metadata }: AnyObject): string {
  const folder = collections[kind]?.replace('/N/', `/${metadata?.namespace}/`)
  assert.ok(folder, `no path for ${kind}`)
  return `${folder}/${metadata?.name}`
}

/** The same in another namespace, where its references to the old one do not matter. */
function inNamespace<T extends Generator | Host>(resource: T, namespace: string): T {
  return { ...resource, metadata: { ...resource.metadata, namespace } }
}

describe('what the builders make, on a real API server', () => {
  let cluster: Cluster
  let restricted: string
  let privileged: string

  const apply = async (
    object: object,
    query: Record<string, string> = {},
  ): Promise<ClusterAnswer> =>
    await cluster.request('PATCH', pathOf(object), {
      body: object,
      query: { ...strict, ...query },
      type: applyType,
    })

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    cluster = await openCluster()
    await cluster.installDefinitions()
    restricted = await cluster.createNamespace(restrictedLevel)
    privileged = await cluster.createNamespace()
  })
  after(async () => {
    await cluster.deleteNamespace(restricted)
    await cluster.deleteNamespace(privileged)
    cluster.close()
  })

  /** Everything of a case, in a namespace that takes it. */
  const objectsOf = (name: string): readonly ChildObject[] => {
    const context = generatorCases[name]
    const namespace = name === 'generator-url' ? privileged : restricted
    return context === undefined
      ? hostObjects(inNamespace(readHost(name), namespace), hostCases[name] ?? hostContext).objects
      : generatorObjects(inNamespace(readGenerator(name), namespace), context).objects
  }

  for (const name of [...Object.keys(generatorCases), ...Object.keys(hostCases)]) {
    test(`${name}: the resource is accepted, with the defaults that builders count on`, async () => {
      const isHost = name in hostCases
      const resource = isHost ? readHost(name) : readGenerator(name)
      const path = `/apis/viewmesh.io/v1alpha1/namespaces/${restricted}/${isHost ? 'hosts' : 'generators'}`
      const body = { ...resource, metadata: { name: 'tried' }, spec: readManifest(name).spec }
      const answer = await expectAccepted(cluster.request('POST', path, { body, query: tried }))
      assert.deepEqual(answer.body.spec, resource.spec)
    })

    test(`${name}: every object is accepted, field by field, and then needs nothing more`, async () => {
      for (const object of objectsOf(name)) {
        const { body } = await expectAccepted(apply(object, { dryRun: 'All' }))
        assert.deepEqual(driftOf(object, body), [], pathOf(object))
      }
    })

    test(`${name}: its pods are allowed where it should run`, async () => {
      const set = objectsOf(name).at(-1) as V1StatefulSet
      const { status, body } = await cluster.request(
        'POST',
        `/api/v1/namespaces/${set.metadata?.namespace}/pods`,
        { body: podOf(set), query: { dryRun: 'All', fieldValidation: 'Strict' } },
      )
      assert.equal(status, 201, body.message)
    })
  }

  test('ports of one number with two protocols are applied as written, once', async () => {
    const minimal = readHost('host-minimal')
    const ports = [
      { containerPort: 53, protocol: 'UDP' as const },
      { containerPort: 53, protocol: 'TCP' as const },
    ]
    const podTemplate = { spec: { containers: [{ name: 'dns', image: 'dns', ports }] } }
    const host = inNamespace({ ...minimal, spec: { ...minimal.spec, podTemplate } }, restricted)
    const set = hostObjects(host, hostContext).objects.at(-1) as V1StatefulSet
    const { body } = await expectAccepted(apply(set, { dryRun: 'All' }))
    const accepted = (body as unknown as V1StatefulSet).spec?.template.spec?.containers
    assert.deepEqual(accepted?.find(({ name }) => name === 'dns')?.ports, ports)
    assert.deepEqual(driftOf(set, body), [])
  })

  /** Creates the resource, since what belongs to nothing that exists is soon collected as garbage. */
  const create = async (host: Host): Promise<Host> => {
    const path = `/apis/viewmesh.io/v1alpha1/namespaces/${restricted}/hosts`
    const { name } = host.metadata
    const body = { ...host, metadata: { name } }
    const answer = await expectAccepted(cluster.request('POST', path, { body }))
    return answer.body as unknown as Host
  }

  test('applying again changes nothing', async () => {
    const { spec, ...rest } = readHost('host-full')
    const parked = await create({ ...rest, spec: { ...spec, replicas: 0 } })
    for (const object of hostObjects(parked, hostContext).objects) {
      const first = await expectAccepted(apply(object))
      const second = await expectAccepted(apply(object))
      assert.deepEqual(versionOf(second), versionOf(first), pathOf(object))
    }
  })

  /** Has the kubelet look at a pod now rather than within a minute and a half, as the operator does. */
  const nudge = async (pod: string): Promise<void> => {
    const path = `/api/v1/namespaces/${restricted}/pods/${pod}`
    const body = { metadata: { annotations: { [records.configMap]: 'x' } } }
    const type = 'application/merge-patch+json'
    await expectAccepted(cluster.request('PATCH', path, { body, type }))
  }

  test('pods run as 1001 with their own key, writable volumes and files that follow', async () => {
    const minimal = readHost('host-minimal')
    const spec = { ...minimal.spec, replicas: 2, storage: smallStorage(minimal) }
    const host = await create({ ...minimal, spec })
    const keys = new Map([
      [0, 'first key'],
      [1, 'second key'],
    ])
    await expectAccepted(apply(keyringSecret(host, keys)))
    for (const object of hostObjects(host, hostContext).objects) {
      await expectAccepted(apply(object.kind === 'StatefulSet' ? withStandIn(object) : object))
    }
    const set = pathOf(hostObjects(host, hostContext).objects.at(-1) ?? {})
    await eventually(async () => {
      const { body } = await cluster.request('GET', set)
      assert.equal((body.status as { readyReplicas?: number }).readyReplicas, 2)
    })

    const inPod = async (ordinal: number, expression: string): Promise<unknown> => {
      const command = ['node', '--print', `JSON.stringify(${expression})`]
      const args = ['--namespace', restricted, 'exec', `mainnet-host-${ordinal}`, '--', ...command]
      const { code, stdout, stderr } = await cluster.kubectl(args)
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout)
    }
    const content = (variable: string): string =>
      `fs.readFileSync(process.env.${variable}, 'utf8').trim()`
    const writing = (path: string): string =>
      `(() => { try { fs.writeFileSync(${path}, 'x') } catch ({ code }) { return code } })() ?? 'written'`
    assert.deepEqual(await inPod(0, '[process.getuid(), process.getgid()]'), [1001, 1001])
    assert.equal(await inPod(0, content('DB_KEYRING_SECRET_FILE')), 'first key')
    assert.equal(await inPod(1, content('DB_KEYRING_SECRET_FILE')), 'second key')
    assert.equal(await inPod(1, 'process.env.P2P_ANNOUNCE_FILE'), '/etc/viewmesh/announce-1')
    const places = [
      "process.env.DB_KEY_PATH + '/a'",
      "process.env.DB_STORE_PATH + '/a'",
      "'/app/a'",
    ]
    assert.deepEqual(await inPod(1, `[${places.map(writing)}]`), ['written', 'written', 'EROFS'])
    assert.equal(await inPod(1, "fs.existsSync('/var/run/secrets/kubernetes.io')"), false)

    const announce = [[], ['/ip4/203.0.113.7/tcp/9171']]
    for (const object of hostObjects(host, { ...hostContext, announce }).objects) {
      if (object.kind === 'ConfigMap') await expectAccepted(apply(object))
    }
    await nudge('mainnet-host-1')
    await eventually(async () => {
      assert.equal(await inPod(1, content('P2P_ANNOUNCE_FILE')), '/ip4/203.0.113.7/tcp/9171')
    })
  })
})

function smallStorage({ spec }: Host): Host['spec']['storage'] {
  const { keys, data } = spec.storage
  return { ...spec.storage, keys: { ...keys, size: '1Mi' }, data: { ...data, size: '1Mi' } }
}

/** Changes with every write, but for a StatefulSet, of which its controller writes the status. */
function versionOf({ body }: ClusterAnswer): unknown {
  const { metadata = {}, kind } = body
  return kind === 'StatefulSet' ? metadata['generation'] : metadata['resourceVersion']
}

/** A pod as the StatefulSet controller would make it, without what it refers to elsewhere. */
function podOf({ metadata, spec }: V1StatefulSet): object {
  const template: V1PodTemplateSpec = spec?.template ?? {}
  const volumes = [
    ...(template.spec?.volumes ?? []),
    ...['keys', 'data'].map((name) => ({ name, emptyDir: {} })),
  ]
  const labels = { ...template.metadata?.labels, 'apps.kubernetes.io/pod-index': '0' }
  const { serviceAccountName, priorityClassName, ...rest } = template.spec ?? { containers: [] }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one', namespace: metadata?.namespace, labels },
    spec: { ...rest, volumes },
  }
}

/** In place of the program, from its own image: answers /health on 8080, whatever is in its volumes. */
function withStandIn(set: ChildObject): object {
  const { spec } = set as V1StatefulSet
  const template = spec?.template
  const script = `require('node:http').createServer((_, answer) => answer.end()).listen(8080)
    process.on('SIGTERM', () => process.exit())`
  const containers = (template?.spec?.containers ?? []).map((container) => ({
    ...container,
    image: clusterImage('host'),
    command: ['node', '--eval', script],
    resources: {},
  }))
  return {
    ...set,
    spec: { ...spec, template: { ...template, spec: { ...template?.spec, containers } } },
  }
}

async function expectAccepted(answer: Promise<ClusterAnswer>): Promise<ClusterAnswer> {
  const found = await answer
  return await expectStatus(Promise.resolve(found), found.status === 201 ? 201 : 200)
}
