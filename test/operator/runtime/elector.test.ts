import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { afterEach, test } from 'node:test'
import { createFence, type Fence } from '../../../operator/runtime/client/fence.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import { type Elector, openElector } from '../../../operator/runtime/elector.ts'
import type { ServiceError } from '../../../src/errors.ts'
import { metricValue } from '../../support/metric-value.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'
import { send, status } from '../support/kubernetes-server.ts'

interface Lease extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>
}

interface Candidate {
  readonly elector: Elector
  readonly fence: Fence
  readonly lost: Promise<ServiceError>
}

const path = '/apis/coordination.k8s.io/v1/namespaces/apps/leases/operator'
interface Times {
  readonly leaseMs: number
  readonly renewDeadlineMs: number
  readonly retryMs?: number
}

/** A leader that is slow to be given the processor keeps its Lease all the same. */
const unhurried: Times = { leaseMs: 15_000, renewDeadlineMs: 10_000 }
/** One that is soon late where it cannot renew. */
const hurried = { leaseMs: 6_000, renewDeadlineMs: 2_000 }
const call = { verb: 'apply', type: builtinTypes.ConfigMap } as const

let candidates: Candidate[] = []

afterEach(async () => {
  for (const { elector } of candidates) await elector.close()
  candidates = []
})
const room = kubernetesRoom()

function compete(
  identity: string,
  { times = unhurried, nowMs }: { times?: Times; nowMs?: () => number } = {},
): Candidate {
  const fence = createFence(nowMs)
  const lost = Promise.withResolvers<ServiceError>()
  const elector = openElector(
    {
      namespace: 'apps',
      name: 'operator',
      identity,
      retryMs: 20,
      ...times,
    },
    {
      api: room.client.api,
      fence,
      log: room.client.log.log,
      metrics: room.client.metrics,
      onLost: lost.resolve,
    },
  )
  const candidate = { elector, fence, lost: lost.promise }
  candidates.push(candidate)
  return candidate
}

function holder(): unknown {
  return (room.server.get(path) as Lease).spec?.['holderIdentity']
}

/** What alerts read: whether this process leads. */
const master = async (): Promise<number> =>
  await metricValue(room.client.registry, 'leader_election_master_status', { name: 'operator' })

test('one leads, the other waits; what is given back is taken over at once', async () => {
  const first = compete('first')
  await first.elector.elected(AbortSignal.timeout(60_000))
  const second = compete('second')
  const before = room.server.requests.length
  await room.server.seen((request) => room.server.requests.indexOf(request) > before + 5)
  assert.equal(holder(), 'first')
  assert.throws(() => second.fence.guard.before?.(call), { code: 'OPERATOR_FENCED' })
  await first.elector.close()
  assert.throws(() => first.fence.guard.before?.(call), { code: 'OPERATOR_FENCED' })
  await second.elector.elected(AbortSignal.timeout(60_000))
  const { spec } = room.server.get(path) as Lease
  assert.deepEqual([spec?.['holderIdentity'], spec?.['leaseTransitions']], ['second', 1])
})

test('a metric says that a process leads, until it has given the Lease back', async () => {
  const { elector } = compete('first')
  const text = await room.client.registry.metrics()
  assert.match(text, /^leader_election_master_status\{name="operator"\} 0$/m)
  await elector.elected(AbortSignal.timeout(60_000))
  assert.equal(await master(), 1)
  await elector.close()
  assert.equal(await master(), 0)
})

