import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHook, type RenderedObject, refusalOf, renderChart } from '../support/helm.ts'

const base = { global: { imageRegistry: 'localhost' } }

async function operatorChart(values: object): Promise<RenderedObject[]> {
  return await renderChart(
    'operator',
    { name: 'op', namespace: 'viewmesh' },
    { ...base, ...values },
  )
}

/** The settings that the operator's container is given. */
function settingsOf(objects: readonly RenderedObject[]): Readonly<Record<string, string>> {
  const { spec } = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
    readonly spec: {
      readonly template: {
        readonly spec: {
          readonly containers: readonly [
            { readonly env: readonly { readonly name: string; readonly value: string }[] },
          ]
        }
      }
    }
  }
  const [{ env }] = spec.template.spec.containers
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

const priorityClasses = (objects: readonly RenderedObject[]): readonly RenderedObject[] =>
  objects.filter(({ kind }) => kind === 'PriorityClass')

test('Generators come after execution nodes unless values say otherwise, and their class stays for their pods', async () => {
  const objects = await operatorChart({})
  const [own, ...others] = priorityClasses(objects)
  assert.deepEqual(others, [])
  assert.deepEqual([own?.['value'], own?.['preemptionPolicy']], [-10, 'Never'])
  assert.equal(own?.metadata.annotations?.['helm.sh/resource-policy'], 'keep')
  assert.equal(settingsOf(objects)['GENERATOR_PRIORITY_CLASS'], own?.metadata.name)
})

for (const [what, values, wanted] of [
  ['a class is named', { operands: { generatorPriorityClass: 'given' } }, 'given'],
  ['none is wanted', { operands: { createPriorityClass: false } }, undefined],
  ['the operator has namespaces only', { scope: { clusterWide: false } }, undefined],
] as const) {
  test(`where ${what}, no priority class is made`, async () => {
    const objects = await operatorChart(values)
    assert.deepEqual(priorityClasses(objects), [])
    assert.equal(settingsOf(objects)['GENERATOR_PRIORITY_CLASS'], wanted)
  })
}

const objectsOf = {
  operator: {},
  generator: {
    mode: 'standalone',
    existingSecret: 'a',
    spec: { upstream: { service: { name: 'geth' } } },
  },
  host: { mode: 'operator' },
}

for (const [chart, values] of Object.entries(objectsOf)) {
  test(`${chart}: labels for all are on every object that stays, and replace none of its own`, async () => {
    const global = { ...base.global, commonLabels: { team: 'chain' } }
    const release = { name: 'a', namespace: 'apps' }
    const objects = await renderChart(chart, release, { ...values, global })
    for (const object of objects.filter((found) => !isHook(found))) {
      assert.equal(object.metadata.labels?.['team'], 'chain', `${object.kind}`)
    }
    const commonLabels = { 'app.kubernetes.io/name': 'other' }
    assert.match(
      await refusalOf(chart, { ...values, global: { commonLabels } }),
      /'app.kubernetes.io\/name'/,
    )
  })
}

test('a platform that chooses the user gets pods without one', async () => {
  const podSecurityContext = { runAsUser: null, runAsGroup: null }
  const objects = await operatorChart({ podSecurityContext })
  const specs = objects.flatMap((object) => {
    const { spec } = object as { readonly spec?: { template?: { spec: object } } }
    if (object.kind === 'Pod') return [spec]
    return object.kind === 'Deployment' ? [spec?.template?.spec] : []
  })
  assert.equal(specs.length, 2)
  for (const spec of specs as readonly { readonly securityContext: object }[]) {
    const seccompProfile = { type: 'RuntimeDefault' }
    assert.deepEqual(spec.securityContext, { runAsNonRoot: true, seccompProfile })
  }
})

test('workers and the interval of looking at everything again are values', async () => {
  const usual = settingsOf(await operatorChart({}))
  assert.deepEqual([usual['WORKERS'], usual['RESYNC_INTERVAL_MS']], ['4', '600000'])
  const controller = { workers: 16, resyncIntervalMs: 86_400_000 }
  const given = settingsOf(await operatorChart({ controller }))
  assert.deepEqual([given['WORKERS'], given['RESYNC_INTERVAL_MS']], ['16', '86400000'])
})

for (const [chart, values] of [
  ['operator', {}],
  ['generator', { mode: 'operator', spec: { upstream: { service: { name: 'geth' } } } }],
  ['host', { mode: 'operator' }],
] as const) {
  test(`${chart}: below a chart with globals of its own it is what it is without`, async () => {
    const release = { name: 'a', namespace: 'apps' }
    const render = async (globals: object): Promise<RenderedObject[]> =>
      await renderChart(chart, release, { ...values, global: { ...base.global, ...globals } })
    assert.deepEqual(await render({ storageClass: 'fast', theirs: { a: 1 } }), await render({}))
  })
}
