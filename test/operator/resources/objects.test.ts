import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { V1Service } from '@kubernetes/client-node'
import type { HostContext, OperatorDefaults } from '../../../operator/resources/context.ts'
import { generatorObjects } from '../../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../../operator/resources/host-objects.ts'
import { hostPodTemplate } from '../../../operator/resources/pod-template.ts'
import { hostTemplateInputs } from '../../../operator/resources/template-inputs.ts'
import {
  generatorCases,
  generatorContext,
  hostCases,
  hostContext,
  objectsFile,
  readGenerator,
  readHost,
  renderGenerator,
  renderHost,
} from '../../support/operator-cases.ts'

/** `npx node test/operator/resources/write-objects.ts` writes the files anew. */
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

test('health stays reachable at pods that an older operator made, which have it on one port with metrics', () => {
  const host = readHost('host-full')
  const template = hostPodTemplate(host, hostContext)
  const [program] = template.spec?.containers ?? []
  assert.ok(program)
  program.ports = (program.ports ?? []).filter(({ name }) => name !== 'public-health')
  const targetOf = (context: HostContext): unknown => {
    const { objects } = hostObjects(host, context)
    const service = objects.find(({ metadata }) => metadata?.name === 'public-host-p2p-0')
    assert.equal(service?.kind, 'Service')
    return (service as V1Service).spec?.ports?.find(({ port }) => port === 8080)?.targetPort
  }
  const recorded = { inputs: hostTemplateInputs(host, hostContext), template }
  assert.equal(targetOf({ ...hostContext, recorded }), 8080)
  assert.equal(targetOf(hostContext), 9183)
})

test('an operator that is told to make no NetworkPolicies or budgets wants none, whatever the spec says', () => {
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
