import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHost } from '../../support/resources/operator-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)
const quota = 'exceeded quota: few, requested: secrets=1, used: secrets=2, limited: secrets=2'

/** Refuses the keyring with these words. */
function refuseKeyring(words: string): void {
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'POST' || !path.endsWith('/secrets')) return false
    send(response, 403, status(403, 'Forbidden', words))
    return true
  })
}

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
