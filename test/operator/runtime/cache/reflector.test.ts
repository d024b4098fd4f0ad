import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Change } from '../../../../operator/runtime/cache/object-cache.ts'
import { openReflector, type Reflector } from '../../../../operator/runtime/cache/reflector.ts'
import { writeThrough } from '../../../../operator/runtime/cache/write-through.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type SeenRequest, send, status } from '../../support/kubernetes-server.ts'

interface Data extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>
}

const type = builtinTypes.ConfigMap
const path = '/api/v1/namespaces/apps/configmaps'
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const isWatch = ({ query }: SeenRequest): boolean => query['watch'] === 'true'

let reflector: Reflector<string>

afterEach(() => reflector.close())
const room = kubernetesRoom({ guards: [writeThrough(() => [reflector])] })

/** Keeps the value `x` of each ConfigMap. */
function open(options: { silenceMs?: number; labelSelector?: string; pageSize?: number } = {}) {
  reflector = openReflector<Data, string>(
    {
      type,
      namespace: 'apps',
      keep: ({ data }) => data?.['x'] ?? '',
      minPauseMs: 1,
      maxPauseMs: 5,
      ...options,
    },
    { api: room.client.api, log: room.client.log.log, metrics: room.client.metrics },
  )
  return reflector
}

/** The next change for which this holds. */
function changed(isMeant: (change: Change<string>) => boolean): Promise<Change<string>> {
  return new Promise((resolve) => {
    const end = reflector.onChange((change) => {
      if (!isMeant(change)) return
      end()
      resolve(change)
    })
  })
}

function contents(): Record<string, string> {
  return Object.fromEntries([...reflector.list()].map(({ key, value }) => [key, value]))
}

async function watching(): Promise<void> {
  await room.server.seen(isWatch)
  while (room.server.openWatches() === 0) await new Promise(setImmediate)
}

test('it holds what a list found and what watches report afterwards', async () => {
  for (const name of ['a', 'b', 'c'])
    room.server.put(`${path}/${name}`, { data: { x: name } } as Data)
  open({ pageSize: 2 })
  await reflector.initialized(soon())
  assert.deepEqual(contents(), { 'apps/a': 'a', 'apps/b': 'b', 'apps/c': 'c' })
  await watching()
  const gone = changed(({ after }) => after === null)
  room.server.put(`${path}/a`, { data: { x: 'new' } } as Data)
  room.server.put(`${path}/d`, { data: { x: 'd' } } as Data)
  room.server.remove(`${path}/b`)
  assert.equal((await gone).key, 'apps/b')
  assert.deepEqual(contents(), { 'apps/a': 'new', 'apps/c': 'c', 'apps/d': 'd' })
})

for (const as of ['status', 'event'] as const) {
  test(`a watch that is too far behind (410 as ${as}) lists again and reports what was missed`, async () => {
    room.server.put(`${path}/a`, { data: { x: '1' } } as Data)
    room.server.put(`${path}/b`, { data: { x: '1' } } as Data)
    open()
    await watching()
    room.server.faults.add((request, response) => {
      if (!isWatch(request)) return false
      room.server.faults.clear()
      room.server.remove(`${path}/a`)
      room.server.put(`${path}/b`, { data: { x: '2' } } as Data)
      room.server.forgetHistory(as)
      response.destroy()
      return true
    })
    const reported: string[] = []
    reflector.onChange(({ key, after, listed }) =>
      reported.push(`${key} ${after?.value} ${listed}`),
    )
    const missed = changed(({ key }) => key === 'apps/b')
    room.server.dropWatches()
    await missed
    assert.deepEqual(reported, ['apps/a undefined true', 'apps/b 2 true'])
    assert.deepEqual(room.client.log.messages('error'), [])
  })
}

test('a connection that is only half open is noticed by its silence', async () => {
  open({ silenceMs: 1_100 })
  await watching()
  room.server.freezeWatches()
  const heard = changed(({ key }) => key === 'apps/late')
  room.server.put(`${path}/late`, { data: { x: 'late' } } as Data)
  assert.equal((await heard).after?.value, 'late')
})

test('a watch goes on where its last bookmark was', async () => {
  open()
  await watching()
  const heard = changed(({ key }) => key === 'apps/a')
  const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '777' } } }
  const unversioned = { metadata: { name: 'a', namespace: 'apps', uid: 'a' } }
  const event = { type: 'ADDED', object: unversioned }
  room.server.tellWatches(`${JSON.stringify(bookmark)}\n${JSON.stringify(event)}\n`)
  await heard
  room.server.dropWatches()
  const again = await room.server.seen((request) => request.query['resourceVersion'] === '777')
  assert.ok(isWatch(again))
})

test('connections that break within a line, and lines that are no JSON, lose nothing', async () => {
  open()
  for (const [index, text] of [
    '{"type":"ADDED","obj',
    '{"type":"ADDED","obj\n',
    'null\n',
  ].entries()) {
    await watching()
    room.server.tellWatches(text)
    room.server.dropWatches()
    const found = changed(({ key }) => key === `apps/n${index}`)
    room.server.put(`${path}/n${index}`, {})
    await found
  }
  assert.equal([...reflector.list()].length, 3)
})

