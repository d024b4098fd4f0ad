/** Two operators that watch one namespace, or one after the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import type { Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)

test('of two operators that watch one namespace one goes on, and both say so', async () => {
  const [one, two] = [room.operator('a/one'), room.operator('b/two')]
  const managedBy = (): unknown => room.read<Host>('Host', 'mainnet').status?.managedBy
  await room.put(host)
  await one(host)
  assert.equal(managedBy(), 'a/one')
  assert.deepEqual(room.writes().slice(-1), ['PATCH statefulsets mainnet-host'])

  room.server.remove('/api/v1/namespaces/apps/services/mainnet-host')
  assert.deepEqual(await two(host), { requeueAfterMs: 15_000 })
  assert.equal(managedBy(), 'b/two')
  await one(host)
  assert.equal(managedBy(), 'a/one')
  assert.deepEqual(room.writes(), ['PATCH services mainnet-host'])
  await room.start(host)
  await room.edit<V1Pod & KubernetesObject>('Pod', 'mainnet-host-0', (pod) => {
    pod.status = { ...pod.status, podIP: '10.0.0.1' }
  })
  await one(host)
  assert.equal(room.watched(host), 1)
  assert.deepEqual(await two(host), { requeueAfterMs: 600_000 })
  assert.equal(room.watched(host), 0)
  const remedy =
    'Uninstall one of the two, or have them watch different namespaces (scope of the chart).'
  assert.equal(
    room.events.at(-1),
    `LeftToOperator Operator b/two leaves it to operator a/one, which manages it as well. ${remedy}`,
  )
  const { status: value, reason, message } = room.condition(host, 'Contested') ?? {}
  assert.deepEqual(
    [value, reason, message],
    ['True', 'OperatorsOverlap', `Operator b/two manages it as well; a/one goes on. ${remedy}`],
  )

  await one(host)
  const written = room.server.requests.length
  for (let round = 0; round < 10; round += 1) {
    await two(host)
    await one(host)
  }
  const later = room.server.requests.slice(written).filter(({ method }) => method !== 'GET')
  assert.deepEqual(later, [])
})

test('an operator of an earlier version, which leaves no name, is noticed by what it writes', async () => {
  await room.put(host)
  await room.reconcile(host)
  const overwrite = async (): Promise<void> => {
    await room.edit<Host & KubernetesObject>('Host', 'mainnet', ({ status: live }) => {
      const conditions = (live?.conditions ?? []).filter(({ type }) => type === 'Ready')
      Object.assign(live ?? {}, { conditions })
    })
    await room.reconcile(host)
  }
  await overwrite()
  await overwrite()
  assert.equal(room.condition(host, 'Contested'), undefined, 'that may have been a person')
  await overwrite()
  const { status: value, reason, message } = room.condition(host, 'Contested') ?? {}
  assert.deepEqual([value, reason], ['True', 'OperatorsOverlap'])
  assert.equal(
    message,
    'Something else writes this status as well, as an operator of an earlier version does that watches the namespace too; viewmesh/operator goes on. Uninstall one of the two, or have them watch different namespaces (scope of the chart).',
  )
  assert.ok(room.events.includes(`OperatorsOverlap ${message}`))
  for (let round = 0; round < 5; round += 1) await room.reconcile(host)
  room.pass(3_600_000)
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Contested'), undefined)
})

test('what an operator managed that is gone is taken over, once it had time to object', async () => {
  await room.put(host)
  await room.operator('a/one')(host)
  const two = room.operator('b/two')
  assert.deepEqual(await two(host), { requeueAfterMs: 15_000 })
  room.pass(15_000)
  room.server.remove('/api/v1/namespaces/apps/services/mainnet-host')
  room.writes()
  await two(host)
  assert.deepEqual(room.writes(), ['PATCH services mainnet-host'])
  assert.equal(room.condition(host, 'Contested'), undefined)
})

test('a resource whose status another operator wrote first is left alone for a second', async () => {
  const refuse = (code: number, reason: string): void => {
    room.server.faults.clear()
    room.server.faults.add(({ query }, response) => {
      if (query['fieldManager'] !== 'viewmesh-operator-management') return false
      send(response, code, status(code, reason))
      return true
    })
  }
  await room.put(host)
  room.writes()
  refuse(409, 'Conflict')
  assert.deepEqual(await room.operator('a/one')(host), { requeueAfterMs: 1_000 })
  assert.deepEqual(room.writes(), [])
  refuse(403, 'Forbidden')
  await assert.rejects(room.operator('a/one')(host), { code: 'OPERATOR_API_FORBIDDEN' })
})
