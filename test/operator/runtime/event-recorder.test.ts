import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { KubernetesApi } from '../../../operator/runtime/client/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import { type EventRecorder, openEventRecorder } from '../../../operator/runtime/event-recorder.ts'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'

const type = builtinTypes.StatefulSet
const object = { metadata: { name: 'a', namespace: 'apps', uid: 'uid-a' } }
const occurrence = { type: 'Warning', reason: 'Late', action: 'Wait', note: 'it is late' } as const
const startMs = Date.parse('2026-01-02T03:04:05.678Z')

interface SentEvent extends KubernetesObject {
  readonly note: string
  readonly reportingInstance: string
}

let log: CapturedLog
/** What was asked for: created Events, and the counts of those that were there. */
let created: SentEvent[]
let counted: unknown[]
/** What the next requests fail with; null: nothing. */
let failure: ErrorCode | null
let attempts: number

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: startMs })
  log = captureLog()
  created = []
  counted = []
  failure = null
  attempts = 0
})
afterEach(() => mock.timers.reset())

function open(instance = 'operator-0'): EventRecorder {
  const answer = <T>(given: T): T => {
    attempts += 1
    if (failure !== null) throw new ServiceError(failure, 'no')
    return given
  }
  const api: Pick<KubernetesApi, 'create' | 'patch'> = {
    async create(_type, event) {
      const given = answer(event)
      created.push(given as KubernetesObject as SentEvent)
      return given
    },
    async patch(_address, body) {
      counted.push(answer(body))
      return {} as never
    },
  }
  return openEventRecorder({ controller: 'viewmesh.io/operator', instance }, { api, log: log.log })
}

/** Lets this time pass, and what is due is written. */
async function pass(ms: number): Promise<void> {
  await setImmediate()
  mock.timers.tick(ms)
  await setImmediate()
}

test('what happens again is counted a minute later, with the time when it happened last', async () => {
  const recorder = open()
  recorder.record(type, object, occurrence)
  await pass(10_000)
  recorder.record(type, object, occurrence)
  await pass(59_000)
  recorder.record(type, object, occurrence)
  await pass(999)
  assert.deepEqual([created.length, counted], [1, []])
  await pass(1)
  const lastObservedTime = '2026-01-02T03:05:14.678000Z'
  assert.deepEqual(counted, [{ series: { count: 3, lastObservedTime } }])
  await pass(600_000)
  await recorder.close()
  assert.deepEqual([created.length, counted.length], [1, 1])
})

test('the same happening is a new Event once ten minutes have passed without it', async () => {
  const recorder = open()
  recorder.record(type, object, occurrence)
  await pass(600_000)
  recorder.record(type, object, occurrence)
  await pass(60_000)
  assert.deepEqual([created.length, counted.length], [1, 1])
  await pass(540_001)
  recorder.record(type, object, occurrence)
  await recorder.close()
  assert.deepEqual([created.length, counted.length], [2, 1])
})

const passing: readonly ErrorCode[] = [
  'OPERATOR_API_UNREACHABLE',
  'OPERATOR_API_TIMEOUT',
  'OPERATOR_API_BUSY',
  'OPERATOR_API_FAILED',
  'OPERATOR_FENCED',
]

for (const code of passing) {
  test(`an Event is tried once a minute for ten minutes where the answer is ${code}`, async () => {
    failure = code
    const recorder = open()
    recorder.record(type, object, occurrence)
    for (let minute = 0; minute < 9; minute += 1) await pass(60_000)
    assert.deepEqual([attempts, log.messages('warn')], [10, []])
    await pass(60_000)
    const { reason, note } = occurrence
    const facts = { reason, note, lastAt: '2026-01-02T03:04:05.678Z' }
    assert.partialDeepStrictEqual(log.lines.at(-1), { level: 'warn', ...facts })
    await pass(600_000)
    await recorder.close()
    assert.equal(attempts, 11)
  })
}

