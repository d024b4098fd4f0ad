import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import { type EventRecorder, openEventRecorder } from '../../../operator/runtime/event-recorder.ts'
import { createStatusWriter, type WantedStatus } from '../../../operator/runtime/status-writer.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'
import type { SeenRequest } from '../support/kubernetes-server.ts'

const type = builtinTypes.StatefulSet
const path = '/apis/apps/v1/namespaces/apps/statefulsets/a'
const other = '/apis/apps/v1/namespaces/apps/statefulsets/b'
const labelled = '/apis/apps/v1/namespaces/apps/statefulsets/c'
const object = { metadata: { name: 'a', namespace: 'apps', uid: 'uid-a', generation: 3 } }
const occurrence = { type: 'Warning', reason: 'Late', action: 'Wait', note: 'it is late' } as const

const room = kubernetesRoom()
beforeEach(() => void room.server.put(path, object))

function writes(): SeenRequest[] {
  return room.server.requests.filter(({ method }) => method !== 'GET')
}

/** What the last write carried. */
function lastBody<T>(): T {
  return writes().at(-1)?.body as T
}

function openRecorder(): EventRecorder {
  return openEventRecorder(
    { controller: 'viewmesh.io/operator', instance: 'operator-0' },
    { api: room.client.api, log: room.client.log.log },
  )
}

test('what happens again and again is one Event with a count', async () => {
  const recorder = openRecorder()
  for (let count = 0; count < 5; count += 1) recorder.record(type, object, occurrence)
  recorder.record(type, object, { ...occurrence, note: 'it is later' })
  await recorder.close()
  const [created, other, counted, ...more] = writes()
  assert.deepEqual(
    [created, other, counted].map((request) => request?.method),
    ['POST', 'POST', 'PATCH'],
  )
  assert.deepEqual(more, [])
  const given = { ...(created?.body as object), metadata: null, eventTime: null }
  assert.deepEqual(given, {
    metadata: null,
    eventTime: null,
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    ...occurrence,
    reportingController: 'viewmesh.io/operator',
    reportingInstance: 'operator-0',
    regarding: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      namespace: 'apps',
      name: 'a',
      uid: 'uid-a',
    },
  })
  const { series } = lastBody<{ series: { count: number } }>()
  assert.equal(series.count, 5)
})

test('an object with ever new occurrences gets 25 Events at most', async () => {
  const recorder = openRecorder()
  for (let count = 0; count < 40; count += 1) {
    recorder.record(type, object, { ...occurrence, note: `${count} blocks late` })
  }
  await recorder.close()
  assert.equal(writes().length, 25)
})

test('an Event that cannot be written is logged and does no harm', async () => {
  await room.client.api.close()
  const recorder = openRecorder()
  recorder.record(type, object, occurrence)
  await recorder.close()
  assert.deepEqual(
    [...new Set(room.client.log.messages('warn'))],
    ['an Event could not be written'],
  )
})

const wanted: WantedStatus = {
  conditions: [{ type: 'Ready', status: 'False', reason: 'Pending', message: 'not yet' }],
  facts: { image: 'x:1' },
  figures: { head: 7 },
}

test('a status is written where it differs, with generation and times of its conditions', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  assert.deepEqual(await writer.write(type, object, wanted), { written: true })
  assert.equal(writes().at(-1)?.path, `${path}/status`)
  assert.equal(writes().at(-1)?.query['fieldManager'], 'tester-status')
  const { status } = lastBody<{ status: { conditions: { lastTransitionTime: string }[] } }>()
  const lastTransitionTime = status.conditions[0]?.lastTransitionTime ?? ''
  assert.match(lastTransitionTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const condition = { ...wanted.conditions[0], observedGeneration: 3, lastTransitionTime }
  assert.deepEqual(status, {
    image: 'x:1',
    observedGeneration: 3,
    conditions: [condition],
    head: 7,
  })
})

test('nothing is written where nothing differs, in any order, and figures wait for a minute', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  await writer.write(type, object, wanted)
  const live = { ...object, status: lastBody<{ status: object }>().status }
  const start = writes().length
  assert.deepEqual(await writer.write(type, live, wanted), { written: false })
  const moved = { ...wanted, figures: { head: 8 } }
  const { written, requeueAfterMs = 0 } = await writer.write(type, live, moved)
  assert.equal(written, false)
  assert.ok(requeueAfterMs > 0 && requeueAfterMs <= 60_000)
  assert.equal(writes().length, start)
})

test('a message that moves is written like a figure, a reason at once', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  await writer.write(type, object, wanted)
  const live = { ...object, status: lastBody<{ status: object }>().status }
  const [first] = wanted.conditions
  const changed = (more: object): WantedStatus =>
    ({ ...wanted, conditions: [{ ...first, ...more }], moving: ['Ready'] }) as WantedStatus
  const { written, requeueAfterMs = 0 } = await writer.write(type, live, changed({ message: '7' }))
  assert.equal(written, false)
  assert.ok(requeueAfterMs > 0 && requeueAfterMs <= 60_000)
  const outcome = await writer.write(type, live, changed({ reason: 'Rolling', message: '8' }))
  assert.deepEqual(outcome, { written: true })
  const moved = { ...changed({ message: '9' }), moving: ['Another'] }
  assert.deepEqual(await writer.write(type, live, moved), { written: true })
})

test('a condition is written at once, with the figures, and keeps its time while its status does', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const past = '2020-01-01T00:00:00Z'
  const known = { observedGeneration: 3, lastTransitionTime: past }
  const status = {
    observedGeneration: 3,
    image: 'x:1',
    head: 7,
    conditions: [
      { ...known, type: 'Ready', status: 'False', reason: 'Pending', message: 'not yet' },
      { ...known, type: 'Stalled', status: 'True', reason: 'Stuck', message: 'stuck' },
    ],
  }
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'Rolling', message: 'soon' },
  ] as const
  const live = { ...object, status }
  const outcome = await writer.write(type, live, { ...wanted, conditions, figures: { head: 8 } })
  assert.deepEqual(outcome, { written: true })
  assert.deepEqual(lastBody<{ status: object }>().status, {
    observedGeneration: 3,
    image: 'x:1',
    head: 8,
    conditions: [{ ...conditions[0], ...known }],
  })
})

const conflict = { written: false, requeueAfterMs: 1_000 }

test('a change that needs no reconcile, as of a label, delays a status by a second at most', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const known = room.server.put(labelled, { metadata: { generation: 1 } })
  const changed = room.server.put(labelled, {
    metadata: { generation: 1, labels: { team: 'data' } },
  })
  assert.deepEqual(await writer.write(type, known, wanted), conflict)
  assert.deepEqual(await writer.write(type, changed, wanted), { written: true })
})

test('what was found about a resource is not said of the next one of its name', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const known = room.server.put(other, {
    metadata: { name: 'b', namespace: 'apps', generation: 1 },
  })
  room.server.remove(other)
  const next = room.server.put(other, {
    metadata: { name: 'b', namespace: 'apps', generation: 1 },
  })
  assert.deepEqual(await writer.write(type, known, wanted), conflict)
  assert.equal(writes().length, 1)
  assert.deepEqual(room.client.log.messages('warn'), [])
  assert.deepEqual(await writer.write(type, next, wanted), { written: true })
})
