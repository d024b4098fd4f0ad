import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import type { Host } from '../../../operator/api.ts'
import { settleAll } from '../../../operator/reconcile/act.ts'
import type { HostFacts } from '../../../operator/reconcile/host-logic.ts'
import type { ReconcileParts } from '../../../operator/reconcile/reconcile-parts.ts'
import { createMemories } from '../../../operator/reconcile/resource-memory.ts'
import { hostObjects } from '../../../operator/resources/host-objects.ts'
import type { Occurrence } from '../../../operator/runtime/event-recorder.ts'
import type { KubernetesObject } from '../../../operator/runtime/kubernetes-object.ts'
import {
  type KubernetesServer,
  openClient,
  openKubernetesServer,
} from '../../support/kubernetes-server.ts'
import { hostContext, readHost } from '../../support/operator-cases.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const path = `/apis/policy/v1/namespaces/${host.metadata.namespace}/poddisruptionbudgets/mainnet-host`
const run = { signal: new AbortController().signal, log: pino({ level: 'silent' }) } as never

let server: KubernetesServer
before(async () => {
  server = await openKubernetesServer()
})
after(() => server.close())

test('what the operator itself took away is no drift when it is wanted again', async () => {
  const told: string[] = []
  const memory = createMemories<HostFacts>().of(host)
  const scaleTo = async (replicas: number): Promise<void> => {
    const scaled: Host = { ...host, spec: { ...host.spec, replicas } }
    const { objects } = hostObjects(scaled, hostContext)
    const budget = server.get(path) as KubernetesObject | undefined
    const parts = {
      api: openClient(server).api,
      view: viewOf(budget === undefined ? [] : [budget]),
      events: { record: (_type: unknown, _of: unknown, { note }: Occurrence) => told.push(note) },
    } as unknown as ReconcileParts<Host>
    const plan = {
      objects: objects.filter(({ kind }) => kind === 'PodDisruptionBudget'),
      updateAvailable: false,
      isGrowing: false,
      isSetLeaving: false,
    }
    await settleAll(parts, scaled, { plan, memory, hold: false }, run)
  }
  const isThere: boolean[] = []
  for (const replicas of [2, 1, 2]) {
    await scaleTo(replicas)
    isThere.push(server.get(path) !== undefined)
  }
  assert.deepEqual(isThere, [true, false, true])
  assert.deepEqual(told, [])
  server.remove(path)
  await scaleTo(2)
  assert.deepEqual(told, ['PodDisruptionBudget mainnet-host had been deleted.'])
})
