import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Host } from '../../../operator/api.ts'
import { createHostLogic } from '../../../operator/reconcile/host-logic.ts'
import { createLook } from '../../../operator/reconcile/look.ts'
import type { ReconcileParts } from '../../../operator/reconcile/reconcile-parts.ts'
import { createMemories } from '../../../operator/reconcile/resource-memory.ts'
import type { Occurrence } from '../../../operator/runtime/event-recorder.ts'
import {
  type KubernetesServer,
  openClient,
  openKubernetesServer,
} from '../../support/kubernetes-server.ts'
import { hostContext, readHost } from '../../support/operator-cases.ts'
import { emptyPicture } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const signal = new AbortController().signal
const path = `/api/v1/namespaces/${host.metadata.namespace}/secrets/mainnet-host-connection`

let server: KubernetesServer
before(async () => {
  server = await openKubernetesServer()
})
after(() => server.close())

test('a Secret that was there and is made again is told in an Event, a new one is not', async () => {
  const told: string[] = []
  const view = viewOf([])
  const events = { record: (_type: unknown, _of: unknown, { note }: Occurrence) => told.push(note) }
  const { clusterDomain, defaults } = hostContext
  const parts = {
    api: openClient(server).api,
    options: { clusterDomain, defaults },
    events,
    nowMs: () => 0,
    lookIntervalMs: () => 0,
  } as unknown as ReconcileParts<Host>
  const look = createLook(createHostLogic(view.generators), parts, new Map())
  const memory = createMemories<never>().of(host)

  await look(host, memory as never, emptyPicture, signal)
  assert.deepEqual(told, [])
  server.remove(path)
  await look(host, memory as never, emptyPicture, signal)
  assert.ok(server.get(path))
  assert.deepEqual(told, ['Secret mainnet-host-connection had been deleted.'])
  server.put(path, { ...server.get(path), data: {} } as never)
  await look(host, memory as never, emptyPicture, signal)
  assert.equal(told.at(-1), 'Secret mainnet-host-connection had been changed.')
})
