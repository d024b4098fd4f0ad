import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { driftOf } from '../../../../operator/resources/drift/drift.ts'
import { generatorObjects } from '../../../../operator/resources/generator-objects.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import type { ChildObject } from '../../../../operator/resources/objects/child-object.ts'
import {
  generatorContext,
  hostContext,
  readGenerator,
  readHost,
} from '../../../support/resources/operator-cases.ts'

const objects: readonly ChildObject[] = [
  ...generatorObjects(readGenerator('generator-full'), generatorContext).objects,
  ...hostObjects(readHost('host-full'), hostContext).objects,
]
const own = ['kind', 'apiVersion', 'metadata.name', 'metadata.namespace']

/** Paths of everything in an object, as steps. */
function leavesOf(value: unknown, path: readonly (string | number)[]): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[...path]]
  return Object.entries(value).flatMap(([name, entry]) =>
    leavesOf(entry, [...path, Array.isArray(value) ? Number(name) : name]),
  )
}

function edited(object: object, path: readonly (string | number)[]): object {
  const copy = structuredClone(object)
  let place: Record<string | number, unknown> = copy as never
  for (const step of path.slice(0, -1)) place = place[step] as never
  place[path.at(-1) ?? ''] = 'edited'
  return copy
}

test('an object that is as it was asked for needs nothing', () => {
  for (const object of objects) assert.deepEqual(driftOf(object, structuredClone(object)), [])
})

test('every single field that is edited is noticed', () => {
  for (const object of objects) {
    const leaves = leavesOf(object, []).filter((path) => !own.includes(path.join('.')))
    fc.assert(
      fc.property(fc.constantFrom(...leaves), (path) => {
        assert.notDeepEqual(driftOf(object, edited(object, path)), [], path.join('.'))
      }),
      { numRuns: 60 },
    )
  }
})

test('what the API server and others add is left alone', () => {
  const desired = {
    kind: 'StatefulSet',
    spec: {
      template: { spec: { containers: [{ name: 'host', env: [{ name: 'A', value: '1' }] }] } },
    },
  }
  const live = {
    kind: 'StatefulSet',
    status: {},
    spec: {
      template: {
        spec: {
          restartPolicy: 'Always',
          containers: [
            { name: 'proxy' },
            { name: 'host', env: [{ name: 'B' }, { name: 'A', value: '1' }], stdin: false },
          ],
        },
      },
    },
  }
  assert.deepEqual(driftOf(desired, live), [])
})

test('a difference is named by its path', () => {
  const desired = { spec: { containers: [{ name: 'host', image: 'a' }], replicas: 2, extra: {} } }
  const live = { spec: { containers: [{ name: 'host', image: 'b' }], replicas: 1 } }
  assert.deepEqual(driftOf(desired, live), [
    'spec.containers[host].image',
    'spec.replicas',
    'spec.extra',
  ])
})

test('ports of one number are distinguished by protocol, and the default is TCP', () => {
  const listening = (...ports: readonly object[]): object => ({
    spec: { containers: [{ name: 'dns', ports }] },
  })
  const tcp = { containerPort: 53, protocol: 'TCP' }
  const udp = { containerPort: 53, protocol: 'UDP' }
  assert.deepEqual(driftOf(listening(udp, { containerPort: 53 }), listening(tcp, udp)), [])
  assert.deepEqual(driftOf(listening(udp, tcp), listening(tcp)), ['spec.containers[dns].ports[53]'])
})

test('a size that Kubernetes wrote its own way is no difference', () => {
  const sized = (memory: string): object => ({ resources: { requests: { memory } } })
  assert.deepEqual(driftOf(sized('1024Mi'), sized('1Gi')), [])
  assert.deepEqual(driftOf(sized('1024Mi'), sized('2Gi')), ['resources.requests.memory'])
})

test('whatever is added to the rules of a NetworkPolicy is a difference', () => {
  const desired = { kind: 'NetworkPolicy', spec: { ingress: [{ ports: [{ port: 9171 }] }] } }
  const narrower = { ...desired, spec: { ingress: [{ ports: [{ port: 9171 }], from: [{}] }] } }
  const wider = { ...desired, spec: { ingress: [{ ports: [{ port: 9171 }] }, {}] } }
  assert.deepEqual(driftOf(desired, structuredClone(desired)), [])
  assert.deepEqual(driftOf(desired, narrower), ['spec'])
  assert.deepEqual(driftOf(desired, wider), ['spec'])
})

test('what is empty or false in a pod template may be left out, unless that means something else', () => {
  const template = (spec: object): object => ({ spec: { template: { spec } } })
  const empty = template({ hostNetwork: false, nodeSelector: {}, hostname: '' })
  assert.deepEqual(driftOf(empty, template({})), [])
  assert.deepEqual(driftOf(template({ enableServiceLinks: false }), template({})), [
    'spec.template.spec.enableServiceLinks',
  ])
})
