import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import { type EventRecorder, openEventRecorder } from '../../../operator/runtime/event-recorder.ts'
import { createStatusWriter, type WantedStatus } from '../../../operator/runtime/status-writer.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'
import { type SeenRequest, send, status } from '../support/kubernetes-server.ts'

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
  assert.deepEqual(
    writes()
      .map(({ method }) => method)
      .toSorted(),
    ['PATCH', 'POST', 'POST'],
  )
  const [created] = writes()
  const [counted] = writes().filter(({ method }) => method === 'PATCH')
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
  assert.partialDeepStrictEqual(counted?.body, { series: { count: 5 } })
})

/** Notes of the Events that were created, and the newest count of each. */
function reportedEvents(): Record<string, number> {
  const reported: Record<string, number> = {}
  const notes = new Map<string, string>()
  for (const { method, path: at, body } of writes()) {
    const given = body as { metadata?: { name: string }; note: string; series: { count: number } }
    if (method === 'POST') notes.set(given.metadata?.name ?? '', given.note)
    const note = method === 'POST' ? given.note : (notes.get(at.split('/').at(-1) ?? '') ?? '')
    reported[note] = method === 'POST' ? 1 : given.series.count
  }
  return reported
}

test('what goes beyond 25 Events of an object is counted on the last of its reason, and logged', async () => {
  const recorder = openRecorder()
  for (let count = 0; count < 40; count += 1) {
    recorder.record(type, object, { ...occurrence, note: `${count} blocks late` })
  }
  await recorder.close()
  const reported = reportedEvents()
  assert.equal(Object.keys(reported).length, 25)
  assert.deepEqual([reported['23 blocks late'], reported['24 blocks late']], [1, 16])
  const lines = room.client.log.lines.filter(({ msg }) => /only counted/.test(String(msg)))
  assert.equal(lines.length, 15)
  const facts = { kind: 'StatefulSet', namespace: 'apps', object: 'a', reason: 'Late' }
  assert.partialDeepStrictEqual(lines.at(-1), { level: 'info', ...facts, note: '39 blocks late' })
})

test('neither Normal Events nor those of one reason keep a warning from being recorded', async () => {
  const recorder = openRecorder()
  for (let count = 0; count < 40; count += 1) {
    const normal = { type: 'Normal', reason: 'Moved', action: 'Apply', note: `${count}` } as const
    recorder.record(type, object, normal)
    recorder.record(type, object, { ...occurrence, note: `${count} blocks late` })
  }
  recorder.record(type, object, { ...occurrence, reason: 'Forbidden', note: 'it may not' })
  await recorder.close()
  const reported = reportedEvents()
  assert.equal(Object.keys(reported).length, 25 + 25 + 1)
  assert.equal(reported['it may not'], 1)
})

test('an Event that cannot be written now is written later, and one that is refused is logged', async () => {
  const recorder = openEventRecorder(
    { controller: 'viewmesh.io/operator', instance: 'operator-0', repeatMs: 1 },
    { api: room.client.api, log: room.client.log.log },
  )
  const fourth = Promise.withResolvers<void>()
  let attempts = 0
  room.server.faults.add(({ body }, response) => {
    const isRefused = (body as { reason?: string }).reason === 'Refused'
    if (!isRefused) attempts += 1
    if (!isRefused && attempts === 4) {
      fourth.resolve()
      return false
    }
    send(response, isRefused ? 403 : 500, status(isRefused ? 403 : 500, 'No'))
    return true
  })
  recorder.record(type, object, occurrence)
  recorder.record(type, object, { ...occurrence, reason: 'Refused', note: 'it is refused' })
  await fourth.promise
  await recorder.close()
  assert.equal(attempts, 4)
  const dropped = room.client.log.lines.filter(({ level }) => level === 'warn')
  assert.deepEqual(
    dropped.map(({ msg, reason, note }) => [msg, reason, note]),
    [['an Event could not be written', 'Refused', 'it is refused']],
  )
})

