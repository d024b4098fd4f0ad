import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import { generatorObjects } from '../../../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import type { ChildObject } from '../../../../operator/resources/objects/child-object.ts'
import {
  generatorCases,
  generatorContext,
  hostCases,
  hostContext,
  readGenerator,
  readHost,
  readManifest,
} from '../../../support/resources/operator-cases.ts'
import { isHook, type RenderedObject, renderChart } from '../support/helm.ts'

const existingSecret = 'my-keyring'
const images = {
  generator: 'images.example/viewmesh-generator:0.1.0',
  host: 'images.example/viewmesh-host:0.1.0',
}
const global = { imageRegistry: 'images.example', imagePullSecrets: [{ name: 'pull' }] }
const shared = { mode: 'standalone', existingSecret, global }

type Loose = Record<string, unknown>

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

for (const [name, context] of Object.entries(generatorCases)) {
  test(`${name}: the standalone chart makes the same objects as the operator`, async () => {
    const { metadata, spec } = readGenerator(name)
    const generator: Generator = {
      ...readGenerator(name),
      metadata: { ...metadata, annotations: {} },
      spec: {
        ...spec,
        identity: { ...spec.identity, secretRef: { name: existingSecret } },
        schemaAuth: {
          keysSecretRef: { name: existingSecret, key: 'schema-keys' },
          ...spec.schemaAuth,
        },
      },
    }
    const defaults = { ...hostContext.defaults, images, imagePullSecrets: ['pull'] }
    const { objects } = generatorObjects(generator, { ...context, announce: [], defaults })
    const { executionNode } = context
    const rendered = await renderChart('generator', metadata, {
      ...shared,
      spec: heededAlone(name),
      ...(executionNode === null ? {} : { executionNode }),
    })
    assert.deepEqual(byName(rendered.filter((object) => !isHook(object))), byName(objects))
  })
}

for (const name of Object.keys(hostCases)) {
  test(`${name}: the standalone chart makes the same objects as the operator`, async () => {
    const { metadata, spec } = readHost(name)
    const { generators: _, ...alone } = spec
    const host: Host = {
      ...readHost(name),
      spec: { ...alone, identity: { ...spec.identity, secretRef: { name: existingSecret } } },
    }
    const defaults = { ...hostContext.defaults, images, imagePullSecrets: ['pull'] }
    const { objects } = hostObjects(host, { ...hostContext, defaults })
    const values = { ...shared, spec: heededAlone(name) }
    const rendered = await renderChart('host', metadata, values)
    assert.deepEqual(byName(rendered.filter((object) => !isHook(object))), byName(objects))
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
  const { metadata, spec, ...rest } = readHost('host-minimal')
  const host: Host = {
    ...rest,
    metadata,
    spec: {
      ...spec,
      podTemplate,
      identity: { ...spec.identity, secretRef: { name: existingSecret } },
    },
  }
  const defaults = { ...hostContext.defaults, images, imagePullSecrets: ['pull'] }
  const { objects } = hostObjects(host, { ...hostContext, defaults })
  const values = { ...shared, spec: { ...heededAlone('host-minimal'), podTemplate } }
  const rendered = byName(
    (await renderChart('host', metadata, values)).filter((object) => !isHook(object)),
  )
  assert.deepEqual(rendered, byName(objects))
  const text = JSON.stringify(rendered)
  for (const one of ['UDP', 'DoNotSchedule', 'ScheduleAnyway']) assert.ok(text.includes(one), one)
})

test('the cases cover an execution node that is known and one that is not', () => {
  assert.notEqual(generatorContext.executionNode, null)
  assert.ok(Object.values(generatorCases).some(({ executionNode }) => executionNode === null))
})
