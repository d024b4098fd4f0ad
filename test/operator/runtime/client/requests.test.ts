/** What every request to the API server carries, and from when on an answer is a refusal. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readLog } from '../../../../operator/runtime/client/pod-log.ts'
import { type Requests, textOf } from '../../../../operator/runtime/client/requests.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type Fault, send, status } from '../../support/kubernetes-server.ts'

const room = kubernetesRoom()
const type = builtinTypes.ConfigMap
const address = { type, namespace: 'apps', name: 'a' }
const object: KubernetesObject = { metadata: { name: 'a', namespace: 'apps' } }
const keep = (): boolean => true

/** Answers every request in this way. */
function answerAll(respond: (...[, response]: Parameters<Fault>) => unknown): void {
  room.server.faults.clear()
  room.server.faults.add((request, response) => {
    respond(request, response)
    return true
  })
}

/** Reads a watch, or a log, to its end. */
const readWatch = async (): Promise<void> => {
  const given = { resourceVersion: '7', seconds: 60, silenceMs: 60_000 }
  for await (const event of room.client.api.watch({ type }, given)) assert.fail(String(event))
}
const readWholeLog = async (): Promise<void> => {
  for await (const piece of room.client.api.readLog(address, { container: 'main' }))
    assert.equal(Buffer.from(piece).toString(), '{}\n')
}

test('an answer is a refusal from status 300 on, of streams too', async () => {
  const answer = (code: number, body: string): void =>
    answerAll((_, response) => response.writeHead(code).end(body))
  answer(299, '{}\n')
  assert.deepEqual(await room.client.api.find(address), {})
  await readWholeLog()
  await assert.rejects(readWatch(), { code: 'OPERATOR_API_ANSWER_MALFORMED' })
  answer(300, '{}\n')
  for (const asked of [room.client.api.find(address), readWholeLog(), readWatch()])
    await assert.rejects(asked, { code: 'OPERATOR_API_FAILED' })
})

test('a request says what it holds where it holds anything, and who asks where that is known', async () => {
  const known = room.openClient({ connection: { authorization: async () => 'Bearer of-a' } })
  await room.client.api.find(address)
  await room.client.api.create(type, object)
  await known.api.find(address)
  assert.deepEqual(
    room.server.requests.map(({ headers }) => [headers['content-type'], headers.authorization]),
    [
      [undefined, undefined],
      ['application/json', undefined],
      [undefined, 'Bearer of-a'],
    ],
  )
})

test('of a refusal that comes as a stream the first 64 KiB are read, and the piece that goes on', async () => {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const piece of ['a'.repeat(65_535), 'b', 'c', 'd']) yield Buffer.from(piece)
  }
  assert.equal((await textOf(pieces())).slice(65_534), 'abc')
  answerAll((_, response) => response.writeHead(500).write('x'.repeat(65_537)))
  await assert.rejects(readWatch(), { code: 'OPERATOR_API_FAILED' })
})

test('a log is that of now unless it is to be followed', async () => {
  answerAll((_, response) => response.end('{}\n'))
  await readWholeLog()
  assert.deepEqual(room.server.requests.at(-1)?.query, { container: 'main', follow: 'false' })
})

test('a container whose log is followed may say nothing for a day, else half a minute is enough', async () => {
  const allowed: number[] = []
  const stream: Requests['stream'] = async (_call, _options, silenceMs) => {
    allowed.push(silenceMs)
    return { status: 200, retryAfter: undefined, chunks: Readable.from([]) }
  }
  for (const follow of [true, false, undefined]) {
    const options = { container: 'main', ...(follow === undefined ? {} : { follow }) }
    for await (const piece of readLog({ stream }, address, options)) assert.fail(String(piece))
  }
  assert.deepEqual(allowed, [86_400_000, 30_000, 30_000])
})

test('a list that is read all at once may be larger than a page', async () => {
  const large = { data: { x: 'a'.repeat(9 * 1_048_576) } } as KubernetesObject
  for (const name of ['a', 'b'])
    room.server.put(`/api/v1/namespaces/apps/configmaps/${name}`, large)
  room.server.faults.add(({ query }, response) => {
    if (query['continue'] === undefined) return false
    send(response, 410, status(410, 'Expired'))
    return true
  })
  const { items } = await room.client.api.list({ type, namespace: 'apps' }, { keep, pageSize: 1 })
  assert.deepEqual(items, [true, true])
})
