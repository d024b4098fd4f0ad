import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { errorBody, openHttpServer } from '../../../src/service/health/http-server.ts'
import { captureLog } from '../../support/captured-log.ts'
import { runningTimers } from '../../support/leaks/timers.ts'

const options = { address: { host: '127.0.0.1', port: 0 }, setting: 'DB_API_ADDR' }
const { log, lines } = captureLog()

test('closing aborts a response that never ends, such as a subscription', async () => {
  const server = await openHttpServer(options, {
    log,
    routes(fastify) {
      fastify.get('/stream', (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
        reply.raw.write(': open\n\n')
      })
    },
  })
  const response = await fetch(`http://127.0.0.1:${server.port}/stream`)
  const body = response.text()
  await server.close()
  await assert.rejects(body, /terminated/)
})

test('a response in progress is finished before the server is closed', async () => {
  const started = Promise.withResolvers<void>()
  const server = await openHttpServer(options, {
    log,
    routes(fastify) {
      fastify.get('/slow', async () => {
        started.resolve()
        await new Promise((resolve) => setTimeout(resolve, 50))
        return { done: true }
      })
    },
  })
  const response = fetch(`http://127.0.0.1:${server.port}/slow`)
  await started.promise
  await server.close()
  assert.deepEqual(await (await response).json(), { done: true })
})

test('a client that sends its request too slowly is let go', async () => {
  const server = await openHttpServer({ ...options, requestTimeoutMs: 50 }, { log, routes() {} })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\n')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assert.match(chunk.toString(), /^HTTP\/1\.1 408 Request Timeout/)
  await server.close()
})

test('an error has the status that it says where that is one of an error, else 500', async (t) => {
  const server = await openHttpServer(options, {
    log,
    routes(fastify) {
      fastify.get('/fail', (request) => {
        const { status } = Object(request.query)
        return Promise.reject(
          status === 'none'
            ? 'no error'
            : Object.assign(new Error('why'), { statusCode: Number(status) || status }),
        )
      })
    },
  })
  t.after(() => server.close())
  const expected = [
    ['399', 500, 'internal_error', 'internal error'],
    ['400', 400, 'bad_request', 'why'],
    ['499', 499, 'bad_request', 'why'],
    ['500', 500, 'internal_error', 'internal error'],
    ['599', 599, 'internal_error', 'internal error'],
    ['600', 500, 'internal_error', 'internal error'],
    ['text', 500, 'internal_error', 'internal error'],
    ['none', 500, 'internal_error', 'internal error'],
  ] as const
  for (const [asked, status, error, message] of expected) {
    const before = lines.length
    const response = await fetch(`http://127.0.0.1:${server.port}/fail?status=${asked}`)
    assert.equal(response.status, status, asked)
    const internal = { remedy: 'Look for "request failed" in the log of this program.' }
    const remedy = status >= 500 ? internal : {}
    assert.deepEqual(await response.json(), { error, message, ...remedy })
    assert.equal(lines.length - before, status >= 500 ? 1 : 0)
  }
  const denied = await fetch(`http://127.0.0.1:${server.port}/fail?x`, { method: 'DELETE' })
  assert.equal(denied.status, 405)
  assert.equal(denied.headers.get('allow'), 'GET, HEAD')
  assert.deepEqual(
    await denied.json(),
    errorBody(405, 'DELETE is not accepted here', 'Send GET, HEAD.'),
  )
  const absent = await fetch(`http://127.0.0.1:${server.port}/else?x`)
  assert.equal(absent.status, 404)
  const remedy = 'Look for the path, and for the port that serves it, on the page on endpoints.'
  assert.deepEqual(await absent.json(), errorBody(404, 'there is nothing at /else', remedy))
})

test('a method that a path does not take is answered with those that it takes', async (t) => {
  const server = await openHttpServer(options, {
    log,
    routes(fastify) {
      fastify.get('/things', () => 'read').post('/things', () => 'written')
    },
  })
  t.after(() => server.close())
  const denied = await fetch(`http://127.0.0.1:${server.port}/things`, { method: 'PUT' })
  assert.deepEqual([denied.status, denied.headers.get('allow')], [405, 'GET, HEAD, POST'])
  assert.equal(Object(await denied.json()).remedy, 'Send GET, HEAD, POST.')
})

test('a body may be as large as the limit, and not a byte larger', async (t) => {
  const server = await openHttpServer(
    { ...options, maxBodyBytes: 10 },
    {
      log,
      routes(fastify) {
        fastify.post('/length', (request) => `${String(request.body).length}`)
      },
    },
  )
  t.after(() => server.close())
  const post = (length: number): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}/length`, { method: 'POST', body: 'x'.repeat(length) })
  assert.equal(await (await post(10)).text(), '10')
  const refused = await post(11)
  assert.equal(refused.status, 413)
  const remedy = 'Send a body of at most 10 bytes.'
  assert.deepEqual(await refused.json(), errorBody(413, 'Request body is too large', remedy))
})

test('a body is 64 KiB at most where nothing else is said', async (t) => {
  const server = await openHttpServer(options, {
    log,
    routes: (fastify) => void fastify.post('/', () => 'taken'),
  })
  t.after(() => server.close())
  for (const [length, status] of [
    [65_536, 200],
    [65_537, 413],
  ] as const) {
    const init = { method: 'POST', body: 'x'.repeat(length) }
    assert.equal((await fetch(`http://127.0.0.1:${server.port}/`, init)).status, status)
  }
})

test('what was opened with routes is closed where their port is taken', async (t) => {
  const first = await openHttpServer(options, { log, routes() {} })
  t.after(() => first.close())
  let closed = 0
  const routes = (fastify: FastifyInstance): void => {
    fastify.addHook('onClose', () => {
      closed += 1
    })
  }
  const address = { host: '127.0.0.1', port: first.port }
  await assert.rejects(openHttpServer({ ...options, address }, { log, routes }), {
    code: 'SERVICE_PORT_UNAVAILABLE',
  })
  assert.equal(closed, 1)
})

test('a server that has closed leaves no timer, which would keep the program from ending', async () => {
  const server = await openHttpServer(options, { log, routes() {} })
  const before = runningTimers()
  const closing = server.close()
  assert.equal(runningTimers(), before + 2)
  await closing
  assert.equal(runningTimers(), before)
})

test('each error has a name for programs', () => {
  const names = {
    400: 'bad_request',
    404: 'not_found',
    405: 'method_not_allowed',
    409: 'conflict',
    413: 'too_large',
    415: 'unsupported_media_type',
    418: 'bad_request',
    499: 'bad_request',
    500: 'internal_error',
    502: 'internal_error',
    503: 'service_unavailable',
  }
  for (const [status, error] of Object.entries(names))
    assert.deepEqual(errorBody(Number(status), 'why'), { error, message: 'why' })
  assert.deepEqual(errorBody(400, 'why', 'Do.'), {
    error: 'bad_request',
    message: 'why',
    remedy: 'Do.',
  })
})
