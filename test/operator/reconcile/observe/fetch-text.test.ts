import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { fetchText } from '../../../../operator/reconcile/observe/health-observer.ts'

const server = createServer((...given) => answer(...given))
let answer: RequestListener = (_, response) => response.end('well')
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`
after(() => {
  server.close()
  server.closeAllConnections()
})

const never = new AbortController().signal

test('the body of an answer is returned, also of one with an error status', async () => {
  assert.equal(await fetchText(url, never), 'well')
  answer = (_, response) => response.writeHead(503).end('not well')
  assert.equal(await fetchText(url, never), 'not well')
})

test('an answer of 1 MiB is read, a longer one is given up', async () => {
  answer = (_, response) => response.end('a'.repeat(1_048_576))
  assert.equal((await fetchText(url, never)).length, 1_048_576)
  answer = (_, response) => response.end('a'.repeat(1_048_577))
  await assert.rejects(fetchText(url, never), /the answer is too long/)
})

test('an answer that does not come, or not to its end, is given up', async () => {
  const started = Promise.withResolvers<void>()
  answer = (_, response) => {
    response.write('we')
    started.resolve()
  }
  const stop = new AbortController()
  const asked = fetchText(url, stop.signal)
  await started.promise
  stop.abort()
  await assert.rejects(asked, { name: 'AbortError' })
  answer = (_, response) => response.destroy()
  await assert.rejects(fetchText(url, never), { code: 'ECONNRESET' })
})

test('an answer that switches protocols is given up in time, as one that does not come is', async () => {
  answer = ({ socket }) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
  await assert.rejects(fetchText(url, AbortSignal.timeout(50)), { name: 'TimeoutError' })
})
