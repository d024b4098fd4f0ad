import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { driftOf, withoutAdditions } from '../../../../operator/resources/drift/drift.ts'
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

function pathsOf(desired: object, live: object): string[] {
  return driftOf(desired, live).map(({ path }) => path)
}

test('an object that is as it was asked for needs nothing', () => {
  for (const object of objects) assert.deepEqual(pathsOf(object, structuredClone(object)), [])
})

test('every single field that is edited is noticed', () => {
  for (const object of objects) {
    const leaves = leavesOf(object, []).filter((path) => !own.includes(path.join('.')))
    fc.assert(
      fc.property(fc.constantFrom(...leaves), (path) => {
        assert.notDeepEqual(pathsOf(object, edited(object, path)), [], path.join('.'))
      }),
      { numRuns: 60 },
    )
  }
})

test('a field without a value is not asked for, and counts as added where nothing may be', () => {
  const desired = { kind: 'NetworkPolicy', metadata: { a: undefined }, spec: { b: undefined } }
  const live = { kind: 'NetworkPolicy', metadata: { a: 'x' }, spec: { b: 'y' } }
  assert.deepEqual(driftOf(desired, live), [{ path: 'spec.b', live: 'y', addition: '/spec/b' }])
})

test('an empty list that is asked for may be left out, and one that is not empty may not', () => {
  const policy = (spec: object): object => ({ kind: 'NetworkPolicy', spec })
  assert.deepEqual(pathsOf(policy({ ingress: [] }), policy({})), [])
  assert.deepEqual(pathsOf(policy({ ingress: [{}] }), policy({})), ['spec.ingress'])
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
  assert.deepEqual(pathsOf(desired, live), [])
})

