import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, viewWith } from '../../support/resources/view-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)
const quota = 'exceeded quota: few, requested: secrets=1, used: secrets=2, limited: secrets=2'

/** Refuses writes of this path with these words. */
function refuse(writing: 'POST' | 'PATCH', end: string, words: string): void {
  room.server.faults.add(({ method, path }, response) => {
    if (method !== writing || !path.endsWith(end)) return false
    send(response, 403, status(403, 'Forbidden', words))
    return true
  })
}

const refuseKeyring = (words: string): void => refuse('POST', '/secrets', words)

test('a quota on Secrets is reported as one, and no keyring as made before it is', async () => {
  refuseKeyring(`secrets "mainnet-host-keyring" is forbidden: ${quota}, c2VjcmV0LW1hcmtlcg`)
  await room.put(host)
  await room.reconcile(host)
  const message = `create secrets apps/mainnet-host-keyring: 403 ${quota}. Raise the quota of the namespace, or free something.`
  const stalled = room.condition(host, 'Stalled')
  assert.deepEqual([stalled?.reason, stalled?.message], ['QuotaExceeded', message])
  const identity = room.condition(host, 'IdentityReady')
  assert.deepEqual(
    [identity?.status, identity?.reason, identity?.message],
    ['False', 'KeyringPending', 'Secret mainnet-host-keyring has no key "0" yet; Ready says why.'],
  )
  room.server.faults.clear()
  const { requeueAfterMs = Number.POSITIVE_INFINITY } = await room.reconcile(host)
  assert.ok(requeueAfterMs < 60_000)
  assert.equal(room.condition(host, 'IdentityReady')?.reason, 'KeyringGenerated')
  assert.equal(room.condition(host, 'Stalled'), undefined)
})

test('a raised quota is found within a minute among a thousand resources', async () => {
  refuseKeyring(`secrets "mainnet-host-keyring" is forbidden: ${quota}`)
  room.crowd(1_000)
  await room.put(host)
  const { requeueAfterMs = Number.POSITIVE_INFINITY } = await room.reconcile(host)
  assert.ok(requeueAfterMs < 60_000, `${requeueAfterMs} ms`)
})

test('of what else is said of a Secret nothing is repeated, also where it speaks of a quota', async () => {
  refuseKeyring('admission webhook "a" denied the request: exceeded quota: c2VjcmV0, x')
  await room.put(host)
  await room.reconcile(host)
  assert.doesNotMatch(JSON.stringify(room.read('Host', 'mainnet')), /c2VjcmV0/)
})

const view = viewWith('senders', { definition: plainDefinition }, host.metadata.namespace)
const mapQuota =
  'exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2'

test('a quota on ConfigMaps is reported at the View, and a raised one is found within a minute', async () => {
  refuse('PATCH', '/configmaps/senders-view', `configmaps "senders-view" is forbidden: ${mapQuota}`)
  room.crowd(1_000)
  await room.put(view)
  const { requeueAfterMs = Number.POSITIVE_INFINITY } = await room.reconcile(view)
  assert.ok(requeueAfterMs < 60_000, `${requeueAfterMs} ms`)
  const stalled = room.condition(view, 'Stalled')
  assert.equal(stalled?.reason, 'QuotaExceeded')
  assert.match(
    stalled?.message ?? '',
    /senders-view.*exceeded quota: few.*limited: count\/configmaps=2\. Raise the quota of the namespace, or free something\.$/,
  )
  assert.deepEqual(
    [room.condition(view, 'Ready')?.status, room.condition(view, 'Ready')?.reason],
    ['False', 'Stalled'],
  )
  room.server.faults.clear()
  await room.reconcile(view)
  assert.equal(room.condition(view, 'Stalled'), undefined)
  assert.equal(room.condition(view, 'Validated')?.reason, 'Valid')
})

test('a quota that refuses the Views of a Host is reported, and its other objects are made', async () => {
  refuse('PATCH', '-views-0', `configmaps "mainnet-host-views-0" is forbidden: ${mapQuota}`)
  await room.put(host)
  await room.put(view)
  await room.reconcile(view)
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled')?.reason, 'QuotaExceeded')
  assert.match(room.condition(host, 'Stalled')?.message ?? '', /mainnet-host-views-0/)
  assert.ok(room.read('StatefulSet', 'mainnet-host'))
  room.server.faults.clear()
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled'), undefined)
})
