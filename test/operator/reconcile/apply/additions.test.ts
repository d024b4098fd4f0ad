import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../../support/reconcile-room.ts'

const minimal = readHost('host-minimal')
const host: Host = { ...minimal, spec: { ...minimal.spec, replicas: 2 } }
const room = reconcileRoom(host.metadata.namespace)

/** Any object with fields that are edited here. */
interface Edited extends KubernetesObject {
  readonly spec: {
    readonly selector: Record<string, unknown> & { readonly matchLabels?: Record<string, string> }
    readonly ports: object[]
    readonly egress?: object[]
    readonly ingress?: object[]
    readonly policyTypes?: string[]
  }
}
type Kind = 'Service' | 'PodDisruptionBudget' | 'NetworkPolicy'

const specOf = (kind: Kind, name: string): unknown => room.read<Edited>(kind, name).spec

/** Events about what was put back. */
const corrected = (): string[] => room.events.filter((text) => text.startsWith('DriftCorrected '))

/** Edits an object and reconciles; it has to be as it was, and stay so. Returns what was written for that. */
async function heal(
  kind: Kind,
  name: string,
  edit: (spec: Edited['spec']) => void,
): Promise<string[]> {
  const before = specOf(kind, name)
  room.writes()
  await room.edit<Edited>(kind, name, ({ spec }) => edit(spec))
  assert.notDeepEqual(specOf(kind, name), before)
  await room.reconcile(host)
  assert.deepEqual(specOf(kind, name), before)
  const writes = room.writes()
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
  return writes
}

beforeEach(async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
})

test('a label that is added to the selector of a Service, which empties it, is taken away', async () => {
  const writes = await heal('Service', 'mainnet-host-nodes', ({ selector }) =>
    Object.assign(selector, { x: 'y' }),
  )
  assert.deepEqual(writes, Array(2).fill('PATCH services mainnet-host-nodes'))
  assert.deepEqual(corrected(), [
    'DriftCorrected Service mainnet-host-nodes had been given spec.selector.x.',
  ])
})

test('so are labels and expressions in the selector of a PodDisruptionBudget', async () => {
  await heal('PodDisruptionBudget', 'mainnet-host', ({ selector }) => {
    Object.assign(selector.matchLabels ?? {}, { 'example.org/x': 'y' })
    Object.assign(selector, { matchExpressions: [{ key: 'a', operator: 'Exists' }] })
  })
  assert.deepEqual(corrected(), [
    'DriftCorrected PodDisruptionBudget mainnet-host had been given spec.selector.matchLabels.example.org/x, spec.selector.matchExpressions.',
  ])
})

test('a port that is added to a Service is taken away, also one of a number of ours', async () => {
  await heal('Service', 'mainnet-host', ({ ports }) => {
    ports.unshift({ name: 'udp', port: 9181, protocol: 'UDP' })
    ports.push({ name: 'ssh', port: 22, protocol: 'TCP' })
  })
  assert.deepEqual(corrected(), [
    'DriftCorrected Service mainnet-host had been given spec.ports[9181], spec.ports[22].',
  ])
})

test('a rule that is added to a NetworkPolicy is taken away, and one that is missing comes back', async () => {
  await heal('NetworkPolicy', 'mainnet-host', (spec) => {
    spec.ingress?.push({})
    spec.egress?.pop()
  })
  assert.deepEqual(corrected(), [
    'DriftCorrected NetworkPolicy mainnet-host had other spec.ingress, spec.egress.',
  ])
})

test('what others add where that changes nothing of ours is left alone', async () => {
  room.writes()
  await room.edit<Edited>('Service', 'mainnet-host', ({ spec, metadata }) => {
    Object.assign(spec, { sessionAffinity: 'ClientIP' })
    Object.assign(spec.ports[0] ?? {}, { nodePort: 30_000 })
    Object.assign(metadata ?? {}, { annotations: { ...metadata?.annotations, a: 'b' } })
  })
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
})

test('what admission adds to a selector each time is taken away once, reported, and left', async () => {
  room.server.admission.add((object) => {
    if (object.kind !== 'Service') return object
    const { spec } = object as Edited
    return { ...object, ...{ spec: { ...spec, selector: { ...spec.selector, mesh: 'on' } } } }
  })
  room.writes()
  await room.edit<Edited>('Service', 'mainnet-host', ({ spec }) =>
    Object.assign(spec.selector, { mesh: 'on' }),
  )
  for (let round = 0; round < 3; round += 1) await room.reconcile(host)
  assert.deepEqual(room.writes(), Array(2).fill('PATCH services mainnet-host'))
  assert.deepEqual(corrected(), [])
  assert.equal(room.events.filter((text) => text.startsWith('ChangedByAdmission ')).length, 1)
})
