/** Items of lists whose keys others edited, so that ours cannot come back beside them. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { V1Service, V1StatefulSet } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { type SeenRequest, send, status } from '../../support/kubernetes-server.ts'
import { patched } from '../../support/patched.ts'
import { reconcileRoom } from '../../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)

type Service = V1Service & KubernetesObject

const isPatchOf = ({ method, path }: SeenRequest, end: string): boolean =>
  method === 'PATCH' && path.endsWith(end)

const invalid = (field: string): object => ({
  ...status(422, 'Invalid', 'no'),
  details: { causes: [{ reason: 'FieldValueInvalid', field }] },
})

/** Refuses what the API server refuses of ports: none at all, and two of one name. */
function refuseImpossiblePorts(): void {
  room.server.faults.add((request, response) => {
    if (!isPatchOf(request, '/services/mainnet-host-nodes')) return false
    const after = patched(request, room.server.get(request.path)) as Service | null
    const names = (after?.spec?.ports ?? []).map(({ name }) => name)
    if (names.length > 0 && new Set(names).size === names.length) return false
    send(response, 422, invalid('spec.ports'))
    return true
  })
}

/** Refuses patches of an object that are of this type. */
function refuse(end: string, contentType: string, code: number, body: object): void {
  room.server.faults.add((request, response) => {
    const isMeant = request.headers['content-type']?.startsWith(contentType) === true
    if (!isMeant || !isPatchOf(request, end)) return false
    send(response, code, body)
    return true
  })
}

const ports = (): unknown => room.read<Service>('Service', 'mainnet-host-nodes').spec?.ports

async function renumberPorts(): Promise<void> {
  await room.edit<Service>('Service', 'mainnet-host-nodes', ({ spec }) => {
    for (const port of spec?.ports ?? []) port.port += 1
  })
}

beforeEach(async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
})

test('ports of a Service that were all given other numbers are put back', async () => {
  const before = ports()
  refuseImpossiblePorts()
  await renumberPorts()
  assert.notDeepEqual(ports(), before)
  await room.reconcile(host)
  assert.deepEqual(ports(), before)
})

test('ports that may not be taken away are left, and the Host says that this is forbidden', async () => {
  refuse('/services/mainnet-host-nodes', 'application/json-patch', 403, status(403, 'Forbidden'))
  refuseImpossiblePorts()
  await renumberPorts()
  const edited = ports()
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled')?.reason, 'Forbidden')
  assert.deepEqual(ports(), edited)
})

test('what is refused of another object than a Service is reported, and nothing else is tried', async () => {
  refuse('/statefulsets/mainnet-host', 'application/', 422, invalid('spec.template'))
  await room.edit<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host', ({ spec }) => {
    Object.assign(spec?.template.spec?.containers[0] ?? {}, { name: 'other' })
  })
  room.writes()
  await room.reconcile(host)
  assert.match(
    room.condition(host, 'Stalled')?.message ?? '',
    /statefulsets apps\/mainnet-host: 422/,
  )
  assert.deepEqual(room.writes(), Array(2).fill('PATCH statefulsets mainnet-host'))
})

test('what is refused though nobody edited a key is tried once', async () => {
  refuse('/statefulsets/mainnet-host', 'application/', 422, invalid('spec.template'))
  await room.edit<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host', ({ spec }) =>
    Object.assign(spec ?? {}, { replicas: 7 }),
  )
  room.writes()
  await room.reconcile(host)
  assert.deepEqual(room.writes(), ['PATCH statefulsets mainnet-host'])
})
