import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Host } from '../../../operator/api.ts'
import { createHostLogic, type HostFacts } from '../../../operator/reconcile/host-logic.ts'
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
import { emptyPicture, podWith } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const signal = new AbortController().signal
const path = `/api/v1/namespaces/${host.metadata.namespace}/secrets/mainnet-host-connection`

let server: KubernetesServer
before(async () => {
  server = await openKubernetesServer()
})
after(() => server.close())

/** Looks of a Host at a time that stands still; notes of Events go to `told`. */
function lookEvery(
  intervalMs: number,
  told: string[] = [],
): ReturnType<typeof createLook<Host, HostFacts>> {
  const events = { record: (_type: unknown, _of: unknown, { note }: Occurrence) => told.push(note) }
  const { clusterDomain, defaults } = hostContext
  const parts = {
    api: openClient(server).api,
    options: { clusterDomain, defaults },
    events,
    nowMs: () => 0,
    lookIntervalMs: () => intervalMs,
  } as unknown as ReconcileParts<Host>
  return createLook(createHostLogic(viewOf([]).generators), parts, new Map())
}

test('between two looks nothing is asked, unless the wish changes or a pod comes', async () => {
  const look = lookEvery(1_000)
  const memory = createMemories<HostFacts>().of(host)
  const asks = async (of: Host, picture = emptyPicture): Promise<boolean> => {
    const before = server.requests.length
    await look(of, memory, picture, signal)
    return server.requests.length > before
  }
  const changed = { ...host, metadata: { ...host.metadata, generation: 2 } }
  const running = { ...emptyPicture, pods: new Map([[0, podWith(host, {})]]) }
  const asked = [await asks(host), await asks(host), await asks(changed), await asks(changed)]
  assert.deepEqual(asked, [true, false, true, false])
  assert.equal(await asks(changed, running), true)
  assert.equal(await asks(changed, running), false)
})

test('a Secret that was there and is made again is told in an Event, a new one is not', async () => {
  const told: string[] = []
  const look = lookEvery(0, told)
  const memory = createMemories<HostFacts>().of(host)

  await look(host, memory, emptyPicture, signal)
  assert.deepEqual(told, [])
  server.remove(path)
  await look(host, memory, emptyPicture, signal)
  assert.ok(server.get(path))
  assert.deepEqual(told, ['Secret mainnet-host-connection had been deleted.'])
  server.put(path, { ...server.get(path), data: {} } as never)
  await look(host, memory, emptyPicture, signal)
  assert.equal(told.at(-1), 'Secret mainnet-host-connection had been changed.')
})
