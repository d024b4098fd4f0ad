import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readSecretFile } from '../../../src/service/settings/secret-file.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)
const restart = 'DELETE pods mainnet-host-0'

/** A Host whose pod failed so, created at this time of a noon at which tests are. */
async function failing(message: string, at = '11:59:30'): Promise<void> {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  room.writes()
  const err = { code: 'CONFIG_INVALID', message }
  const terminated = { exitCode: 1, message: JSON.stringify({ level: 'fatal', err }) }
  await room.edit<KubernetesObject>('Pod', 'mainnet-host-0', (pod) => {
    Object.assign(pod.metadata ?? {}, { creationTimestamp: `2026-01-01T${at}Z` })
    const containerStatuses = [{ name: 'host', ready: false, lastState: { terminated } }]
    Object.assign(pod, { status: { containerStatuses } })
  })
}
const isDirectory = readSecretFile('DB_KEYRING_SECRET_FILE', tmpdir()).problem ?? ''

test('a pod that found a directory in place of its key is created again, with an Event', async () => {
  await failing(isDirectory)
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [restart])
  assert.deepEqual(
    room.events.filter((note) => note.startsWith('PodRestarted')),
    [
      'PodRestarted Pod mainnet-host-0 is recreated, since it was created before its key was in the keyring Secret.',
    ],
  )
})

test('it is not created again within half a minute, nor for another failure', async () => {
  await failing(isDirectory, '11:59:31')
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
  room.pass(1_000)
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [restart])

  await failing(isDirectory.replace('KEYRING_SECRET', 'ADMIN_TOKEN'))
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
})

test('of a paused Host no pod is deleted, and without the right to it says Forbidden', async () => {
  await failing(isDirectory)
  await room.put({ ...room.read('Host', 'mainnet'), ...{ spec: { ...host.spec, paused: true } } })
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
  assert.match(
    room.condition(host, 'Paused')?.message ?? '',
    /Pod mainnet-host-0 recreated, to have its key/,
  )
  await room.put({ ...room.read('Host', 'mainnet'), ...{ spec: host.spec } })
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'DELETE' || !path.includes('/pods/')) return false
    send(response, 403, status(403, 'Forbidden', 'no'))
    return true
  })
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled')?.reason, 'Forbidden')
})