test('the Lease carries times with six decimals, as Kubernetes demands', async () => {
  await compete('first').elector.elected(AbortSignal.timeout(60_000))
  const { spec } = room.server.get(path) as Lease
  for (const field of ['acquireTime', 'renewTime'])
    assert.match(String(spec?.[field]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
})

test('a Lease says since when who leads, for how long, and after how many others', async () => {
  const { elector } = compete('first', { times: { leaseMs: 14_001, renewDeadlineMs: 10_000 } })
  await elector.elected(AbortSignal.timeout(60_000))
  const { spec: made } = room.server.get(path) as Lease
  const version = (): unknown => room.server.get(path)?.metadata?.resourceVersion
  const before = version()
  while (version() === before) await new Promise(setImmediate)
  const { metadata, spec } = room.server.get(path) as Lease
  assert.deepEqual([metadata?.namespace, metadata?.name], ['apps', 'operator'])
  const leading = { holderIdentity: 'first', leaseDurationSeconds: 15, leaseTransitions: 0 }
  assert.deepEqual(made, {
    ...leading,
    acquireTime: made?.['acquireTime'],
    renewTime: made?.['acquireTime'],
  })
  assert.deepEqual(spec, {
    ...leading,
    acquireTime: made?.['acquireTime'],
    renewTime: spec?.['renewTime'],
  })
  assert.ok(String(spec?.['renewTime']) > String(made?.['renewTime']))
  const renewed = version()
  while (version() === renewed) await new Promise(setImmediate)
  assert.deepEqual(room.client.log.messages('info'), ['became the leader'])
  const asked = room.server.requests.map(({ method }) => method)
  assert.deepEqual([...new Set(asked)], ['GET', 'POST', 'PUT'])
  assert.equal(asked.lastIndexOf('GET'), 0, 'it renews without reading')
})

test('an elector says how long ago its last attempt to renew ended', async () => {
  const startedMs = performance.now()
  const { elector } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  const idleMs = elector.idleForMs()
  assert.ok(idleMs >= 0 && idleMs <= performance.now() - startedMs, `${idleMs}`)
})

test('a Lease that is given back names nobody, and can be taken after a second', async () => {
  const { elector } = compete('first', { times: { ...unhurried, retryMs: 30_000 } })
  await elector.elected(AbortSignal.timeout(60_000))
  const { spec: before } = room.server.get(path) as Lease
  await elector.close()
  await elector.close()
  const { spec } = room.server.get(path) as Lease
  assert.deepEqual(spec, {
    ...before,
    holderIdentity: '',
    leaseDurationSeconds: 1,
    renewTime: spec?.['renewTime'],
  })
  const { log } = room.client
  assert.deepEqual(log.messages('info'), ['became the leader', 'released the Lease'])
  assert.deepEqual(log.messages('warn'), [])
})

test('a stand-by that closes leaves the Lease of the leader as it is', async () => {
  room.server.put(path, { spec: { holderIdentity: 'leader', leaseDurationSeconds: 60 } } as Lease)
  const { elector } = compete('stand-by')
  await room.server.seen((request) => room.server.requests.indexOf(request) > 0)
  await elector.close()
  assert.equal(holder(), 'leader')
  assert.deepEqual(
    room.server.requests.filter(({ method }) => method !== 'GET'),
    [],
  )
})

test('a Lease that names nobody is taken at once', async () => {
  room.server.put(path, {})
  await compete('first').elector.elected(AbortSignal.timeout(60_000))
  assert.deepEqual(
    room.server.requests.slice(0, 2).map(({ method }) => method),
    ['GET', 'PUT'],
  )
})

test('a leader that closes while it renews waits for the answer, and gives the Lease back then', async () => {
  const { elector } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  const renewing = Promise.withResolvers<ServerResponse>()
  room.server.faults.add(({ method, body }, response) => {
    if (method !== 'PUT') return false
    room.server.faults.clear()
    room.server.put(path, { spec: (body as Lease).spec } as Lease)
    renewing.resolve(response)
    return true
  })
  const response = await renewing.promise
  const closing = elector.close()
  await room.client.api.find({ type: builtinTypes.Pod, namespace: 'apps', name: 'other' })
  send(response, 200, room.server.get(path))
  await closing
  assert.equal(holder(), '')
})

test('a race for the Lease that is lost is tried again, and is no reason to warn', async () => {
  room.server.put(path, { spec: { holderIdentity: '' } } as Lease)
  const left = [status(409, 'Conflict'), status(409, 'AlreadyExists')]
  room.server.faults.add(({ method }, response) => {
    const refusal = method === 'PUT' ? left.shift() : undefined
    if (refusal !== undefined) send(response, refusal.code, refusal)
    return refusal !== undefined
  })
  const { elector } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  assert.deepEqual([left, room.client.log.messages('warn')], [[], []])
})

test('a Lease that was deleted and made by another ends the leadership', async () => {
  const { elector, lost } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  room.server.faults.add(({ method }, response) => {
    if (method !== 'PUT' || holder() !== 'first') return false
    room.server.put(path, { spec: { holderIdentity: 'heir', leaseDurationSeconds: 15 } } as Lease)
    send(response, 404, status(404, 'NotFound'))
    return true
  })
  assert.equal((await lost).code, 'OPERATOR_LEADERSHIP_LOST')
  await elector.close()
  assert.equal(holder(), 'heir')
})

for (const [what, leaseDurationSeconds, leaseMs] of [
  ['its Lease has not changed for its duration', 1, 3_600_000],
  ['a Lease without a duration has not changed for ours', undefined, 1_000],
] as const) {
  test(`a leader that died is followed once ${what}`, async (t) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    const renewTime = '2999-01-01T00:00:00.000000Z'
    room.server.put(path, {
      spec: { holderIdentity: 'dead', leaseDurationSeconds, renewTime },
    } as Lease)
    const heir = compete('heir', { times: { leaseMs, renewDeadlineMs: 10_000 } })
    const { requests } = room.server
    await room.server.seen((request) => requests.indexOf(request) > 0)
    nowMs = 1_000
    const before = requests.length
    await room.server.seen((request) => requests.indexOf(request) > before)
    assert.equal(holder(), 'dead')
    nowMs = 1_000.5
    await heir.elector.elected(AbortSignal.timeout(60_000))
    assert.equal(holder(), 'heir')
  })
}

test('a Lease that another process took ends the leadership, and nothing is written any more', async () => {
  const { elector, fence, lost } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  fence.guard.before?.(call)
  room.server.put(path, { spec: { holderIdentity: 'thief', leaseDurationSeconds: 15 } } as Lease)
  assert.equal((await lost).code, 'OPERATOR_LEADERSHIP_LOST')
  assert.equal(await master(), 0)
  assert.throws(() => fence.guard.before?.(call), {
    code: 'OPERATOR_FENCED',
    message: 'apply configmaps was held back',
  })
  const lostAtMs = performance.now()
  compete('second')
  const before = room.server.requests.length
  await room.server.seen((request) => room.server.requests.indexOf(request) > before + 5)
  const sinceMs = performance.now() - lostAtMs
  assert.ok(elector.idleForMs() >= sinceMs, 'it competes no more')
  await elector.close()
  assert.equal(holder(), 'thief')
  assert.deepEqual(room.client.log.messages('warn'), [])
})

test('a renewal that arrived without its answer is recognised as our own', async () => {
  const { elector, fence } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  const { spec } = room.server.get(path) as Lease
  room.server.put(path, { spec } as Lease)
  const version = room.server.get(path)?.metadata?.resourceVersion
  while (room.server.get(path)?.metadata?.resourceVersion === version) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.equal(holder(), 'first')
  assert.ok(fence.isOpen())
})

test('a leader that finds no Lease after its renewal was refused goes on and makes one', async () => {
  const { elector, fence } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  room.server.faults.add(({ method }, response) => {
    if (method !== 'PUT') return false
    room.server.remove(path)
    send(response, 409, status(409, 'Conflict'))
    room.server.faults.clear()
    return true
  })
  await room.server.seen(({ method }) => method === 'PUT')
  while (room.server.get(path) === undefined) await new Promise(setImmediate)
  assert.equal(holder(), 'first')
  assert.ok(fence.isOpen())
})

test('a Lease that was deleted is created again', async () => {
  const { elector, fence } = compete('first')
  await elector.elected(AbortSignal.timeout(60_000))
  room.server.remove(path)
  while (room.server.get(path) === undefined) await new Promise(setImmediate)
  assert.equal(holder(), 'first')
  assert.ok(fence.isOpen())
})

test('a leader that cannot renew in time holds its writes back, and goes on once it has renewed', async () => {
  const { elector, fence } = compete('first', { times: hurried })
  await elector.elected(AbortSignal.timeout(60_000))
  room.server.faults.add((_, response) => {
    response.destroy()
    return true
  })
  const late = 'the Lease is not renewed, nothing is written until it is'
  await room.client.log.line(late)
  assert.equal(await master(), 0)
  assert.throws(() => fence.guard.before?.(call), { code: 'OPERATOR_FENCED' })
  const before = room.client.log.messages('warn').length
  while (room.client.log.messages('warn').length < before + 3) await new Promise(setImmediate)
  room.server.faults.clear()
  await room.client.log.line('the Lease is renewed, writing goes on')
  const warnings = room.client.log.messages('warn').filter((message) => message === late)
  assert.equal(warnings.length, 1)
  assert.equal(await master(), 1)
  fence.guard.before?.(call)
  assert.equal(holder(), 'first')
})

test('a renewal without an answer is given up early enough for another one in time', async () => {
  const times = { leaseMs: 6_000, renewDeadlineMs: 4_000 }
  const { elector, fence } = compete('first', { times })
  await elector.elected(AbortSignal.timeout(60_000))
  const unanswered: unknown[] = []
  room.server.faults.add((request) => {
    if (unanswered.length > 0 || request.method !== 'PUT') return false
    unanswered.push(request)
    return true
  })
  await room.server.seen(
    (request) => request.method === 'PUT' && unanswered.length > 0 && request !== unanswered[0],
  )
  assert.ok(fence.isOpen())
})

test('one whose Lease was taken meanwhile does not go on', async () => {
  const { elector, fence, lost } = compete('first', { times: hurried })
  await elector.elected(AbortSignal.timeout(60_000))
  room.server.faults.add((_, response) => {
    response.destroy()
    return true
  })
  await room.client.log.line('the Lease is not renewed, nothing is written until it is')
  room.server.put(path, { spec: { holderIdentity: 'heir', leaseDurationSeconds: 15 } } as Lease)
  room.server.faults.clear()
  assert.equal((await lost).message, 'another operator took the Lease operator')
  assert.throws(() => fence.guard.before?.(call), { code: 'OPERATOR_FENCED' })
})

test('a process that was stopped and goes on finds the fence shut at once', async () => {
  let pauseMs = 0
  const { elector, fence } = compete('first', { nowMs: () => performance.now() + pauseMs })
  await elector.elected(AbortSignal.timeout(60_000))
  fence.guard.before?.(call)
  pauseMs = unhurried.renewDeadlineMs
  assert.throws(() => fence.guard.before?.(call), { code: 'OPERATOR_FENCED' })
})