test('a difference is named by its path', () => {
  const desired = { spec: { containers: [{ name: 'host', image: 'a' }], replicas: 2, extra: {} } }
  const live = { spec: { containers: [{ name: 'host', image: 'b' }], replicas: 1 } }
  assert.deepEqual(pathsOf(desired, live), [
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
  assert.deepEqual(pathsOf(listening(udp, { containerPort: 53 }), listening(tcp, udp)), [])
  assert.deepEqual(pathsOf(listening(udp, tcp), listening(tcp)), ['spec.containers[dns].ports[53]'])
  const unnumbered = { name: 'dns' }
  const [one, other] = [listening(unnumbered, tcp), listening(tcp, unnumbered)]
  assert.notDeepEqual(pathsOf(one, other), [], 'without all numbers ports have places')
})

test('a size that Kubernetes wrote its own way is no difference', () => {
  const sized = (memory: string): object => ({ resources: { requests: { memory } } })
  assert.deepEqual(pathsOf(sized('1024Mi'), sized('1Gi')), [])
  assert.deepEqual(pathsOf(sized('1024Mi'), sized('2Gi')), ['resources.requests.memory'])
  const valued = (value: string): object => ({ env: [{ name: 'A', value }] })
  assert.deepEqual(pathsOf(valued('1000m'), valued('1')), ['env[A].value'])
})

test('whatever is added to the rules of a NetworkPolicy is a difference', () => {
  const desired = { kind: 'NetworkPolicy', spec: { ingress: [{ ports: [{ port: 9171 }] }] } }
  const narrower = { ...desired, spec: { ingress: [{ ports: [{ port: 9171 }], from: [{}] }] } }
  const wider = { ...desired, spec: { ingress: [{ ports: [{ port: 9171 }] }, {}] } }
  assert.deepEqual(pathsOf(desired, structuredClone(desired)), [])
  assert.deepEqual(pathsOf(desired, narrower), ['spec.ingress'])
  assert.deepEqual(pathsOf(desired, wider), ['spec.ingress'])
  const outwards = { ...desired, spec: { ...desired.spec, egress: [{}] } }
  assert.deepEqual(driftOf(desired, outwards), [
    { path: 'spec.egress', live: [{}], addition: '/spec/egress' },
  ])
})

test('what is added to a selector is a difference, wherever the selector is', () => {
  const budget = { kind: 'PodDisruptionBudget', spec: { selector: { matchLabels: { a: 'b' } } } }
  const emptied = structuredClone(budget)
  Object.assign(emptied.spec.selector.matchLabels, { 'x/y': 'z' })
  assert.deepEqual(driftOf(budget, emptied), [
    {
      path: 'spec.selector.matchLabels.x/y',
      live: 'z',
      addition: '/spec/selector/matchLabels/x~1y',
    },
  ])
  const expressions = [{ key: 'a', operator: 'Exists' }]
  const narrowed = {
    ...budget,
    spec: { selector: { ...budget.spec.selector, ...{ matchExpressions: expressions } } },
  }
  assert.deepEqual(pathsOf(budget, narrowed), ['spec.selector.matchExpressions'])
  const spread = { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} }
  const withSpread = (...constraints: readonly object[]): object => ({
    spec: { template: { spec: { topologySpreadConstraints: constraints } } },
  })
  const narrower = { ...spread, labelSelector: { matchLabels: { a: 'b' } } }
  const other = { ...spread, topologyKey: 'host' }
  assert.deepEqual(driftOf(withSpread(spread), withSpread(other, narrower)), [
    {
      path: 'spec.template.spec.topologySpreadConstraints[zone].labelSelector.matchLabels',
      live: { a: 'b' },
      addition: '/spec/template/spec/topologySpreadConstraints/1/labelSelector/matchLabels',
    },
  ])
})

test('a port that is added to a Service is a difference, what Kubernetes adds to a port is none', () => {
  const service = (...ports: readonly object[]): object => ({ kind: 'Service', spec: { ports } })
  const tcp = { name: 'p2p', port: 9171, protocol: 'TCP' }
  const udp = { name: 'other', port: 9171, protocol: 'UDP' }
  const more = { name: 'more', port: 80, protocol: 'TCP' }
  assert.deepEqual(pathsOf(service(tcp), service({ ...tcp, nodePort: 30_000 })), [])
  const drift = driftOf(service(tcp), service(udp, tcp, more))
  assert.deepEqual(drift, [
    { path: 'spec.ports[9171]', live: udp, addition: '/spec/ports/0' },
    { path: 'spec.ports[80]', live: more, addition: '/spec/ports/2' },
  ])
  assert.deepEqual(withoutAdditions(drift), [
    { op: 'test', path: '/spec/ports/0', value: udp },
    { op: 'test', path: '/spec/ports/2', value: more },
    { op: 'remove', path: '/spec/ports/2' },
    { op: 'remove', path: '/spec/ports/0' },
  ])
})

test('of many additions the last ones are taken out first, so that places stay what they are', () => {
  const ports = Array.from({ length: 12 }, (_, index) => ({ port: index + 1, protocol: 'TCP' }))
  const [first] = ports
  const service = (of: readonly unknown[]): object => ({ kind: 'Service', spec: { ports: of } })
  const removed = withoutAdditions(driftOf(service([first]), service(ports))).flatMap(
    ({ op, path }) => (op === 'remove' ? [path] : []),
  )
  const places = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
  assert.deepEqual(
    removed,
    places.map((place) => `/spec/ports/${place}`),
  )
  assert.deepEqual(withoutAdditions(driftOf({ spec: { a: 1 } }, { spec: { a: 2 } })), [])
})

test('a list without keys is the same where it is as long and each item is as asked for', () => {
  const command = (...words: readonly unknown[]): object => ({ command: words })
  assert.deepEqual(pathsOf(command('a', 'b'), command('a', 'b')), [])
  assert.deepEqual(driftOf(command('a', 'b'), command('a')), [
    { path: 'command', live: ['a'], addition: null },
  ])
  assert.deepEqual(pathsOf(command('a', 'b'), command('b', 'a')), ['command[0]', 'command[1]'])
  assert.deepEqual(pathsOf(command(), {}), [])
  assert.deepEqual(pathsOf(command(), { command: 'text' }), [])
  assert.deepEqual(pathsOf(command('a'), { command: 'text' }), ['command'])
  assert.deepEqual(pathsOf({ spec: { a: 1 } }, { spec: ['a'] }), ['spec'])
  assert.deepEqual(pathsOf({ spec: { a: undefined } }, { spec: {} }), [])
})

test('a rule that was asked for empty may be missing, and one that is there is a difference', () => {
  const policy = (spec: object): object => ({ kind: 'NetworkPolicy', spec })
  assert.deepEqual(pathsOf(policy({ ingress: [] }), policy({})), [])
  assert.deepEqual(pathsOf(policy({ ingress: [] }), policy({ ingress: [{}] })), ['spec.ingress'])
  assert.deepEqual(pathsOf(policy({ ingress: [{}] }), policy({})), ['spec.ingress'])
})

test('a divisor that Kubernetes wrote its own way is no difference', () => {
  const divided = (divisor: string): object => ({ resourceFieldRef: { divisor } })
  assert.deepEqual(pathsOf(divided('1000m'), divided('1')), [])
  assert.deepEqual(pathsOf(divided('1000m'), divided('2')), ['resourceFieldRef.divisor'])
})

test('what is empty or false in a pod template may be left out, unless that means something else', () => {
  const template = (spec: object): object => ({ spec: { template: { spec } } })
  const empty = template({ hostNetwork: false, nodeSelector: {}, hostname: '' })
  assert.deepEqual(pathsOf(empty, template({})), [])
  assert.deepEqual(pathsOf(template({ enableServiceLinks: false }), template({})), [
    'spec.template.spec.enableServiceLinks',
  ])
})
