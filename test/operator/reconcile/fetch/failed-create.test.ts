/** Which Event says why a StatefulSet cannot make a pod. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventsV1Event, V1MicroTime } from '@kubernetes/client-node'
import type { Host } from '../../../../operator/api.ts'
import {
  failedCreates,
  findFailedCreate,
} from '../../../../operator/reconcile/fetch/failed-create.ts'
import { answerError } from '../../../../operator/runtime/client/api-error.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { podWith, readyCounts } from '../../support/operator-findings.ts'

const minimal = readHost('host-minimal')
const host: Host = { ...minimal, spec: { ...minimal.spec, replicas: 3 } }
const noonMs = Date.parse('2026-01-01T12:00:00Z')
const note = (ordinal: number, why = 'exceeded quota'): string =>
  `create Pod mainnet-host-${ordinal} in StatefulSet mainnet-host failed error: ${why}`

type When = 'eventTime' | 'deprecatedLastTimestamp' | 'lastObservedTime'

/** An Event that says this, so many seconds before noon, in the field that says when. */
function said(text: string, secondsAgo: number, when: When = 'eventTime'): EventsV1Event {
  const at = new Date(noonMs - secondsAgo * 1_000) as V1MicroTime
  const eventTime = new Date(noonMs - 3_600_000) as V1MicroTime
  const old = { note: text, eventTime, deprecatedLastTimestamp: eventTime }
  if (when === 'eventTime') return { note: text, eventTime: at }
  if (when === 'deprecatedLastTimestamp') return { ...old, deprecatedLastTimestamp: at }
  return { ...old, series: { count: 2, lastObservedTime: at } }
}

/** What is found at noon, where pod 0 is there and 1 and 2 are missing; `asked` counts requests. */
async function found(
  events: readonly EventsV1Event[],
  counts: Partial<typeof readyCounts> = {},
  asked: unknown[] = [],
): Promise<string | null> {
  const api = {
    list: async (of: unknown, { keep }: { keep: (event: KubernetesObject) => unknown }) => {
      asked.push(of)
      return { items: events.map((event) => keep(event as object)) }
    },
  }
  const state = {
    counts: { ...readyCounts, wantedReplicas: 3, ...counts },
    set: { metadata: { uid: 'set' } },
    pods: new Map([[0, podWith(host, {})]]),
    observedMs: noonMs,
  }
  return await findFailedCreate(api as never, host, state, new AbortController().signal)
}

test('an Event of any missing pod counts, and none of a pod that is there by now', async () => {
  assert.equal(await found([said(note(1), 10)]), note(1))
  assert.equal(await found([said(note(2), 10)]), note(2))
  assert.equal(await found([said(note(0), 10)]), null)
})

test('an Event counts for ten minutes since it happened last', async () => {
  for (const when of ['eventTime', 'deprecatedLastTimestamp', 'lastObservedTime'] as const) {
    assert.equal(await found([said(note(1), 600, when)]), note(1), when)
    assert.equal(await found([said(note(1), 601, when)]), null, when)
  }
  assert.equal(await found([{ note: note(1) } as EventsV1Event]), null)
})

test('the newest Event is returned, in one line of 512 letters at most', async () => {
  const events = [note(1, 'first'), note(1, 'last'), note(1, 'second')].map((text, index) =>
    said(text, [30, 10, 20][index] ?? 0),
  )
  assert.equal(await found(events), note(1, 'last'))
  assert.equal(await found([said(note(1, 'exceeded\n  quota'), 10)]), note(1))
  const start = note(1, '').length
  const full = note(1, 'x'.repeat(512 - start))
  assert.equal(await found([said(full, 10)]), full)
  assert.equal(await found([said(`${full}x`, 10)]), full)
})

test('nobody is asked once all pods are made, or before the StatefulSet was observed', async () => {
  const asked: unknown[] = []
  const events = [said(note(1), 10)]
  assert.equal(await found(events, { replicas: 3 }, asked), null)
  assert.equal(await found(events, { generation: 2 }, asked), null)
  assert.deepEqual(asked, [])
  assert.equal(await found(events, { replicas: 2 }, asked), note(1))
  assert.equal(asked.length, 1)
})

test('nobody is asked where there is no StatefulSet', async () => {
  const list = async (): Promise<never> => assert.fail('somebody was asked')
  const state = { counts: null, set: null, pods: new Map(), observedMs: noonMs }
  const { signal } = new AbortController()
  assert.equal(await findFailedCreate({ list } as never, host, state, signal), null)
})

test('what the API server fails at is thrown, but for Events that nobody may read', async () => {
  const failing = async (code: number, reason: string): Promise<unknown> => {
    const body = JSON.stringify({ kind: 'Status', code, reason })
    const request = { verb: 'list', type: builtinTypes.Event, namespace: 'apps' } as const
    const list = async (): Promise<never> => await Promise.reject(answerError(request, code, body))
    return await failedCreates({ list } as never, 'apps', 'set', new AbortController().signal)
  }
  assert.deepEqual(await failing(403, 'Forbidden'), [])
  await assert.rejects(failing(422, 'Invalid'), { code: 'OPERATOR_API_INVALID' })
})
