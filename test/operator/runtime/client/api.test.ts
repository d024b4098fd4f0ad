import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFence } from '../../../../operator/runtime/client/fence.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'

const type = builtinTypes.ConfigMap
const address = { type, namespace: 'apps', name: 'a' }
const path = '/api/v1/namespaces/apps/configmaps'

const room = kubernetesRoom()

/** Answers so the next requests, one after the other, and then no more. */
function answerNext(
  ...answers: readonly (readonly [code: number, body: unknown, headers?: Record<string, string>])[]
): void {
  const left = [...answers]
  room.server.faults.add((_, response) => {
    const next = left.shift()
    if (next === undefined) return false
    send(response, ...next)
    return true
  })
}

test('each refusal of the API server has a code that says what to do next', async () => {
  const codes = [
    [400, 'BadRequest', 'OPERATOR_API_REFUSED', /^Check that the cluster is of a version that/],
    [403, 'Forbidden', 'OPERATOR_API_FORBIDDEN', /^A policy of the cluster refuses it, whatever/],
    [404, 'NotFound', 'OPERATOR_API_NOT_FOUND', /^Nothing where the object is meant to go;/],
    [409, 'AlreadyExists', 'OPERATOR_API_EXISTS', /^Nothing: it is tried again\.$/],
    [409, 'Conflict', 'OPERATOR_API_CONFLICT', /^Nothing: it is tried again\.$/],
    [410, 'Expired', 'OPERATOR_API_EXPIRED', /^Nothing: it is tried again\.$/],
    [422, 'Invalid', 'OPERATOR_API_INVALID', /^Correct what the message names in the spec/],
    [500, 'InternalError', 'OPERATOR_API_FAILED', /^See the log of the API server if this/],
  ] as const
  for (const [code, reason, expected, remedy] of codes) {
    answerNext([code, status(code, reason)])
    await assert.rejects(room.client.api.patch(address, {}, { type: 'merge' }), {
      code: expected,
      message: `patch configmaps apps/a: ${code} ${reason} it is`,
      remedy,
    })
  }
})

test('a JSON patch that no longer fits is a conflict to retry; one that is wrong is not', async () => {
  const operations = [{ op: 'test', path: '/metadata/resourceVersion', value: '7' }]
  const patch = async (type: 'json' | 'merge'): Promise<unknown> =>
    await room.client.api.patch(address, operations, { type })
  answerNext([422, { ...status(422, 'Invalid', 'the server rejected our request'), details: {} }])
  await assert.rejects(patch('json'), {
    code: 'OPERATOR_API_CONFLICT',
    message:
      'patch configmaps apps/a: 422 the server rejected our request: the object is no longer as it was read',
    remedy: 'Nothing: it is tried again.',
  })
  const details = { causes: [{ field: 'spec.ports', message: 'Required value' }] }
  answerNext([422, { ...status(422, 'Invalid'), details }])
  await assert.rejects(patch('json'), { code: 'OPERATOR_API_INVALID' })
  answerNext([422, status(422, 'Invalid')])
  await assert.rejects(patch('merge'), { code: 'OPERATOR_API_INVALID' })
})

test('an object that is not there is null for find, but a kind that is not served is an error', async () => {
  assert.equal(await room.client.api.find(address), null)
  answerNext([404, 'page not found'])
  await assert.rejects(room.client.api.find(address), { code: 'OPERATOR_API_NOT_FOUND' })
})

test('a busy API server is waited for as long as it asks, and asked again', async () => {
  const busy = [429, status(429, 'TooManyRequests'), { 'retry-after': '0' }] as const
  answerNext(busy, busy, [200, { kind: 'ConfigMap' }])
  assert.deepEqual(await room.client.api.find(address), { kind: 'ConfigMap' })
})

test('one that asks for more than half a minute is left alone, and the error says how long', async () => {
  answerNext([429, status(429, 'TooManyRequests'), { 'retry-after': '31' }])
  await assert.rejects(room.client.api.find(address), (error: { code: string; facts: object }) => {
    assert.equal(error.code, 'OPERATOR_API_BUSY')
    assert.equal(Reflect.get(error.facts, 'retryAfterMs'), 31_000)
    return true
  })
})

test('a token that is refused is read again, once', async () => {
  let token = 'old'
  let forgotten = 0
  const client = room.openClient({
    connection: {
      authorization: async () => `Bearer ${token}`,
      forgetAuthorization: () => {
        token = 'new'
        forgotten += 1
      },
    },
  })
  room.server.faults.add(({ headers }, response) => {
    if (headers.authorization === 'Bearer new') return false
    send(response, 401, status(401, 'Unauthorized'))
    return true
  })
  assert.equal(await client.api.find(address), null)
  assert.equal(forgotten, 1, 'the answer to the new one is no reason')
})