/** The same happens again while its Event could not be written; from then on it can. */
async function recordTwiceWhileBusy(): Promise<ReturnType<typeof open>> {
  failure = 'OPERATOR_API_BUSY'
  const recorder = open()
  recorder.record(type, object, occurrence)
  await pass(0)
  recorder.record(type, object, occurrence)
  failure = null
  return recorder
}

test('what happened while an Event could not be written is counted after it', async () => {
  const recorder = await recordTwiceWhileBusy()
  await pass(60_000)
  assert.deepEqual([created.length, counted], [1, []])
  await pass(60_000)
  assert.partialDeepStrictEqual(counted, [{ series: { count: 2 } }])
  await recorder.close()
})

test('what happened while an Event could not be written is counted at the end', async () => {
  const recorder = await recordTwiceWhileBusy()
  await recorder.close()
  assert.deepEqual([created.length, attempts], [1, 3])
  assert.partialDeepStrictEqual(counted, [{ series: { count: 2 } }])
})

test('what happens again after the end is counted no more', async () => {
  const recorder = open()
  recorder.record(type, object, occurrence)
  await recorder.close()
  recorder.record(type, object, occurrence)
  await pass(60_000)
  assert.equal(attempts, 1)
})

test('an Event that is still to be written is not made twice, however long ago it happened', async () => {
  failure = 'OPERATOR_API_BUSY'
  const recorder = open()
  recorder.record(type, object, occurrence)
  await pass(30_000)
  recorder.record(type, object, occurrence)
  await pass(30_000)
  for (let minute = 1; minute < 10; minute += 1) await pass(60_000)
  await pass(40_000)
  failure = null
  recorder.record(type, object, occurrence)
  await pass(20_000)
  await recorder.close()
  assert.equal(created.length, 1)
  assert.partialDeepStrictEqual(counted, [{ series: { count: 3 } }])
})

test('what happens again after an Event was refused is a new Event', async () => {
  failure = 'OPERATOR_API_FORBIDDEN'
  const recorder = open()
  recorder.record(type, object, occurrence)
  await pass(0)
  failure = null
  recorder.record(type, object, occurrence)
  await recorder.close()
  assert.deepEqual([attempts, created.length, counted], [2, 1, []])
})

test('a note has 1,024 bytes of whole characters at most, which is what the API server takes', async () => {
  const recorder = open('i'.repeat(129))
  const notes = [
    'a'.repeat(1_024),
    'b'.repeat(1_025),
    `${'c'.repeat(1_021)}€`,
    `${'d'.repeat(1_022)}€`,
  ]
  for (const note of notes) recorder.record(type, object, { ...occurrence, note })
  await recorder.close()
  assert.deepEqual(
    created.map(({ note }) => note),
    [notes[0], 'b'.repeat(1_024), notes[2], 'd'.repeat(1_022)],
  )
  assert.equal(created[0]?.reportingInstance, 'i'.repeat(128))
})

test('an Event lies in the namespace of its object, else in default, and is named after it', async () => {
  const recorder = open()
  for (const given of [object, { metadata: { name: 'node' } }, {}])
    recorder.record(type, given, occurrence)
  await recorder.close()
  const places = created.map(({ metadata }) => [metadata?.namespace, metadata?.name])
  assert.deepEqual(
    places.map(([namespace, name]) => [namespace, name?.replace(/\.[0-9a-f]{16}$/, '')]),
    [
      ['apps', 'a'],
      ['default', 'node'],
      ['default', 'unknown'],
    ],
  )
  assert.equal(new Set(places.map(([, name]) => name)).size, 3)
})

test('many Events about one object keep none about another from being written', async () => {
  const recorder = open()
  const other = { metadata: { ...object.metadata, uid: 'uid-b' } }
  for (let count = 0; count < 25; count += 1) {
    recorder.record(type, object, { ...occurrence, note: `${count}` })
    recorder.record(type, other, { ...occurrence, note: `${count}` })
  }
  await recorder.close()
  assert.deepEqual([created.length, counted], [50, []])
})
