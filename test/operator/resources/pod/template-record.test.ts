import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1PodTemplateSpec } from '@kubernetes/client-node'
import fc from 'fast-check'
import type { Generator, Host } from '../../../../operator/api.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import { shortHash } from '../../../../operator/resources/names/canonical-json.ts'
import type { GeneratorContext, HostContext } from '../../../../operator/resources/pod/context.ts'
import { readDiscovered } from '../../../../operator/resources/pod/discovered.ts'
import {
  generatorPodTemplate,
  hostPodTemplate,
} from '../../../../operator/resources/pod/pod-template.ts'
import {
  generatorTemplateInputs,
  hostTemplateInputs,
} from '../../../../operator/resources/pod/template-inputs.ts'
import {
  chooseTemplate,
  readTemplateRecord,
  recordAnnotations,
  type TemplateRecord,
} from '../../../../operator/resources/pod/template-record.ts'
import { mergePatch } from '../../../support/resources/merge-patch.ts'
import {
  generatorContext,
  hostCases,
  hostContext,
  readGenerator,
  readHost,
} from '../../../support/resources/operator-cases.ts'

const host = readHost('host-full')
const generator = readGenerator('generator-full')

const changedHost = (spec: object): Host => ({
  ...host,
  spec: mergePatch({ ...host.spec }, { ...spec }) as unknown as Host['spec'],
})
const changedGenerator = (spec: object): Generator => ({
  ...generator,
  spec: mergePatch({ ...generator.spec }, { ...spec }) as unknown as Generator['spec'],
})

type Recorded = Pick<HostContext, 'recorded' | 'recordedSignersFile'>

/** The record of what was applied, as it is read back from the StatefulSet. */
function recordOf(of: Host, context: HostContext): Recorded {
  const annotations = hostObjects(of, context).objects.at(-1)?.metadata?.annotations
  const recorded = readTemplateRecord(annotations)
  assert.ok(recorded)
  return { recorded, recordedSignersFile: readDiscovered(annotations).hasSignersFile }
}

test('a newer operator with other defaults changes nothing of an unchanged resource', () => {
  const before = hostObjects(host, hostContext)
  const recorded = recordOf(host, hostContext)
  const defaults = fc.record({
    images: fc.record({
      generator: fc.string({ minLength: 1 }),
      host: fc.string({ minLength: 1 }),
    }),
    toolkitImage: fc.option(fc.string({ minLength: 1 })),
    generatorPriorityClass: fc.option(fc.string()),
    imagePullSecrets: fc.array(fc.string()),
    generateNetworkPolicy: fc.constant(true),
    generatePodDisruptionBudget: fc.constant(true),
  })
  fc.assert(
    fc.property(defaults, (found) => {
      const after = hostObjects(host, { ...hostContext, defaults: found, ...recorded })
      assert.deepEqual(after.objects, before.objects)
    }),
  )
})

test('a newer operator that builds pods differently waits, and says so', () => {
  const template = hostPodTemplate(host, hostContext)
  const built = { inputs: 'same', template }
  const old = { inputs: 'same', template: withImage(template, 'viewmesh/host:before') }
  const updateAvailable = ['spec.containers[host].image']
  assert.deepEqual(chooseTemplate(built, old, 'OnSpecChange'), { ...old, updateAvailable })
  assert.deepEqual(chooseTemplate(built, old, 'Auto'), { ...built, updateAvailable: null })
  assert.deepEqual(chooseTemplate(built, built, 'OnSpecChange'), {
    ...built,
    updateAvailable: null,
  })
})

function withImage(template: V1PodTemplateSpec, image: string): V1PodTemplateSpec {
  const containers = (template.spec?.containers ?? []).map((container) => ({ ...container, image }))
  return { ...template, spec: { ...template.spec, containers } }
}

test('a changed spec takes the new template', () => {
  const old = { inputs: 'before', template: { metadata: { labels: { old: 'yes' } } } }
  const built = { inputs: 'after', template: hostPodTemplate(host, hostContext) }
  assert.deepEqual(chooseTemplate(built, old, 'OnSpecChange'), { ...built, updateAvailable: null })
})

