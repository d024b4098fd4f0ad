import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import { generatorObjects } from '../../../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import { siblingAddresses } from '../../../../operator/resources/names/addresses.ts'
import type { ChildObject } from '../../../../operator/resources/objects/child-object.ts'
import type { GeneratorContext, HostContext } from '../../../../operator/resources/pod/context.ts'
import { readSchema } from '../../../support/resources/crd-schema.ts'
import {
  generatorCases,
  generatorContext,
  hostCases,
  hostContext,
  readGenerator,
  readHost,
  readManifest,
} from '../../../support/resources/operator-cases.ts'
import { withDefaults } from '../../../support/resources/schema-defaults.ts'
import { isHook, type RenderedObject, renderChart } from '../support/helm.ts'

const existingSecret = 'my-keyring'
const images = {
  generator: 'images.example/viewmesh-generator:0.1.0',
  host: 'images.example/viewmesh-host:0.1.0',
}
const global = { imageRegistry: 'images.example', imagePullSecrets: [{ name: 'pull' }] }
const shared = { mode: 'standalone', existingSecret, global }

type Loose = Record<string, unknown>
/** Objects by kind and name: those of the chart, and those of the operator. */
type Both = [Record<string, Loose>, Record<string, Loose>]

/** An object without what says who made it, and what only the operator writes down. */
function withoutMaker(object: ChildObject | RenderedObject): Loose {
  const { ownerReferences: _, annotations = {}, labels, ...metadata } = object.metadata as Loose
  const kept = Object.entries(annotations as Loose).filter(
    ([name]) => !name.startsWith('viewmesh.io/'),
  )
  const { 'app.kubernetes.io/managed-by': maker, ...others } = labels as Loose
  assert.ok(maker)
  const shown = kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }
  return JSON.parse(
    JSON.stringify({ ...object, metadata: { ...metadata, ...shown, labels: others } }),
  )
}

function byName(objects: readonly (ChildObject | RenderedObject)[]): Record<string, Loose> {
  return Object.fromEntries(
    objects.map((object) => [`${object.kind} ${object.metadata?.name}`, withoutMaker(object)]),
  )
}

/** A manifest's spec without the fields that only the operator heeds, which the chart refuses. */
function heededAlone(name: string): Loose {
  const spec = structuredClone(readManifest(name).spec) as Loose & {
    readonly schemaAuth?: Loose
    readonly storage?: { readonly data?: Loose }
  }
  for (const field of ['paused', 'rollout', 'identity', 'generators']) delete spec[field]
  delete spec.schemaAuth?.['allowedNamespaces']
  delete spec.storage?.data?.['deletionPolicy']
  return spec
}

const defaults = { ...hostContext.defaults, images, imagePullSecrets: ['pull'] }

/** Of a Generator; `given` is the spec that the chart gets. */
async function ofGenerator(
  generator: Generator,
  given: object,
  context: GeneratorContext,
): Promise<Both> {
  const { metadata, spec } = generator
  const keys = { keysSecretRef: { name: existingSecret, key: 'schema-keys' } }
  const wanted: Generator = {
    ...generator,
    metadata: { ...metadata, annotations: {} },
    spec: {
      ...spec,
      identity: { ...spec.identity, secretRef: { name: existingSecret } },
      schemaAuth: { ...keys, ...spec.schemaAuth },
    },
  }
  const { objects } = generatorObjects(wanted, { ...context, announce: [], defaults })
  const { executionNode } = context
  const node = executionNode === null ? {} : { executionNode }
  const rendered = await renderChart('generator', metadata, { ...shared, spec: given, ...node })
  return [byName(rendered.filter((object) => !isHook(object))), byName(objects)]
}

/** The same of a Host. */
async function ofHost(
  host: Host,
  given: object,
  values: object = {},
  context: Partial<HostContext> = {},
): Promise<Both> {
  const { metadata, spec } = host
  const { generators: _, ...alone } = spec
  const identity = { ...spec.identity, secretRef: { name: existingSecret } }
  const { objects } = hostObjects(
    { ...host, spec: { ...alone, identity } },
    { ...hostContext, defaults, ...context },
  )
  const rendered = await renderChart('host', metadata, { ...shared, spec: given, ...values })
  return [byName(rendered.filter((object) => !isHook(object))), byName(objects)]
}

for (const [name, context] of Object.entries(generatorCases)) {
  test(`${name}: the standalone chart makes the same objects as the operator`, async () => {
    assert.deepEqual(...(await ofGenerator(readGenerator(name), heededAlone(name), context)))
  })
}

for (const name of Object.keys(hostCases)) {
  test(`${name}: the standalone chart makes the same objects as the operator`, async () => {
    assert.deepEqual(...(await ofHost(readHost(name), heededAlone(name))))
  })
}

/** A resource with another spec, as the API server would hold it. */
function withSpec<T extends Generator | Host>(resource: T, spec: object): T {
  return withDefaults(readSchema(resource.kind), { ...resource, spec }) as T
}

const service = { name: 'geth' }
const matchLabels = { app: 'anvil' }

