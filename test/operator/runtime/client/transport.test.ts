import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { afterEach, test } from 'node:test'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { type HttpRequest, openTransport } from '../../../../operator/runtime/client/transport.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'

type Transport = ReturnType<typeof openTransport>

let transport: Transport | undefined

afterEach(async () => {
  await transport?.close()
  transport = undefined
})
const room = kubernetesRoom()

function open(path = ''): Transport {
  transport = openTransport(
    { timeoutMs: 60_000 },
    {
      server: `${room.server.url}${path}`,
      tls: {},
      namespace: 'apps',
      authorization: async () => null,
      forgetAuthorization: () => undefined,
    },
  )
  return transport
}

const request: HttpRequest = {
  call: { verb: 'list', type: builtinTypes.Pod },
  method: 'GET',
  path: '/api/v1/pods?limit=1',
  headers: { accept: 'application/json' },
  maxBytes: 10,
}

/** Answers with this text, whose length is announced before it or not. */
function answer(text: string, isAnnounced: boolean): void {
  room.server.faults.clear()
  room.server.faults.add((_, response) => {
    response.writeHead(200, isAnnounced ? { 'content-length': String(text.length) } : {})
    response.write(text.slice(0, 5))
    response.end(text.slice(5))
    return true
  })
}

for (const isAnnounced of [true, false]) {
  test(`an answer has as many bytes as are read, whose length is ${isAnnounced ? '' : 'not '}announced`, async () => {
    const { exchange } = open()
    answer('0123456789', isAnnounced)
    assert.deepEqual(await exchange(request), {
      status: 200,
      retryAfter: undefined,
      text: '0123456789',
    })
    answer('0123456789a', isAnnounced)
    await assert.rejects(exchange(request), {
      code: 'OPERATOR_API_ANSWER_TOO_LARGE',
      message: 'list pods: the answer has more than 10 bytes',
      facts: { verb: 'list', kind: 'Pod', maxBytes: 10 },
    })
  })
}

test('an answer that says it is too long is refused before it has come', async () => {
  room.server.faults.add((_, response) => {
    response.writeHead(200, { 'content-length': '11' }).flushHeaders()
    return true
  })
  await assert.rejects(open().exchange(request), { code: 'OPERATOR_API_ANSWER_TOO_LARGE' })
})

test('of two pauses that an answer asks for the first one counts', async () => {
  room.server.faults.add((_, response) => {
    response.setHeader('retry-after', ['7', '8'])
    response.writeHead(429).end()
    return true
  })
  const { exchange, stream } = open()
  const { chunks: _, ...streamed } = await stream(request, 60_000)
  assert.deepEqual(streamed, { status: 429, retryAfter: '7' })
  assert.equal((await exchange(request)).retryAfter, '7')
})

test('an API server may lie below a path, with or without a slash at its end', async () => {
  for (const path of ['/clusters/one', '/clusters/one/']) {
    answer('', true)
    await open(path).exchange(request)
    await transport?.close()
    const { path: asked, query } = room.server.requests.at(-1) ?? {}
    assert.deepEqual([asked, query], ['/clusters/one/api/v1/pods', { limit: '1' }])
  }
})

test('a request or a stream that is given up while it runs ends with the reason for that', async () => {
  const reason = new Error('no longer needed')
  const arrived = Promise.withResolvers<void>()
  const closed: Promise<unknown>[] = []
  room.server.faults.add((_, response) => {
    closed.push(once(response, 'close'))
    if (closed.length === 2) arrived.resolve()
    return true
  })
  const { exchange, stream } = open()
  const aborting = new AbortController()
  const asked = { ...request, signal: aborting.signal }
  const waiting = [exchange(asked), stream(asked, 60_000)].map((one) => assert.rejects(one, reason))
  await arrived.promise
  aborting.abort(reason)
  await Promise.all([...waiting, ...closed])
  await assert.rejects(stream({ ...request, signal: aborting.signal }, 60_000), reason)
})

test('a request that is given up before it goes out is neither checked nor sent', async () => {
  const reason = new Error('no longer needed')
  const aborting = new AbortController()
  const beforeSend = (): void => assert.fail('it was about to be sent')
  const asked = { ...request, signal: aborting.signal, beforeSend }
  const { exchange } = open()
  const waiting = assert.rejects(exchange(asked), reason)
  aborting.abort(reason)
  await waiting
  answer('', true)
  await exchange(request)
  assert.equal(room.server.requests.length, 1)
})

test('a signal that stays keeps nothing of a request that is over', async () => {
  const { signal } = new AbortController()
  answer('', true)
  await open().exchange({ ...request, signal })
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('a stream that breaks, or says nothing for too long, ends with an error that says so', async () => {
  const { stream } = open()
  const read = async (silenceMs: number): Promise<void> => {
    const { chunks } = await stream(request, silenceMs)
    for await (const chunk of chunks) assert.equal(Buffer.from(chunk).toString(), 'begun')
  }
  room.server.faults.add((_, response) => {
    response.writeHead(200).write('begun')
    return true
  })
  await assert.rejects(read(1_000), {
    code: 'OPERATOR_API_TIMEOUT',
    message: 'list pods: nothing came within 1000 ms',
  })
  room.server.faults.clear()
  room.server.faults.add((_, response) => {
    response.writeHead(200).write('begun', () => response.destroy())
    return true
  })
  await assert.rejects(read(60_000), { code: 'OPERATOR_API_UNREACHABLE' })
})

test('what a check before sending throws is thrown, and nothing is sent', async () => {
  const reason = new Error('held back')
  const beforeSend = (): never => {
    throw reason
  }
  const { exchange } = open()
  await assert.rejects(exchange({ ...request, method: 'POST', beforeSend }), reason)
  answer('', true)
  await exchange(request)
  assert.deepEqual(
    room.server.requests.map(({ method }) => method),
    ['GET'],
  )
})
