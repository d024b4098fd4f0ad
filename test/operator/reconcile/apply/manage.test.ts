/** How an operator takes a resource over, and leaves it to another one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workloadKinds } from '../../../../operator/api/resource-kinds.ts'
import type { Host } from '../../../../operator/api.ts'
import { heldBackMs } from '../../../../operator/reconcile/apply/manage.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { type Management, unmanaged } from '../../../../operator/reconcile/evaluate/management.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { objectPath } from '../../../../operator/runtime/client/resource-type.ts'
import type { Occurrence } from '../../../../operator/runtime/event-recorder.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'

const host = readHost('host-minimal')
const type = workloadKinds.Host
const path = objectPath({ type, ...host.metadata })
const room = kubernetesRoom()

interface Given {
  readonly managedBy?: string
  readonly management?: Management
  /** UID of the Host that is watched; undefined where it is gone. */
  readonly uid?: string | undefined
  readonly nowMs?: number
}

/** What operator `b` does: for how long it is held back, what it remembers, and the Events it records. */
async function manage({ managedBy, management = unmanaged, nowMs = 0, ...given }: Given) {
  const { uid } = { uid: host.metadata.uid, ...given }
  const { metadata } = room.server.put(path, host as KubernetesObject)
  const latest = { uid, resourceVersion: metadata?.resourceVersion }
  const events: Occurrence[] = []
  const parts = {
    ...{ api: room.client.api, type, self: 'b', nowMs: () => nowMs },
    informer: { get: () => (uid === undefined ? undefined : latest) },
    events: { record: (_: unknown, __: unknown, event: Occurrence) => events.push(event) },
  } as unknown as ReconcileParts<Host>
  const of: Host = { ...host, ...(managedBy !== undefined && { status: { managedBy } }) }
  const memory = { management }
  const run = { signal: new AbortController().signal, log: room.client.log.log }
  const held = await heldBackMs(parts, of, memory, run)
  return { held, management: memory.management, events }
}

/** The name that is at the API server. */
const written = (): unknown => (room.server.get(path) as Host | undefined)?.status?.managedBy

function refuse(code: number, reason: string): void {
  room.server.faults.clear()
  room.server.faults.add(({ method }, response) => {
    if (method !== 'PATCH') return false
    send(response, code, status(code, reason))
    return true
  })
}

test('a resource of nobody is taken at once, one of another after it had time to object', async () => {
  const ours = { isOurs: true, waitUntilMs: 0, rival: null }
  assert.deepEqual(await manage({}), { held: null, management: ours, events: [] })
  assert.equal(written(), 'b')
  assert.deepEqual(room.client.log.messages('warn'), [])
  const taken = await manage({ managedBy: 'a', nowMs: 1_000 })
  assert.deepEqual(taken, {
    held: 15_000,
    management: { ...ours, waitUntilMs: 16_000 },
    events: [],
  })
  assert.equal(written(), 'b')
  assert.deepEqual(room.client.log.messages('warn'), ['taking over what another operator managed'])
  const { management } = taken
  assert.equal((await manage({ managedBy: 'b', management, nowMs: 15_999 })).held, 1)
  assert.equal((await manage({ managedBy: 'b', management, nowMs: 16_000 })).held, null)
})

test('a resource that changed meanwhile is reconciled again, and nothing is remembered of it', async () => {
  const again = { held: 1_000, management: unmanaged, events: [] }
  assert.deepEqual(await manage({ uid: undefined }), again)
  assert.deepEqual(await manage({ uid: 'another' }), again)
  assert.deepEqual(room.server.requests, [])
  refuse(409, 'Conflict')
  assert.deepEqual(await manage({}), again)
  refuse(403, 'Forbidden')
  await assert.rejects(manage({}), { code: 'OPERATOR_API_FORBIDDEN' })
})

test('an operator that leaves a resource to another says so in an Event, with the remedy', async () => {
  const management = { isOurs: true, waitUntilMs: 0, rival: null }
  const { held, events } = await manage({ managedBy: 'a', management })
  assert.equal(held, 600_000)
  const note =
    'Operator b leaves it to operator a, which manages it as well. Uninstall one of the two, or have them watch different namespaces (scope of the chart).'
  assert.deepEqual(events, [
    { type: 'Warning', reason: 'LeftToOperator', action: 'Reconcile', note },
  ])
  assert.deepEqual(room.server.requests, [])
})