test('a token that is refused again, and an API server that stays busy, are given up', async () => {
  const answers = [
    [401, 'Unauthorized', 'OPERATOR_API_UNAUTHORIZED', 2],
    [429, 'TooManyRequests', 'OPERATOR_API_BUSY', 5],
    [503, 'Unavailable', 'OPERATOR_API_FAILED', 1],
  ] as const
  for (const [code, reason, expected, attempts] of answers) {
    const before = room.server.requests.length
    const busy = [code, status(code, reason), { 'retry-after': '0' }] as const
    answerNext(busy, busy, busy, busy, busy)
    await assert.rejects(room.client.api.find(address), { code: expected })
    assert.equal(room.server.requests.length - before, attempts)
    room.server.faults.clear()
  }
})

test('a watch hands over events of the types that there are, and no other line', async () => {
  const given = { resourceVersion: '7', seconds: 60, silenceMs: 60_000 }
  const watch = async (line: unknown): Promise<unknown[]> => {
    const events: unknown[] = []
    room.server.faults.clear()
    room.server.faults.add((_, response) => {
      response.writeHead(200).end(`${JSON.stringify(line)}\n`)
      return true
    })
    const selection = { type, namespace: 'apps', fieldSelector: 'metadata.name=a' }
    for await (const event of room.client.api.watch(selection, given)) events.push(event)
    return events
  }
  for (const kind of ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']) {
    const event = { type: kind, object: {} }
    assert.deepEqual(await watch(event), [event])
  }
  assert.deepEqual(room.server.requests.at(-1)?.query, {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: '7',
    timeoutSeconds: '60',
    fieldSelector: 'metadata.name=a',
  })
  const odd = [{ type: 'ODD', object: {} }, { type: 'ADDED' }, { type: 'ADDED', object: null }]
  for (const line of [...odd, { object: {} }, null, 'text']) {
    await assert.rejects(watch(line), {
      code: 'OPERATOR_API_ANSWER_MALFORMED',
      message: 'watch configmaps apps: no event',
    })
  }
})

test('an answer cut short is an error, whether the connection breaks or the JSON ends early', async () => {
  room.server.faults.add((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"kind":')
    setImmediate(() => response.destroy())
    return true
  })
  await assert.rejects(room.client.api.find(address), { code: 'OPERATOR_API_UNREACHABLE' })
  room.server.faults.clear()
  room.server.faults.add((_, response) => {
    response.writeHead(200).end('{"kind":')
    return true
  })
  await assert.rejects(
    room.client.api.find(address),
    ({ code, cause }: { readonly code: string; readonly cause: unknown }) => {
      assert.equal(code, 'OPERATOR_API_ANSWER_MALFORMED')
      return cause instanceof SyntaxError
    },
  )
})

test('an API server that does not answer in time is given up, and so is one on request', async () => {
  const client = room.openClient({ timeoutMs: 50 })
  room.server.faults.add(() => true)
  await assert.rejects(client.api.find(address), { code: 'OPERATOR_API_TIMEOUT' })
  const reason = new Error('no longer needed')
  await assert.rejects(client.api.find(address, { signal: AbortSignal.abort(reason) }), reason)
})

test('an answer that is no list is a failure, rather than a list without objects', async () => {
  const keep = (): boolean => true
  for (const odd of [{}, null, [], status(200, 'Odd'), { metadata: {}, items: [] }]) {
    answerNext([200, odd])
    await assert.rejects(room.client.api.list({ type, namespace: 'apps' }, { keep }), {
      code: 'OPERATOR_API_ANSWER_MALFORMED',
      message: 'list configmaps apps: no list',
    })
  }
  answerNext([200, { metadata: { resourceVersion: '7' }, items: null }])
  const listing = await room.client.api.list({ type, namespace: 'apps' }, { keep })
  assert.deepEqual(listing, { items: [], resourceVersion: '7' })
})

test('fields of others are taken over only after it was reported whose they were', async () => {
  room.server.faults.add(({ method, query }, response) => {
    if (method !== 'PATCH' || query['force'] === 'true') return false
    const causes = [{ reason: 'FieldManagerConflict', field: '.data.x' }]
    const refusal = status(409, 'Conflict', 'conflict with "kubectl": .data.x')
    send(response, 409, { ...refusal, details: { causes } })
    return true
  })
  const reported: string[] = []
  const object = { metadata: { name: 'a', namespace: 'apps' }, data: { x: '1' } }
  await room.client.api.apply(type, object, { onConflict: (conflict) => reported.push(conflict) })
  assert.deepEqual(reported, ['apply configmaps apps/a: 409 conflict with "kubectl": .data.x'])
  assert.deepEqual(room.client.log.messages('warn'), ['fields are taken from another owner'])
  const { query, headers } = room.server.requests.at(-1) ?? {}
  assert.equal(headers?.['content-type'], 'application/apply-patch+yaml')
  assert.deepEqual(query, { fieldManager: 'tester', fieldValidation: 'Strict', force: 'true' })
})