test('what the annotations record is read back; edited annotations record nothing', () => {
  const record = { inputs: 'abc', template: hostPodTemplate(host, hostContext) }
  const annotations = recordAnnotations(record)
  assert.deepEqual(readTemplateRecord(annotations), record)
  const edited = { ...annotations, 'viewmesh.io/pod-template': '{"spec":{}}' }
  assert.equal(readTemplateRecord(edited), null)
  assert.equal(readTemplateRecord({}), null)
  assert.equal(readTemplateRecord(undefined), null)
})

test('a record whose annotations agree on what is no pod template counts as none', () => {
  for (const text of ['', 'no JSON', 'null', '[]', '7', '{}']) {
    const digest = shortHash(text)
    const annotations = {
      'viewmesh.io/template-inputs': `any.${digest}`,
      'viewmesh.io/pod-template': text,
    }
    assert.equal(readTemplateRecord(annotations), null, text)
  }
})

/** Changes after which the pods have to be replaced. */
const replacing: Readonly<Record<string, object>> = {
  chain: { chain: { network: 'Hoodi' } },
  image: { image: { tag: '9' } },
  repository: { image: { repository: 'mirror.example.org/viewmesh' } },
  digest: { image: { digest: `sha256:${'9'.repeat(64)}` } },
  'pull policy': { image: { pullPolicy: 'Never' } },
  'pruning limit': { pruning: { maxBlocks: 7 } },
  'pod template': { podTemplate: { spec: { priorityClassName: 'high' } } },
}

const replacingHost: Readonly<Record<string, object>> = {
  ...replacing,
  pruning: { pruning: { enabled: false } },
  registry: { registry: { rpcUrl: 'https://other.example.org' } },
  'admin token': { registry: { adminTokenSecretRef: { key: 'other' } } },
  signers: { trustedSigners: null },
  'last Generator': { generators: null },
  'lag to be ready': { readiness: { maxLag: 50 } },
  'number of blocks to be ready': { readiness: { minBlocks: null } },
}

const replacingGenerator: Readonly<Record<string, object>> = {
  ...replacing,
  pruning: { pruning: { enabled: true } },
  upstream: { upstream: { service: { name: 'besu' } } },
  port: { upstream: { service: { httpPort: 1 } } },
  colocation: { upstream: { service: { colocate: 'None' } } },
  'API key': { upstream: { auth: { secretRef: { key: 'other' } } } },
  header: { upstream: { auth: { header: 'Other' } } },
  start: { start: { height: 1 } },
  'schema keys': { schemaAuth: { keysSecretRef: { name: 'other' } } },
}

/** Changes that leave the pods alone. */
const harmless: Readonly<Record<string, object>> = {
  size: { storage: { data: { size: '900Gi' } } },
  'deletion policy': { identity: { deletionPolicy: 'Retain' } },
  paused: { paused: true },
  rollout: { rollout: 'OnSpecChange' },
  'network policy': { networkPolicy: { enabled: false } },
  'an empty tag': { image: { digest: host.spec.image.digest } },
  'a field with a default that a newer CRD brings': { pruning: { everySeconds: 60 }, newer: true },
}

const harmlessHost: Readonly<Record<string, object>> = {
  ...harmless,
  'an empty repository or tag': { image: { repository: '', tag: '' } },
  replicas: { replicas: 1 },
  'another Generator': { generators: [{ name: 'other' }] },
  'bootstrap peers': { bootstrapPeers: null },
  services: { services: { p2p: { type: 'None' } } },
}

const inputsOf = (of: Host, context: HostContext = hostContext): string =>
  hostTemplateInputs(of, context)
const generatorInputsOf = (of: Generator, context: GeneratorContext = generatorContext): string =>
  generatorTemplateInputs(of, context)

