/** What is said of a Host while the API server does not show what is there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ConfigMap } from '@kubernetes/client-node'
import type { Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, viewWith } from '../../support/resources/view-cases.ts'
import { type Fault, send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const timing = { unreadAfterMs: 1_000, minPauseMs: 20, maxPauseMs: 100 }
const room = reconcileRoom(host.metadata.namespace, timing)

const reasons: Readonly<Record<number, string>> = { 403: 'Forbidden', 404: 'NotFound' }

/** The API server does not list or watch a kind. */
const failing =
  (code: number, plural = 'pods'): Fault =>
  ({ method, path }, response) => {
    if (method !== 'GET' || !path.endsWith(`/${plural}`)) return false
    send(response, code, status(code, reasons[code] ?? 'InternalError', 'no'))
    return true
  }

const statusOf = (): Host['status'] => room.read<Host>('Host', 'mainnet').status
/** What each condition says, and of which generation. */
const said = (): Record<string, string> =>
  Object.fromEntries(
    (statusOf()?.conditions ?? []).map((one) => [
      one.type,
      `${one.status} ${one.reason} ${one.observedGeneration}`,
    ]),
  )

/** A Host that is ready, of which pods are unread from now on, and its pod is gone and its spec another. */
async function unread(
  code: number,
): Promise<{ readonly before: Record<string, string>; end(): Promise<void> }> {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  const before = said()
  assert.equal(before['Ready'], 'True AllReady 1')
  const fault = failing(code)
  room.server.faults.add(fault)
  const lost = room.turn('Pod')
  room.server.dropWatches()
  await lost
  room.server.remove(`/api/v1/namespaces/${host.metadata.namespace}/pods/mainnet-host-0`)
  await room.edit<Host & KubernetesObject>('Host', 'mainnet', ({ metadata, spec }) => {
    Object.assign(metadata, { generation: 2 })
    Object.assign(spec, { replicas: 2 })
  })
  room.writes()
  const end = async (): Promise<void> => {
    const found = room.turn('Pod')
    room.server.faults.delete(fault)
    await found
  }
  return { before, end }
}

test('a Host whose pods cannot be listed is not Ready, and the rest is as it was seen last', async () => {
  const { before, end } = await unread(500)
  const { pods, replicas, nodes } = statusOf() ?? {}
  await assert.rejects(room.reconcile(host), { code: 'OPERATOR_API_FAILED' })
  assert.deepEqual(said(), {
    ...before,
    Ready: 'Unknown Unread 2',
    Reconciling: 'True ProgressingWithRetry 2',
  })
  assert.match(
    room.condition(host, 'Ready')?.message ?? '',
    /^What is there cannot be read, so nothing is known of the pods since: (list|watch) pods: 500 no/,
  )
  const { observedGeneration, ...after } = statusOf() ?? {}
  assert.equal(observedGeneration, 1)
  assert.deepEqual([after.pods, after.replicas, after.nodes], [pods, replicas, nodes])
  assert.deepEqual(room.writes(), [])

  await end()
  await room.reconcile(host)
  assert.equal(said()['Reconciling'], 'True Progressing 2')
  assert.equal(said()['StorageReady']?.endsWith(' 2'), true)
  assert.equal(statusOf()?.observedGeneration, 2)
  assert.notEqual(room.condition(host, 'Ready')?.status, 'True')
})

test('one whose pods may not be listed waits for a person, and says nothing else that is new', async () => {
  const { before, end } = await unread(403)
  assert.equal((await room.reconcile(host)).isTerminal, true)
  assert.deepEqual(said(), { ...before, Ready: 'False Stalled 2', Stalled: 'True Forbidden 2' })
  await end()
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled'), undefined)
})

const view = viewWith('senders', { definition: plainDefinition }, host.metadata.namespace)

for (const code of [403, 404]) {
  test(`Views that cannot be read (${code}) are left as they are, and their Host is worked on`, async () => {
    await room.put(host)
    await room.put(view)
    await room.reconcile(view)
    await room.reconcile(host)
    const before = room.read<V1ConfigMap & KubernetesObject>('ConfigMap', 'mainnet-host-views-0')
    assert.equal(Object.keys(before.binaryData ?? {}).length, 1)
    const fault = failing(code, 'views')
    room.server.faults.add(fault)
    const lost = room.turn('View')
    room.server.dropWatches()
    await lost
    await room.edit<Host & KubernetesObject>('Host', 'mainnet', ({ metadata, spec }) => {
      Object.assign(metadata, { generation: 2 })
      Object.assign(spec, { replicas: 2 })
    })
    room.restart()
    room.writes()
    await room.reconcile(host)
    assert.ok(room.writes().includes('PATCH statefulsets mainnet-host'))
    assert.deepEqual(room.read('ConfigMap', 'mainnet-host-views-0'), before)
    await room.reconcile(view).catch(() => undefined)
    assert.match(room.condition(view, 'Ready')?.message ?? '', /views/)

    const found = room.turn('View')
    room.server.faults.delete(fault)
    await found
    await room.remove('View', 'senders')
    room.writes()
    await room.reconcile(host)
    assert.deepEqual(room.writes(), ['PATCH configmaps mainnet-host-views-0'])
  })
}
