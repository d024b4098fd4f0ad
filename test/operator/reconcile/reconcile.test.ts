import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../operator/api.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)

const objects = [
  'PATCH serviceaccounts mainnet-host',
  'PATCH configmaps mainnet-host-config',
  'PATCH services mainnet-host-nodes',
  'PATCH services mainnet-host',
  'PATCH networkpolicies mainnet-host',
  'PATCH statefulsets mainnet-host',
]

/** What is said of Ready, in short. */
const ready = (): string => {
  const { status, reason, observedGeneration } = room.condition(host, 'Ready') ?? {}
  return `${status} ${reason} ${observedGeneration}`
}

/** A Host of which everything is written and ready. */
async function started(of: Host = host): Promise<void> {
  await room.put(of)
  await room.reconcile(of)
  await room.start(of)
  await room.reconcile(of)
  room.writes()
}

test('a new Host gets its Secrets, then its objects, the StatefulSet last', async () => {
  await room.put(host)
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [
    'PATCH secrets mainnet-host-connection',
    'POST secrets mainnet-host-keyring',
    ...objects,
  ])
  assert.equal(ready(), 'False WaitingForStorage 1')
})

test('what is as it should be is written no more, also not by the next operator', async () => {
  await started()
  assert.equal(ready(), 'True AllReady 1')
  await room.reconcile(host)
  room.restart()
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
})

test('of a paused Host nothing is written but its status', async () => {
  const paused = { ...host, spec: { ...host.spec, paused: true } }
  await room.put(paused)
  await room.reconcile(paused)
  assert.equal(ready(), 'False Paused 1')
})

test('of a Host that is being deleted nothing is written any more', async () => {
  await started()
  await room.edit<Host>('Host', 'mainnet', ({ metadata }) =>
    Object.assign(metadata, { deletionTimestamp: '2026-01-01T12:00:00Z' }),
  )
  room.server.remove('/api/v1/namespaces/apps/services/mainnet-host')
  assert.deepEqual([await room.reconcile(host), room.writes()], [{}, []])
})