for (const [name, change] of Object.entries(replacingHost)) {
  test(`Host: a changed ${name} replaces the pods`, () => {
    assert.notEqual(inputsOf(changedHost(change)), inputsOf(host))
  })
}

for (const [name, change] of Object.entries(replacingGenerator)) {
  test(`Generator: a changed ${name} replaces the pod`, () => {
    assert.notEqual(generatorInputsOf(changedGenerator(change)), generatorInputsOf(generator))
  })
}

for (const [name, change] of Object.entries(harmlessHost)) {
  test(`Host: ${name} replaces no pod`, () => {
    assert.equal(inputsOf(changedHost(change)), inputsOf(host))
  })
}

for (const [name, change] of Object.entries({
  ...harmless,
  announce: { p2p: { announce: ['/ip4/203.0.113.8/tcp/9171'] } },
  'namespaces that may have a key': { schemaAuth: { allowedNamespaces: ['other'] } },
})) {
  if (name === 'an empty tag') continue
  test(`Generator: ${name} replaces no pod`, () => {
    assert.equal(generatorInputsOf(changedGenerator(change)), generatorInputsOf(generator))
  })
}

test('that readiness says nothing is the same as that there is none', () => {
  const [without, empty] = [null, { maxLag: null, minBlocks: null }].map((readiness) =>
    changedHost({ readiness }),
  )
  assert.ok(without && empty)
  assert.equal(inputsOf(empty), inputsOf(without))
  assert.deepEqual(hostPodTemplate(empty, hostContext), hostPodTemplate(without, hostContext))
})

test('either bound of readiness replaces the pods, also where it is the only one', () => {
  const only = (readiness: object): string =>
    inputsOf(changedHost({ readiness: { maxLag: null, minBlocks: null, ...readiness } }))
  const found = [{}, { maxLag: 5 }, { maxLag: 6 }, { minBlocks: 5 }, { minBlocks: 6 }].map(only)
  assert.equal(new Set(found).size, found.length)
})

test('pods of an older operator keep their probe and know no siblings until the next change', () => {
  const template = hostPodTemplate(host, hostContext)
  const [program] = template.spec?.containers ?? []
  assert.ok(program)
  assert.deepEqual(program.readinessProbe?.httpGet, { path: '/ready', port: 8080 })
  const old: V1PodTemplateSpec = structuredClone(template)
  Object.assign(old.spec?.containers[0] ?? {}, {
    readinessProbe: { ...program.readinessProbe, httpGet: { path: '/health', port: 8080 } },
    env: program.env?.filter(({ name }) => name !== 'HOST_SIBLINGS_FILE'),
  })
  const recorded = { inputs: inputsOf(host), template: old }
  const context = { ...hostContext, recorded, recordedSignersFile: true }
  const { updateAvailable } = hostObjects(host, context)
  assert.deepEqual(recordOf(host, context), { recorded, recordedSignersFile: true })
  assert.deepEqual(
    updateAvailable?.filter((path) => /readinessProbe|HOST_SIBLINGS_FILE/.test(path)),
    updateAvailable,
  )
  const changed = changedHost({ readiness: { maxLag: 50 } })
  const after = recordOf(changed, context).recorded?.template
  assert.deepEqual(after, hostPodTemplate(changed, hostContext))
})

/** The record that an operator left which knew of no file of signers. */
const former: Recorded = {
  recorded: { ...formerRecord(host), template: { metadata: { labels: { old: 'yes' } } } },
  recordedSignersFile: null,
}

/** With what such an operator hashed: all but that file. */
function formerRecord(of: Host): Pick<TemplateRecord, 'inputs'> {
  return { inputs: inputsOf(changedHost({ ...of.spec, generators: null })) }
}