test('failing lists are tried again and again; the log has the first failure and the end', async () => {
  let failures = 5
  room.server.faults.add((_, response) => {
    if (failures === 0) return false
    failures -= 1
    if (failures % 2 === 0) response.destroy()
    else send(response, 500, status(500, 'InternalError'))
    return true
  })
  open()
  await reflector.initialized(soon())
  assert.deepEqual(room.client.log.messages('warn'), ['the API server cannot be followed'])
  assert.deepEqual(room.client.log.messages('info'), ['the API server answers again'])
  assert.equal(reflector.failure(), null)
})

test('a watch that is refused again and again is given up for a new list', async () => {
  room.server.put(`${path}/a`, {})
  room.server.faults.add((request, response) => {
    if (!isWatch(request)) return false
    send(response, 504, status(504, 'Timeout', 'Too large resource version'))
    return true
  })
  open()
  await reflector.initialized(soon())
  const isList = ({ query }: SeenRequest): boolean => query['watch'] === undefined
  const first = await room.server.seen(isList)
  await room.server.seen((request) => isList(request) && request !== first)
})

test('a kind that may not be listed settles with the failure, and recovers with the role', async () => {
  let isAllowed = false
  room.server.faults.add((_, response) => {
    if (isAllowed) return false
    send(response, 403, status(403, 'Forbidden'))
    return true
  })
  open()
  await reflector.initialized(soon())
  assert.deepEqual([reflector.isSynced(), reflector.isInitialized()], [false, true])
  assert.equal(reflector.failure()?.code, 'OPERATOR_API_FORBIDDEN')
  isAllowed = true
  const found = changed(({ key }) => key === 'apps/a')
  room.server.put(`${path}/a`, {})
  await found
  assert.deepEqual([reflector.isSynced(), reflector.failure()], [true, null])
})

test('what a write answered is known at once, and no earlier state comes back', async () => {
  const old = room.server.put(`${path}/a`, { data: { x: 'old' } } as Data)
  open()
  await watching()
  room.server.freezeWatches()
  const object: Data = { metadata: { name: 'a', namespace: 'apps' }, data: { x: 'mine' } }
  await room.client.api.apply(type, object)
  assert.deepEqual(contents(), { 'apps/a': 'mine' })
  const stale = JSON.stringify({ type: 'MODIFIED', object: old })
  const other = { metadata: { name: 'b', namespace: 'apps', uid: 'b', resourceVersion: '9999' } }
  const heard = changed(({ key }) => key === 'apps/b')
  room.server.tellWatches(`${stale}\n${JSON.stringify({ type: 'ADDED', object: other })}\n`)
  await heard
  assert.equal(contents()['apps/a'], 'mine')
})

test('what a write deleted is gone at once, and a watch that is late does not bring it back', async () => {
  const stored = room.server.put(`${path}/a`, {})
  open()
  await watching()
  room.server.freezeWatches()
  await room.client.api.delete({ type, namespace: 'apps', name: 'a' })
  assert.deepEqual(contents(), {})
  const late = { ...stored, metadata: { ...stored.metadata, resourceVersion: '9998' } }
  const other = { metadata: { name: 'b', namespace: 'apps', uid: 'b', resourceVersion: '9999' } }
  const heard = changed(({ key }) => key === 'apps/b')
  room.server.tellWatches(`${JSON.stringify({ type: 'MODIFIED', object: late })}\n`)
  room.server.tellWatches(`${JSON.stringify({ type: 'ADDED', object: other })}\n`)
  await heard
  assert.deepEqual(Object.keys(contents()), ['apps/b'])
})

test('an object of the same name with another UID is reported as one gone and one come', async () => {
  room.server.put(`${path}/a`, { metadata: { uid: 'first' } })
  open()
  await watching()
  const reported: string[] = []
  reflector.onChange(({ before, after }) => reported.push(`${before?.uid} -> ${after?.uid}`))
  const second = changed(({ after }) => after?.uid === 'second')
  room.server.put(`${path}/a`, { metadata: { uid: 'second' } })
  await second
  assert.deepEqual(reported, ['first -> undefined', 'undefined -> second'])
})

test('writes to objects that are not selected leave it as it is', async () => {
  open({ labelSelector: 'app in (x,y),own=yes' })
  await watching()
  const write = (name: string, labels: Readonly<Record<string, string>>): Promise<unknown> =>
    room.client.api.create(type, { metadata: { name, namespace: 'apps', labels } })
  room.server.freezeWatches()
  await write('a', { app: 'x', own: 'yes' })
  await write('b', { app: 'z', own: 'yes' })
  await write('c', { app: 'x' })
  assert.deepEqual(Object.keys(contents()), ['apps/a'])
})

test('a listener that throws does not keep others from being called', async () => {
  open()
  await watching()
  reflector.onChange(() => {
    throw new Error('a mistake')
  })
  const heard = changed(() => true)
  room.server.put(`${path}/a`, {})
  await heard
  assert.deepEqual(room.client.log.messages('error'), ['a change could not be handled'])
})