test('a conflict of the UID that was given is no conflict about fields, and nothing is forced', async () => {
  room.server.put(`${path}/a`, {})
  const object = { metadata: { name: 'a', namespace: 'apps', uid: 'of-another' } }
  const reported: string[] = []
  await assert.rejects(
    room.client.api.apply(type, object, { onConflict: (conflict) => reported.push(conflict) }),
    { code: 'OPERATOR_API_CONFLICT' },
  )
  const forced = room.server.requests.filter(({ query }) => query['force'] !== undefined)
  assert.deepEqual([reported, forced, room.client.log.messages('warn')], [[], [], []])
})

test('what goes out is what was given, unknown fields too, with kind and apiVersion', async () => {
  const object = { metadata: { name: 'b', namespace: 'apps' }, future: { field: [1] } }
  await room.client.api.create(type, object)
  assert.deepEqual(room.server.requests.at(-1)?.body, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    ...object,
  })
})

test('only the very object is deleted, and one that is gone is no error', async () => {
  const uid = room.server.put(`${path}/gone`, {}).metadata?.uid
  const gone = { ...address, name: 'gone' }
  await assert.rejects(room.client.api.delete(gone, { uid: 'another' }), {
    code: 'OPERATOR_API_CONFLICT',
  })
  await assert.rejects(room.client.api.delete(gone, { resourceVersion: '1' }), {
    code: 'OPERATOR_API_CONFLICT',
  })
  assert.equal(await room.client.api.delete(gone, { uid, propagation: 'Orphan' }), true)
  assert.equal(await room.client.api.delete(gone, { uid }), false)
})

test('nothing of a Secret is in an error, even where the API server repeats it', async () => {
  const marker = 'c2VjcmV0LW1hcmtlcg'
  const secret = { type: builtinTypes.Secret, namespace: 'apps', name: 's' }
  answerNext([422, status(422, 'Invalid', `data.x: Invalid value: "${marker}"`)])
  await assert.rejects(
    room.client.api.patch(secret, { data: { x: marker } }, { type: 'merge' }),
    hides,
  )
  room.server.faults.clear()
  room.server.faults.add((_, response) => {
    response.writeHead(200).end(`{"data":{"x":"${marker}`)
    return true
  })
  await assert.rejects(room.client.api.find(secret), hides)

  function hides(error: Error): boolean {
    const text = JSON.stringify([error.message, error.stack, error.cause ?? null, { ...error }])
    return !text.includes(marker)
  }
})

test('a write that waits to be retried is refused once the fence has shut; reads go on', async () => {
  const fence = createFence()
  const client = room.openClient({ guards: [fence.guard] })
  const object = { metadata: { name: 'fenced', namespace: 'apps' } }
  await assert.rejects(client.api.create(type, object), { code: 'OPERATOR_FENCED' })
  fence.openUntil(Number.POSITIVE_INFINITY)
  room.server.faults.add(({ method }, response) => {
    if (method !== 'POST') return false
    fence.shut()
    send(response, 429, status(429, 'TooManyRequests'), { 'retry-after': '0' })
    return true
  })
  await assert.rejects(client.api.create(type, object), { code: 'OPERATOR_FENCED' })
  assert.equal(room.server.get(`${path}/fenced`), undefined)
  await client.api.dryRunApply(type, object)
  assert.equal(await client.api.find({ ...address, name: 'fenced' }), null)
})

test('a guard hears what writes are answered, and neither reads nor what is only tried', async () => {
  const heard: unknown[] = []
  const guard = {
    after: ({ verb }: { readonly verb: string }, answer: KubernetesObject) =>
      void heard.push(`${verb} ${answer.metadata?.name}`, typeof answer),
  }
  const { api } = room.openClient({ guards: [guard] })
  const object = { metadata: { name: 'heard', namespace: 'apps' } }
  await api.dryRunApply(type, object)
  await api.create(type, object)
  await api.find({ ...address, name: 'heard' })
  answerNext([200, null], [200, 7])
  for (const answer of [null, 7]) assert.equal(await api.create(type, object), answer)
  const odd = ['create undefined', 'object']
  assert.deepEqual(heard, ['create heard', 'object', ...odd, ...odd])
})

test('requests are counted by code, method and host, as of every operator', async () => {
  await room.client.api.find({ ...address, name: 'missing' })
  room.server.faults.add((_, response) => {
    response.destroy()
    return true
  })
  await assert.rejects(room.client.api.patch(address, {}, { type: 'merge' }))
  const text = await room.client.registry.getSingleMetricAsString('rest_client_requests_total')
  const host = new URL(room.server.url).host
  assert.ok(text.includes(`rest_client_requests_total{code="404",method="GET",host="${host}"} 1`))
  assert.ok(
    text.includes(`rest_client_requests_total{code="<error>",method="PATCH",host="${host}"} 1`),
  )
  const { headers } = room.server.requests[0] ?? {}
  assert.deepEqual([headers?.['user-agent'], headers?.accept], ['tester/1', 'application/json'])
})
