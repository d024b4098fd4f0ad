/** How the replicas of a Host come to know each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ConfigMap, V1Pod } from '@kubernetes/client-node'
import type { Host } from '../../../operator/api.ts'
import { type HealthView, parseHealth } from '../../../operator/reconcile/observe/health-view.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const one = readHost('host-minimal')
const host: Host = { ...one, spec: { ...one.spec, replicas: 3 } }
const room = reconcileRoom(host.metadata.namespace)

function viewOf(id: string): HealthView {
  const view = parseHealth(JSON.stringify({ program: 'host', p2p: { self: { id }, peers: [] } }))
  return view ?? assert.fail('this is no report')
}

const siblings = (): string | undefined =>
  room.read<V1ConfigMap & KubernetesObject>('ConfigMap', 'mainnet-host-config').data?.['siblings']

const addressOf = (ordinal: number, id: string): string =>
  `/dns4/mainnet-host-${ordinal}.mainnet-host-nodes.apps.svc.cluster.local/tcp/9171/p2p/${id}\n`

/** The pods of the Host run, and say who they are. */
async function run(ids: readonly string[]): Promise<void> {
  for (const [ordinal] of ids.entries()) {
    await room.edit<V1Pod & KubernetesObject>('Pod', `mainnet-host-${ordinal}`, (pod) => {
      pod.status = { ...pod.status, podIP: `10.0.0.${ordinal}` }
    })
  }
  room.answer(new Map(ids.map((id, ordinal) => [ordinal, viewOf(id)])))
}

async function started(of: Host): Promise<void> {
  await room.put(of)
  await room.reconcile(of)
  await room.start(of)
}

test('each replica is named to the others as soon as it says who it is', async () => {
  await started(host)
  await room.reconcile(host)
  assert.equal(siblings(), '')
  await run(['first', 'second'])
  await room.reconcile(host)
  assert.equal(siblings(), addressOf(0, 'first') + addressOf(1, 'second'))
})

test('a replica that says another ID later is known by that of its key', async () => {
  await started(host)
  await run(['first', 'second'])
  await room.reconcile(host)
  await room.reconcile(host)
  await run(['stolen', 'second'])
  await room.reconcile(host)
  assert.equal(siblings(), addressOf(0, 'first') + addressOf(1, 'second'))
})

test('what a replica says it is called adds no line to what others read', async () => {
  await started(host)
  await run(['first\n/dns4/evil.example.org/tcp/9171/p2p/second', 'a/p2p/b'])
  await room.reconcile(host)
  assert.equal(siblings(), '')
})

test('a removed replica is named no more, and a sole one has no siblings', async () => {
  await started(host)
  await run(['first', 'second', 'third'])
  await room.reconcile(host)
  await room.edit<Host>('Host', 'mainnet', (live) => Object.assign(live.spec, { replicas: 2 }))
  await room.reconcile(host)
  assert.equal(siblings(), addressOf(0, 'first') + addressOf(1, 'second'))
  await room.edit<Host>('Host', 'mainnet', (live) => Object.assign(live.spec, { replicas: 1 }))
  await room.reconcile(host)
  assert.equal(siblings(), '')
})
