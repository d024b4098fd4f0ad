import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { V1Pod, V1PodTemplateSpec, V1Service, V1StatefulSet } from '@kubernetes/client-node'
import type { Workload } from '../../../operator/api.ts'
import { keepPod } from '../../../operator/reconcile/observe/pod.ts'
import { generatorObjects } from '../../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../../operator/resources/host-objects.ts'
import type { NetworkPolicy } from '../../../operator/resources/objects/network-policy.ts'
import type { HostContext, OperatorDefaults } from '../../../operator/resources/pod/context.ts'
import { hostPodTemplate } from '../../../operator/resources/pod/pod-template.ts'
import { hostTemplateInputs } from '../../../operator/resources/pod/template-inputs.ts'
import { ports } from '../../../src/service/contract.ts'
import {
  generatorCases,
  generatorContext,
  hostCases,
  hostContext,
  objectsFile,
  readGenerator,
  readHost,
  registrationCase,
  renderGenerator,
  renderHost,
  renderRegistration,
} from '../../support/resources/operator-cases.ts'

/** `npx node test/generate/golden/write-objects.ts` writes the files again. */
for (const name of Object.keys(generatorCases)) {
  test(`${name}: everything that is made is as in its file`, () => {
    assert.equal(renderGenerator(name), readFileSync(objectsFile(name), 'utf8'))
  })
}

for (const name of Object.keys(hostCases)) {
  test(`${name}: everything that is made is as in its file`, () => {
    assert.equal(renderHost(name), readFileSync(objectsFile(name), 'utf8'))
  })
}

test('the Jobs that register a View are as in their file', () => {
  assert.equal(renderRegistration(), readFileSync(objectsFile(registrationCase), 'utf8'))
})

test('building twice gives the same, and changes nothing that was given', () => {
  const generator = readGenerator('generator-full')
  const host = readHost('host-full')
  const given = structuredClone({ generator, host, generatorContext, hostContext })
  assert.deepEqual(
    [generatorObjects(generator, generatorContext), hostObjects(host, hostContext)],
    [generatorObjects(generator, generatorContext), hostObjects(host, hostContext)],
  )
  assert.deepEqual({ generator, host, generatorContext, hostContext }, given)
})

test('every object says what it belongs to, and the StatefulSet comes last', () => {
  for (const [resource, { objects }] of [
    ['sepolia', generatorObjects(readGenerator('generator-full'), generatorContext)],
    ['public', hostObjects(readHost('host-full'), hostContext)],
  ] as const) {
    assert.equal(objects.at(-1)?.kind, 'StatefulSet')
    for (const { metadata } of objects) {
      assert.equal(metadata?.labels?.['app.kubernetes.io/instance'], resource)
      assert.equal(metadata?.ownerReferences?.[0]?.name, resource)
    }
  }
})

test('a suspended resource differs in the replicas of its StatefulSet, and in nothing else', () => {
  const host = readHost('host-full')
  const generator = readGenerator('generator-full')
  const suspended = <R extends Workload>(resource: R): R => ({
    ...resource,
    spec: { ...resource.spec, suspend: true },
  })
  for (const [made, stopped] of [
    [hostObjects(host, hostContext), hostObjects(suspended(host), hostContext)],
    [
      generatorObjects(generator, generatorContext),
      generatorObjects(suspended(generator), generatorContext),
    ],
  ] as const) {
    const before = made.objects.map((object): unknown =>
      object.kind === 'StatefulSet'
        ? { ...object, spec: { ...(object as V1StatefulSet).spec, replicas: 0 } }
        : object,
    )
    assert.deepEqual(stopped.objects, before)
  }
})

const ofHost = readHost('host-full')

/** Where each P2P Service of a Host leads who asks for health, and what the policy lets in from outside. */
function healthPorts(context: HostContext): {
  readonly services: unknown
  readonly external: unknown
} {
  const { objects } = hostObjects(ofHost, context)
  const services = objects.filter(({ metadata }) =>
    metadata?.name?.includes('-p2p-'),
  ) as V1Service[]
  const policy = objects.find(({ kind }) => kind === 'NetworkPolicy') as NetworkPolicy
  return {
    services: services.map(
      ({ spec }) => spec?.ports?.find(({ port }) => port === ports.health)?.targetPort,
    ),
    external: policy.spec.ingress[0]?.ports?.map(({ port }) => port),
  }
}

/** As an older operator built it, which had health on one port with metrics. */
function oldTemplate(): V1PodTemplateSpec {
  const template = hostPodTemplate(ofHost, hostContext)
  const [program] = template.spec?.containers ?? []
  assert.ok(program)
  program.ports = (program.ports ?? []).filter(({ name }) => name !== 'public-health')
  return template
}

test('health stays reachable at pods that an older operator made', () => {
  const recorded = { inputs: hostTemplateInputs(ofHost, hostContext), template: oldTemplate() }
  const old = { services: [8080, 8080, 8080], external: [8080, 9171] }
  assert.deepEqual(healthPorts({ ...hostContext, recorded }), old)
  assert.deepEqual(healthPorts(hostContext), {
    services: [9183, 9183, 9183],
    external: [9171, 9183],
  })
})

test('while such pods are replaced one by one, or held back, each is checked where it listens', () => {
  const [held, replaced] = [oldTemplate(), hostPodTemplate(ofHost, hostContext)]
  const publicHealth = new Map([
    [0, keepPod({ spec: held.spec } as V1Pod).publicHealth],
    [1, keepPod({ spec: replaced.spec } as V1Pod).publicHealth],
  ])
  assert.deepEqual(healthPorts({ ...hostContext, publicHealth }), {
    services: [8080, 9183, 9183],
    external: [8080, 9171, 9183],
  })
})

test('an operator set to make no NetworkPolicies or budgets wants none, whatever the spec says', () => {
  const kindsOf = (switches: Partial<OperatorDefaults>): string[] => {
    const defaults = { ...hostContext.defaults, ...switches }
    const { objects } = hostObjects(readHost('host-full'), { ...hostContext, defaults })
    const generator = generatorObjects(readGenerator('generator-full'), {
      ...generatorContext,
      defaults,
    })
    return [...objects, ...generator.objects].map(({ kind }) => String(kind))
  }
  const isSwitched = (kind: string): boolean => /NetworkPolicy|PodDisruptionBudget/.test(kind)
  const all = kindsOf({})
  assert.deepEqual(all.filter(isSwitched), [
    'NetworkPolicy',
    'PodDisruptionBudget',
    'NetworkPolicy',
  ])
  const none = kindsOf({ generateNetworkPolicy: false, generatePodDisruptionBudget: false })
  assert.deepEqual(
    none,
    all.filter((kind) => !isSwitched(kind)),
  )
  assert.deepEqual(kindsOf({ generateNetworkPolicy: false }).filter(isSwitched), [
    'PodDisruptionBudget',
  ])
})

test('no object holds a version of ours, so that an upgrade changes none', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { objects } = hostObjects(readHost('host-minimal'), {
    ...hostContext,
    defaults: { ...hostContext.defaults, images: { generator: 'none', host: 'none' } },
  })
  assert.equal(JSON.stringify(objects).includes(version), false)
})
