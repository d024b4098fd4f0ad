import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodTemplate } from '../../../../operator/api/pod-template.ts'
import { badQuantities } from '../../../../operator/resources/pod/quantities.ts'

const amounts = (value: unknown): object => ({ limits: { cpu: value }, requests: { cpu: 1 } })
const divisor = (value: unknown): object => ({
  resourceFieldRef: { resource: 'x', divisor: value },
})

/** All places of quantities in a pod, each with this value. */
const everywhere = (value: unknown): NonNullable<PodTemplate['spec']> =>
  JSON.parse(
    JSON.stringify({
      overhead: { cpu: value },
      resources: amounts(value),
      containers: [
        {
          name: 'host',
          resources: amounts(value),
          env: [{ name: 'A', valueFrom: divisor(value) }],
        },
      ],
      initContainers: [{ name: 'first', resources: amounts(value) }],
      volumes: [
        { name: 'a', emptyDir: { sizeLimit: value } },
        { name: 'b', ephemeral: { volumeClaimTemplate: { spec: { resources: amounts(value) } } } },
        { name: 'c', downwardAPI: { items: [{ path: 'x', ...divisor(value) }] } },
        { name: 'd', projected: { sources: [{ downwardAPI: { items: [divisor(value)] } }] } },
      ],
    }),
  )

const pathsOf = (value: unknown): string[] =>
  badQuantities({ spec: everywhere(value) }).map(({ path }) =>
    path.replace('spec.podTemplate.spec.', ''),
  )

test('every place of a quantity in a pod is checked, and named', () => {
  assert.deepEqual(pathsOf('2 Gi'), [
    'overhead.cpu',
    'resources.limits.cpu',
    'containers[host].resources.limits.cpu',
    'containers[host].env[A].valueFrom.resourceFieldRef.divisor',
    'initContainers[first].resources.limits.cpu',
    'volumes[a].emptyDir.sizeLimit',
    'volumes[b].ephemeral.volumeClaimTemplate.spec.resources.limits.cpu',
    'volumes[c].downwardAPI.items[0].resourceFieldRef.divisor',
    'volumes[d].projected.sources[0].downwardAPI.items[0].resourceFieldRef.divisor',
  ])
})

test('what Kubernetes takes for a quantity is one', () => {
  for (const value of [1, 0.5, '500m', '1e3', '+5', '.5', '1.', '2Gi', null]) {
    assert.deepEqual(pathsOf(value), [], String(value))
  }
  for (const value of ['', '2GB', '1,5', true])
    assert.equal(pathsOf(value).length, 9, String(value))
})

test('a template of another shape has no quantities', () => {
  const limits = { limits: { cpu: 'x' } }
  const odd = { containers: { name: 'host', resources: limits }, nodeSelector: { limits: 'x' } }
  assert.deepEqual(badQuantities({ spec: JSON.parse(JSON.stringify(odd)) }), [])
  assert.deepEqual(badQuantities({}), [])
  assert.deepEqual(badQuantities(undefined), [])
})