test('an Event that cannot be written to the end is logged and does no harm', async () => {
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

test('a message that is cut within a character is written once, as the API server keeps it', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const message = `${'a'.repeat(1_023)}\u{1f600}`
  const cut = { ...wanted, conditions: [{ ...wanted.conditions[0], message }] } as WantedStatus
  await writer.write(type, object, cut)
  const { status } = lastBody<{ status: { conditions: { message: string }[] } }>()
  assert.equal(status.conditions[0]?.message, `${'a'.repeat(1_023)}\ufffd`)
  const live = { ...object, status }
  assert.deepEqual(await writer.write(type, live, cut), { written: false })
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

test('a message that moves is compared with the one of the same condition and reason', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const [ready] = wanted.conditions
  const both = (message: string): WantedStatus =>
    ({
      ...wanted,
      conditions: [
        { ...ready, type: 'Applied' },
        { ...ready, message },
      ],
      moving: ['Ready'],
    }) as WantedStatus
  await writer.write(type, object, both('7'))
  const live = { ...object, status: lastBody<{ status: object }>().status }
  assert.equal((await writer.write(type, live, both('8'))).written, false)
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
      { ...known, type: 'Stalled', status: 'True', reason: 'Stuck', message: 'stuck' },
      { ...known, type: 'Ready', status: 'False', reason: 'Pending', message: 'not yet' },
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

test('a condition whose status turns has the time of that, and may be of an older generation', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const past = '2020-01-01T00:00:00Z'
  const before = { ...wanted.conditions[0], observedGeneration: 2, lastTransitionTime: past }
  const live = { ...object, status: { conditions: [before] } }
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Ready', message: 'it is' },
    { ...wanted.conditions[0], type: 'Old', observedGeneration: 2 },
  ] as WantedStatus['conditions']
  const facts = { observedGeneration: 2 }
  await writer.write(type, live, { conditions, facts, figures: { head: undefined } })
  type Written = { observedGeneration: number; lastTransitionTime: string }
  const { status } = lastBody<{ status: { conditions: Written[] } }>()
  const [ready, old] = status.conditions
  assert.deepEqual(status, {
    observedGeneration: 2,
    conditions: [
      { ...conditions[0], observedGeneration: 3, lastTransitionTime: ready?.lastTransitionTime },
      { ...conditions[1], lastTransitionTime: old?.lastTransitionTime },
    ],
  })
  assert.ok(Date.parse(ready?.lastTransitionTime ?? '') > Date.parse(past))
})

test('conditions that are kept in another order are the same', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const [ready] = wanted.conditions
  const conditions = ['Ready', 'Applied', 'Stalled'].map((of) => ({ ...ready, type: of }))
  const several = { ...wanted, conditions } as WantedStatus
  await writer.write(type, object, several)
  const { status } = lastBody<{ status: { conditions: object[] } }>()
  const live = { ...object, status: { ...status, conditions: status.conditions.toReversed() } }
  assert.deepEqual(await writer.write(type, live, several), { written: false })
  const other = { ...live, metadata: { ...live.metadata, generation: 4 } }
  assert.deepEqual(await writer.write(type, other, several), { written: true })
})

test('figures are written at once that no write of the last minute came before', async () => {
  const { api } = room.client
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api })
  await writer.write(type, object, wanted)
  const live = { ...object, status: lastBody<{ status: object }>().status }
  const moved = { ...wanted, figures: { head: 8 } }
  const restarted = createStatusWriter({ fieldManager: 'tester-status' }, { api })
  assert.deepEqual(await restarted.write(type, live, moved), { written: true })
  const { requeueAfterMs = 0 } = await writer.write(type, live, moved)
  assert.ok(requeueAfterMs > 0)
  const another = { ...live, metadata: { ...live.metadata, uid: 'uid-b' } }
  room.server.put(path, another)
  assert.deepEqual(await writer.write(type, another, moved), { written: true })
  const options = { fieldManager: 'tester-status', figuresIntervalMs: 0 }
  const hasty = createStatusWriter(options, { api })
  for (const head of [9, 10]) {
    const outcome = await hasty.write(type, another, { ...wanted, figures: { head } })
    assert.deepEqual(outcome, { written: true })
  }
})

test('figures wait a minute since the last write of their object, whatever else is written', async (t) => {
  let nowMs = 1_000_000
  t.mock.method(performance, 'now', () => nowMs)
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  const another = { metadata: { ...object.metadata, name: 'b', uid: 'uid-b' } }
  room.server.put(other, another)
  await writer.write(type, object, wanted)
  const live = { ...object, status: lastBody<{ status: object }>().status }
  const moved = { ...wanted, figures: { head: 8 } }
  nowMs += 30_000
  assert.deepEqual(await writer.write(type, another, wanted), { written: true })
  const early = await writer.write(type, live, moved)
  assert.deepEqual(early, { written: false, requeueAfterMs: 30_000 })
  nowMs += 30_000
  assert.deepEqual(await writer.write(type, live, moved), { written: true })
})

test('a figure that is known no more is taken away at once', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  await writer.write(type, object, wanted)
  const live = { ...object, status: lastBody<{ status: object }>().status }
  const outcome = await writer.write(type, live, { ...wanted, figures: {} })
  assert.deepEqual(outcome, { written: true })
  assert.deepEqual(Object.keys(lastBody<{ status: object }>().status).toSorted(), [
    'conditions',
    'image',
    'observedGeneration',
  ])
})

test('a status that is refused is a failure', async () => {
  const writer = createStatusWriter({ fieldManager: 'tester-status' }, { api: room.client.api })
  room.server.faults.add((_, response) => {
    send(response, 403, status(403, 'Forbidden'))
    return true
  })
  await assert.rejects(writer.write(type, object, wanted), { code: 'OPERATOR_API_FORBIDDEN' })
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
