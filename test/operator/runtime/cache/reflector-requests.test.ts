/** What a reflector asks the API server for, and when it does not. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { afterEach, test } from 'node:test'
import {
  openReflector,
  type Reflector,
  type ReflectorOptions,
} from '../../../../operator/runtime/cache/reflector.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type Fault, type SeenRequest, send, status } from '../../support/kubernetes-server.ts'

const type = builtinTypes.ConfigMap
const path = '/api/v1/namespaces/apps/configmaps'
const long = { minPauseMs: 600_000, maxPauseMs: 600_000 }

let reflector: Reflector<null>

afterEach(() => reflector.close())
const room = kubernetesRoom()

function openAnother(
  options: Partial<ReflectorOptions<KubernetesObject, null>> = {},
): Reflector<null> {
  return openReflector(
    { type, namespace: 'apps', keep: () => null, minPauseMs: 1, maxPauseMs: 5, ...options },
    { api: room.client.api, log: room.client.log.log, metrics: room.client.metrics },
  )
}

function open(options: Partial<ReflectorOptions<KubernetesObject, null>> = {}): void {
  reflector = openAnother(options)
}

const isWatch = ({ query }: SeenRequest): boolean => query['watch'] === 'true'

/** What was asked for, one after the other. */
function asked(): readonly string[] {
  return room.server.requests
    .filter((request) => request.path === path)
    .map((request) => {
      if (isWatch(request)) return 'watch'
      return request.query['limit'] === '1' ? 'version' : 'list'
    })
}

/** Answers this many watches in a way of its own, and leaves the others to the server. */
function answerWatches(count: number, respond: (...[, response]: Parameters<Fault>) => unknown) {
  let left = count
  room.server.faults.add((request, response) => {
    if (!isWatch(request) || left === 0) return false
    left -= 1
    respond(request, response)
    return true
  })
}

/** Lets the API server answer a few others, so that what is asked for at once has come. */
async function askMeanwhile(): Promise<void> {
  for (let count = 0; count < 3; count += 1) {
    await room.client.api.find({ type: builtinTypes.Pod, namespace: 'apps', name: 'other' })
  }
}

test('a list that failed is asked for again after a pause, which closing ends', async () => {
  room.server.faults.add((request, response) => {
    if (request.path !== path) return false
    send(response, 500, status(500, 'InternalError'))
    return true
  })
  open(long)
  await room.client.log.line('the API server cannot be followed')
  await askMeanwhile()
  assert.deepEqual(asked(), ['list'])
})

test('after a watch that ends at once and silently there is a pause', async () => {
  answerWatches(1, (_, response) => response.writeHead(200).end())
  open(long)
  await room.server.seen(isWatch)
  await askMeanwhile()
  assert.deepEqual(asked(), ['list', 'watch'])
})

test('a watch that ended silently goes on where the version of now is no older one', async () => {
  answerWatches(1, (_, response) => response.writeHead(200).end())
  open()
  while (room.server.openWatches() === 0) await new Promise(setImmediate)
  assert.deepEqual(asked(), ['list', 'watch', 'version', 'watch'])
})

test('a watch that reported a change goes on as it ends, from there', async () => {
  const object = { metadata: { name: 'a', namespace: 'apps', uid: 'a', resourceVersion: '777' } }
  answerWatches(1, (_, response) =>
    response.writeHead(200).end(`${JSON.stringify({ type: 'ADDED', object })}\n`),
  )
  open(long)
  await room.server.seen(({ query }) => query['resourceVersion'] === '777')
  assert.deepEqual(asked(), ['list', 'watch', 'watch'])
})

test('a watch whose connection breaks again and again is no reason for a new list', async () => {
  answerWatches(4, (_, response) => response.destroy())
  open()
  while (room.server.openWatches() === 0) await new Promise(setImmediate)
  assert.deepEqual(asked(), ['list', 'watch', 'watch', 'watch', 'watch', 'watch'])
})

test('after a watch that lasted, pauses are as short as after the first failure', async () => {
  let failures = 6
  room.server.faults.add((request, response) => {
    if (request.path !== path || failures === 0) return false
    failures -= 1
    send(response, 500, status(500, 'InternalError'))
    return true
  })
  open({ watchSeconds: 2, maxPauseMs: 64 })
  while (room.server.openWatches() === 0) await new Promise(setImmediate)
  answerWatches(1, (_, response) => send(response, 410, status(410, 'Expired')))
  const { retryInMs } = await room.client.log.line('the watch is too far behind, listing again')
  assert.ok(Number(retryInMs) <= 1, `${retryInMs}`)
})

test('two kinds are not listed at once, which would take the memory of both', async () => {
  const held = Promise.withResolvers<ServerResponse>()
  room.server.faults.add((request, response) => {
    if (request.path !== path) return false
    held.resolve(response)
    return true
  })
  open()
  const response = await held.promise
  const other = openAnother({ type: builtinTypes.Secret })
  await askMeanwhile()
  const isListed = (): boolean => room.server.requests.some((one) => one.path.endsWith('/secrets'))
  assert.equal(isListed(), false)
  room.server.faults.clear()
  send(response, 500, status(500, 'InternalError'))
  await other.initialized(AbortSignal.timeout(60_000))
  await other.close()
  assert.equal(isListed(), true)
})

test('an API server that lets a kind be watched has not been silent since then', async () => {
  let openedAtMs = Number.POSITIVE_INFINITY
  room.server.faults.add((request) => {
    if (isWatch(request)) openedAtMs = performance.now()
    return false
  })
  open()
  const isHeard = (sinceMs: number): boolean => reflector.silentForMs() <= sinceMs
  while (!isHeard(performance.now() - openedAtMs)) await new Promise(setImmediate)
  assert.deepEqual(asked(), ['list', 'watch'])
})
