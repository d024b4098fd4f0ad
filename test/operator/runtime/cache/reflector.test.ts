import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Change } from '../../../../operator/runtime/cache/object-cache.ts'
import {
  openReflector,
  type Reflector,
  type ReflectorOptions,
} from '../../../../operator/runtime/cache/reflector.ts'
import { writeThrough } from '../../../../operator/runtime/cache/write-through.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type Fault, type SeenRequest, send, status } from '../../support/kubernetes-server.ts'

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
function open(options: Partial<ReflectorOptions<Data, string>> = {}) {
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

/** The next time that it becomes unread, or is read again. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const end = reflector.onTurn(() => {
      end()
      resolve()
    })
  })
}

/** Takes rights away, until they are given back. */
function forbid(verbs: readonly ('list' | 'watch')[] = ['list', 'watch']) {
  const refusing: Fault = (request, response) => {
    if (request.method !== 'GET' || !verbs.includes(isWatch(request) ? 'watch' : 'list'))
      return false
    send(response, 403, status(403, 'Forbidden'))
    return true
  }
  room.server.faults.add(refusing)
  return { giveBack: () => room.server.faults.delete(refusing) }
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
  assert.deepEqual(contents(), { 'apps/a': '' })
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
  assert.equal(reflector.unread(), null)
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
  const lists = (): SeenRequest[] => room.server.requests.filter(isList)
  await room.server.seen((request) => isList(request) && lists().indexOf(request) === 2)
  const asked = room.server.requests.map((request) => (isWatch(request) ? 'watch' : 'list'))
  const round = ['list', 'watch', 'watch', 'watch']
  assert.deepEqual(asked.slice(0, 9), [...round, ...round, 'list'])
})

test('a kind that may not be listed settles with the failure, and recovers with the role', async () => {
  const right = forbid()
  open()
  await reflector.initialized(soon())
  assert.equal(reflector.isInitialized(), true)
  assert.equal(reflector.unread()?.code, 'OPERATOR_API_FORBIDDEN')
  const turned = turn()
  right.giveBack()
  await turned
  assert.equal(reflector.unread(), null)
})

test('a kind that is not defined settles with that, and is read once it is', async () => {
  const isAbsent: Fault = (_request, response) => {
    send(response, 404, status(404, 'NotFound', 'the server could not find the requested resource'))
    return true
  }
  room.server.faults.add(isAbsent)
  open()
  await reflector.initialized(soon())
  assert.equal(reflector.unread()?.code, 'OPERATOR_API_NOT_FOUND')
  const turned = turn()
  room.server.faults.delete(isAbsent)
  await turned
  assert.equal(reflector.unread(), null)
})

for (const verbs of [['list', 'watch'], ['watch']] as const) {
  test(`a right to ${verbs.join(' and ')} that is taken counts as unread with the next watch`, async () => {
    room.server.put(`${path}/a`, { data: { x: '1' } } as Data)
    open({ watchSeconds: 1 })
    await watching()
    const lost = turn()
    const right = forbid(verbs)
    await lost
    assert.equal(reflector.unread()?.code, 'OPERATOR_API_FORBIDDEN')
    const messages = room.client.log.messages('warn')
    assert.deepEqual(messages, ['nothing is done here until it can be read'])
    room.server.remove(`${path}/a`)
    const found = turn()
    right.giveBack()
    await found
    assert.equal(reflector.unread(), null)
    assert.deepEqual(contents(), {})
  })
}

test('what cannot be followed for other reasons counts as unread once that has lasted', async () => {
  open({ unreadAfterMs: 50 })
  await watching()
  const failing: Fault = (_, response) => {
    send(response, 500, status(500, 'InternalError'))
    return true
  }
  room.server.faults.add(failing)
  const lost = turn()
  room.server.dropWatches()
  await lost
  assert.equal(reflector.unread()?.code, 'OPERATOR_API_FAILED')
  const found = turn()
  room.server.faults.delete(failing)
  await found
  assert.equal(reflector.unread(), null)
})

for (const [chance, seconds] of [
  [0, '40'],
  [1 - Number.EPSILON, '50'],
] as const) {
  test(`a watch lasts ${seconds} s by chance, so that a right that is gone is missed in time`, async (t) => {
    t.mock.method(Math, 'random', () => chance)
    open()
    const { query } = await room.server.seen(isWatch)
    assert.equal(query['timeoutSeconds'], seconds)
  })
}

test('a watch that is always too far behind is tried again with growing pauses', async () => {
  room.server.faults.add((request, response) => {
    if (!isWatch(request)) return false
    send(response, 410, status(410, 'Expired'))
    return true
  })
  open()
  const pauses = (): number[] =>
    room.client.log.lines
      .filter(({ msg }) => msg === 'the watch is too far behind, listing again')
      .map(({ retryInMs }) => Number(retryInMs))
  while (pauses().length < 5) await new Promise(setImmediate)
  // Between half of 1, 2, 4, 5 and 5 ms and all of it.
  const [first = 0, , third = 0, , fifth = 0] = pauses()
  assert.ok(first <= 1 && third >= 2 && fifth >= 2.5, `${pauses()}`)
  assert.deepEqual(room.client.log.messages('warn'), [])
})

test('after etcd was restored from a backup, what is there now replaces what was known', async () => {
  for (const name of ['kept', 'edited', 'deleted'])
    room.server.put(`${path}/${name}`, { data: { x: 'before' } } as Data)
  open({ watchSeconds: 1 })
  await watching()
  const restore = room.server.backUp()
  const last = changed(({ key }) => key === 'apps/made')
  room.server.put(`${path}/edited`, { data: { x: 'after' } } as Data)
  room.server.remove(`${path}/deleted`)
  room.server.put(`${path}/made`, { data: { x: 'after' } } as Data)
  await last
  const back = changed(({ key }) => key === 'apps/deleted')
  restore()
  await back
  const found = { 'apps/kept': 'before', 'apps/edited': 'before', 'apps/deleted': 'before' }
  assert.deepEqual(contents(), found)
  const object = { metadata: { name: 'edited', namespace: 'apps' }, data: { x: 'new' } }
  await room.client.api.apply(type, object)
  assert.equal(contents()['apps/edited'], 'new')
  const warned = room.client.log.messages('warn')
  assert.ok(warned.includes('the API server is at an older state again'))
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

test('writes to objects that are not selected, or of another kind, leave it as it is', async () => {
  const labelSelector = 'app in (x,y),own=yes'
  open({ labelSelector })
  await watching()
  for (const { query } of room.server.requests) assert.equal(query['labelSelector'], labelSelector)
  const write = (
    name: string,
    labels: Readonly<Record<string, string>>,
    of = type,
  ): Promise<unknown> =>
    room.client.api.create(of, { metadata: { name, namespace: 'apps', labels } })
  room.server.freezeWatches()
  await write('a', { app: 'x', own: 'yes' })
  await write('b', { app: 'z', own: 'yes' })
  await write('c', { app: 'x' })
  await write('d', { app: 'x', own: 'yes' }, builtinTypes.Secret)
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