/** Specs that ask for one thing each, which the templates set or leave out. */
const generatorSpecs: Readonly<Record<string, object>> = {
  'no place beside the node': { upstream: { service: { ...service, colocate: 'None' } } },
  'a start at the newest block': { upstream: { service }, start: { behindHead: 0 } },
  'a start behind it': { upstream: { service }, start: { behindHead: 20 } },
  'pods with one port': { upstream: { podSelector: { matchLabels, wsPort: 8545 } } },
  'pods with two ports': { upstream: { podSelector: { matchLabels, wsPort: 8546 } } },
  'a port of each machine': {
    upstream: { service },
    p2p: { service: { type: 'NodePort', nodePort: 30_303 }, announce: ['/dns4/a/tcp/30303'] },
  },
  'a load balancer of a class': {
    upstream: { service },
    p2p: { service: { type: 'LoadBalancer', loadBalancerClass: 'example.org/public' } },
  },
  'no network policy': { upstream: { service }, networkPolicy: { enabled: false } },
  'a suspended pod': { upstream: { service }, suspend: true },
}

for (const [what, spec] of Object.entries(generatorSpecs)) {
  test(`generator with ${what}: the standalone chart makes the same as the operator`, async () => {
    const generator = withSpec(readGenerator('generator-minimal'), spec)
    const { namespace } = generator.metadata
    const executionNode = { namespace, labels: matchLabels }
    const context = { ...generatorContext, executionNode }
    assert.deepEqual(...(await ofGenerator(generator, spec, context)))
  })
}

test('the standalone chart puts a Generator anywhere where the pods of its node are not known', async () => {
  const spec = { upstream: { service: { ...service, colocate: 'Required' } } }
  const generator = withSpec(readGenerator('generator-minimal'), spec)
  const context = { ...generatorContext, executionNode: null }
  assert.deepEqual(...(await ofGenerator(generator, spec, context)))
})

const hostSpecs: Readonly<Record<string, object>> = {
  'three replicas, the last of which are replaced': { replicas: 3, updatePartition: 1 },
  'ports of each machine': {
    services: { api: { type: 'NodePort' }, p2p: { type: 'NodePort', publicHealth: false } },
  },
  'peers inside the cluster': { replicas: 2, services: { p2p: { type: 'ClusterIP' } } },
  'peers outside, and health inside': {
    services: { p2p: { type: 'LoadBalancer', publicHealth: false } },
  },
  'half a registry': { registry: { lcdUrl: 'https://registry.example.org' } },
  'no network policy': { networkPolicy: { enabled: false } },
  'suspended pods': { replicas: 2, suspend: true, services: { p2p: { type: 'LoadBalancer' } } },
  'blocks and a lag to be ready with': { readiness: { minBlocks: 0, maxLag: 50 } },
  'a lag to be ready with': { readiness: { maxLag: 1_000_000 } },
  'the network of its machine': { podTemplate: { spec: { hostNetwork: true } } },
}

test('the standalone chart names the replicas to each other that its values name', async () => {
  const spec = { replicas: 2 }
  const host = withSpec(readHost('host-minimal'), spec)
  const peerIDs = new Map([
    [0, 'first'],
    [1, 'second'],
  ])
  const siblings = siblingAddresses(host, peerIDs, hostContext.clusterDomain)
  assert.equal(siblings.length, 2)
  assert.deepEqual(...(await ofHost(host, spec, { siblings }, { peerIDs })))
})

for (const [what, spec] of Object.entries(hostSpecs)) {
  test(`host with ${what}: the standalone chart makes the same as the operator`, async () => {
    const host = withSpec(readHost('host-minimal'), spec)
    assert.deepEqual(...(await ofHost(host, spec)))
  })
}

test('the standalone chart distinguishes items of lists as the operator does', async () => {
  const spread = { maxSkew: 1, topologyKey: 'zone', labelSelector: {} }
  const podTemplate = {
    spec: {
      topologySpreadConstraints: [
        { ...spread, whenUnsatisfiable: 'DoNotSchedule' },
        { ...spread, whenUnsatisfiable: 'ScheduleAnyway' },
      ],
      containers: [
        {
          name: 'dns',
          image: 'dns',
          securityContext: { runAsUser: null, runAsNonRoot: true },
          ports: [
            { containerPort: 53, protocol: 'UDP' },
            { containerPort: 53, protocol: 'TCP' },
          ],
        },
      ],
    },
  }
  const spec = { ...heededAlone('host-minimal'), podTemplate }
  const [rendered, made] = await ofHost(withSpec(readHost('host-minimal'), spec), spec)
  assert.deepEqual(rendered, made)
  const text = JSON.stringify(rendered)
  for (const one of ['UDP', 'DoNotSchedule', 'ScheduleAnyway']) assert.ok(text.includes(one), one)
})

test('the cases cover an execution node that is known and one that is not', () => {
  assert.notEqual(generatorContext.executionNode, null)
  assert.ok(Object.values(generatorCases).some(({ executionNode }) => executionNode === null))
})

test('a suspended release has no helm test, which would ask pods that are not there', async () => {
  const testsOf = async (spec: object): Promise<number> => {
    const { metadata } = readHost('host-minimal')
    return (await renderChart('host', metadata, { ...shared, spec })).filter(isHook).length
  }
  assert.deepEqual([await testsOf({}), await testsOf({ suspend: true })], [1, 0])
})