test('a Host of an operator without files of signers keeps its pods until the next change', () => {
  const context = { ...hostContext, ...former }
  const waiting = hostObjects(host, context)
  assert.equal(waiting.updateAvailable?.includes('spec'), true)
  const { recorded, recordedSignersFile } = recordOf(host, context)
  assert.deepEqual({ recorded, recordedSignersFile }, former)
  const changed = changedHost({ image: { tag: '9' } })
  const after = hostObjects(changed, context)
  assert.equal(after.updateAvailable, null)
  assert.deepEqual(recordOf(changed, context), {
    recorded: { inputs: inputsOf(changed), template: hostPodTemplate(changed, hostContext) },
    recordedSignersFile: true,
  })
})

test('a Host without Generators has no file of signers, whichever operator made its pods', () => {
  const alone = changedHost({ generators: null })
  const recorded = { ...former.recorded, inputs: inputsOf(alone) } as TemplateRecord
  const context = { ...hostContext, recorded, recordedSignersFile: null }
  assert.notEqual(hostObjects(alone, context).updateAvailable, null)
  assert.equal(recordOf(alone, context).recordedSignersFile, false)
})

test('with rollout Auto such a Host gets the file at once, and stays so', () => {
  const auto = changedHost({ rollout: 'Auto' })
  const first = recordOf(auto, { ...hostContext, ...former })
  assert.equal(first.recordedSignersFile, true)
  const second = recordOf(auto, { ...hostContext, ...first })
  assert.deepEqual(second.recorded?.template, first.recorded?.template)
})

test('naming the first Generator replaces the pods, which get the file of signers then', () => {
  const alone = changedHost({ generators: null })
  const context = { ...hostContext, ...recordOf(alone, hostContext) }
  assert.equal(context.recordedSignersFile, false)
  assert.equal(hostObjects(alone, context).updateAvailable, null)
  assert.deepEqual(recordOf(host, context), recordOf(host, hostContext))
})

test('roll-at replaces the pods once', () => {
  const annotated: Host = {
    ...host,
    metadata: { ...host.metadata, annotations: { 'viewmesh.io/roll-at': 'now' } },
  }
  assert.notEqual(inputsOf(annotated), inputsOf(host))
  const template = hostPodTemplate(annotated, hostContext)
  assert.equal(template.metadata?.annotations?.['viewmesh.io/roll-at'], 'now')
})

test('discovered peers and addresses replace no pod', () => {
  const { peers, announce } = hostCases['host-full'] ?? hostContext
  const discovered = { ...hostContext, peers, announce }
  assert.equal(inputsOf(host, discovered), inputsOf(host))
  assert.deepEqual(hostPodTemplate(host, discovered), hostPodTemplate(host, hostContext))
})

test('a discovered execution node replaces the pod only where that has to be near it', () => {
  const moved = { namespace: 'validators', labels: { app: 'besu' } }
  const discovered: GeneratorContext = { ...generatorContext, executionNode: moved }
  const near = changedGenerator({ upstream: { service: { colocate: 'Preferred' } } })
  assert.notEqual(generatorInputsOf(near, discovered), generatorInputsOf(near))
  const anywhere = changedGenerator({ upstream: { service: { colocate: 'None' } } })
  assert.equal(generatorInputsOf(anywhere, discovered), generatorInputsOf(anywhere))
  assert.deepEqual(
    generatorPodTemplate(anywhere, discovered),
    generatorPodTemplate(anywhere, generatorContext),
  )
})

test('of an execution node no more than where its pods are is a reason to replace the pod', () => {
  const near = changedGenerator({ upstream: { service: { colocate: 'Preferred' } } })
  const { executionNode } = generatorContext
  assert.ok(executionNode)
  const known = { ...executionNode, isHostNetwork: true }
  assert.equal(
    generatorInputsOf(near, { ...generatorContext, executionNode: known }),
    generatorInputsOf(near),
  )
})

test('each renewal of schema keys replaces the pod, and that there was none does not', () => {
  const renewed = (schemaKeysRenewed: string | null): string =>
    generatorInputsOf(generator, { ...generatorContext, schemaKeysRenewed })
  assert.equal(renewed(null), generatorInputsOf(generator))
  const found = [null, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'].map(renewed)
  assert.equal(new Set(found).size, found.length)
})
