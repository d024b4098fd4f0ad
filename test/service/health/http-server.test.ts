import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { openHttpServer } from '../../../src/service/health/http-server.ts'
import { captureLog } from '../../support/captured-log.ts'

const options = { address: { host: '127.0.0.1', port: 0 }, setting: 'DB_API_ADDR' }
const { log } = captureLog()

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
