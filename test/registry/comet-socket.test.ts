/** The subscription to the registry chain, with a node that refuses, lies, sends too much or nothing any more. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { getEventListeners, once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ServiceError } from '../../src/errors.ts'
import { openCometSocket } from '../../src/registry/comet-socket.ts'
import { viewLimits } from '../../src/views/view.ts'

/** RFC 6455 1.3. */
const websocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** One unmasked frame (RFC 6455 5.2), by default a whole text. */
function frame(text: string, first = 0x81): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.alloc(10)
  head[0] = first
  head[1] = 127
  head.writeBigUInt64BE(BigInt(body.length), 2)
  return Buffer.concat([head, body])
}

const reply = (id: unknown, rest: object): Buffer =>
  frame(JSON.stringify({ jsonrpc: '2.0', id, ...rest }))
const confirmed = [reply(1, { result: {} }), reply(2, { result: {} })]

/** A connection to a node that sends `frames` as soon as it was asked something. */
async function connect(
  t: TestContext,
  frames: readonly Buffer[],
  then: (socket: Socket) => void = () => undefined,
  { silentMs = 60_000, timeoutMs = 2_000, path = '' } = {},
) {
  const sockets: Socket[] = []
  const requests: IncomingMessage[] = []
  const server = createServer().on('upgrade', (request, socket: Socket) => {
    sockets.push(socket)
    requests.push(request)
    const key = `${request.headers['sec-websocket-key']}${websocketGuid}`
    const accept = createHash('sha1').update(key).digest('base64')
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`]
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      for (const data of frames) socket.write(data)
      then(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = new AbortController()
  t.after(() => {
    stop.abort()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const results: unknown[] = []
  const opening = openCometSocket(
    { url: `http://user:pass@127.0.0.1:${port}${path}`, queries: ['a', 'b'], timeoutMs, silentMs },
    (result) => results.push(result),
    stop.signal,
  )
  opening.catch(() => undefined)
  return { opening, results, stop, sockets, requests }
}

/** Why a connection ended, whose node confirmed all subscriptions, and then sent this. */
async function reasonAfter(t: TestContext, ...frames: readonly Buffer[]): Promise<string> {
  const { opening, sockets } = await connect(t, confirmed)
  const { closed } = await opening
  for (const data of frames) sockets[0]?.write(data)
  return await closed
}

test('what arrives for a subscription is passed on, in order, and nothing else', async (t) => {
  const { opening, results } = await connect(t, [
    ...confirmed,
    reply(1, { result: { n: 1 } }),
    reply(999, { result: { n: 2 } }),
    reply('1', { result: { n: 3 } }),
    reply(0, { result: { n: 5 } }),
    reply(3, { result: { n: 6 } }),
    reply(2, { result: { n: 4 } }),
    frame('[]'),
    frame('null'),
    reply(1, { error: { code: -32603 } }),
    reply(1, { result: { n: 7 } }),
  ])
  assert.equal(await (await opening).closed, 'it refuses a subscription')
  for (let turn = 0; turn < 10; turn++) await nextTurn()
  assert.deepEqual(results, [{ n: 1 }, { n: 4 }])
})

test('a node is asked at the path of its URL, with the password of it', async (t) => {
  const paths = {
    '': '/websocket',
    '/base/': '/base/websocket',
    '/rpc/websocket/': '/rpc/websocket',
  }
  for (const [path, asked] of Object.entries(paths)) {
    const { opening, requests, stop } = await connect(t, confirmed, undefined, { path })
    const { close, closed } = await opening
    close()
    assert.equal(await closed, 'closed')
    assert.deepEqual(getEventListeners(stop.signal, 'abort'), [])
    const [request = assert.fail()] = requests
    assert.equal(request.url, asked)
    assert.equal(request.headers.authorization, `Basic ${btoa('user:pass')}`)
  }
})

test('a node that does not confirm every subscription in time is left', async (t) => {
  const { opening } = await connect(t, confirmed.slice(1), undefined, { timeoutMs: 300 })
  await assert.rejects(opening, { code: 'REGISTRY_UNREACHABLE', message: /no answer in time/ })
})

test('a refused subscription is a failure with its code, never taken for an accepted one', async (t) => {
  const error = { code: -32603, message: 'max_subscriptions_per_client 5 reached' }
  const { opening } = await connect(t, [reply(1, { result: {} }), reply(2, { error })])
  await assert.rejects(opening, ({ code, message, facts }: ServiceError) => {
    assert.deepEqual([code, facts['rpcCode']], ['REGISTRY_REFUSED', -32603])
    assert.match(message, /a subscription/)
    return true
  })
})

test('rubbish ends the connection with its reason', async (t) => {
  const rubbish: readonly (readonly [Buffer, RegExp])[] = [
    [frame('{"jsonrpc":'), /JSON/],
    [frame('abc', 0x82), /not text/],
    [Buffer.from([0xff, 0xff, 0xff, 0xff]), /./],
  ]
  for (const [data, reason] of rubbish) assert.match(await reasonAfter(t, data), reason)
})

test('a frame that is too long, or never ends, ends the connection', async (t) => {
  const declared = Buffer.from([0x81, 127, 0, 0, 0, 0, 0x40, 0, 0, 0])
  assert.match(await reasonAfter(t, declared), /too long/)
  const piece = frame('x'.repeat(1024 * 1024), 0x01)
  const next = frame('x'.repeat(1024 * 1024), 0x00)
  assert.match(await reasonAfter(t, piece, ...Array.from({ length: 20 }, () => next)), /too long/)
})

test('a message has as many values as those of honest nodes, and no more', async (t) => {
  const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)
  const most = zeros(19_997)
  const more = Buffer.concat([reply(1, { result: most }), reply(1, { result: [...most, 0] })])
  const nested = frame(`{"id":1,"result":${'['.repeat(3e6)}`)
  for (const data of [more, Buffer.concat([reply(2, { result: most }), nested])]) {
    const { opening, results } = await connect(t, [...confirmed, data])
    assert.equal(await (await opening).closed, 'it has more than 20000 values')
    assert.deepEqual(results, [most])
  }
})

test('messages that arrive at once are read in a turn of the event loop each', async (t) => {
  const many = Array.from({ length: 100 }, () => reply(1, { result: 0 }))
  const { opening, results } = await connect(t, [
    Buffer.concat([...confirmed, ...many, reply(1, { error: { code: -32603 } })]),
  ])
  const closed = opening.then((socket) => socket.closed)
  const read = [0]
  for (let isOpen = true; isOpen; ) {
    isOpen = await Promise.race([closed.then(() => false), nextTurn(true)])
    read.push(results.length)
  }
  assert.equal(await closed, 'it refuses a subscription')
  assert.equal(results.length, 100)
  for (const [turn, count] of read.slice(1).entries()) assert.ok(count - (read[turn] ?? 0) <= 1)
})

test('a node that sends many small messages at once is left', async (t) => {
  const many = Array.from({ length: 1_100 }, () => frame('{}'))
  assert.equal(await reasonAfter(t, Buffer.concat(many)), 'it sends more than any chain registers')
})

test('a message of three of the largest Views is read, each of which is in it twice', async (t) => {
  const data = 'A'.repeat((4 / 3) * viewLimits.wire)
  const result = Array.from({ length: 6 }, () => data)
  const { opening, results } = await connect(t, [
    ...confirmed,
    reply(1, { result }),
    reply(1, { error: { code: -32603 } }),
  ])
  assert.equal(await (await opening).closed, 'it refuses a subscription')
  assert.deepEqual(results, [result])
})

test('a node that sends more than any chain registers is left', async (t) => {
  const flood = reply(1, { result: 'x'.repeat(3 * 1024 * 1024) })
  const { opening } = await connect(t, [...confirmed, ...Array.from({ length: 50 }, () => flood)])
  assert.equal(await (await opening).closed, 'it sends more than any chain registers')
})

test('what was read of a node waits no more: many large messages are read one by one', async (t) => {
  const { opening, results, sockets } = await connect(t, confirmed)
  const { close } = await opening
  for (let message = 1; message <= 6; message++) {
    sockets[0]?.write(reply(1, { result: 'x'.repeat(3 * 1024 * 1024) }))
    while (results.length < message) await nextTurn()
  }
  close()
})

test('a connection on which nothing arrives any more is given up', async (t) => {
  const { opening } = await connect(t, confirmed, undefined, { silentMs: 300 })
  assert.equal(await (await opening).closed, 'it is silent')
})

test('a connection on which nothing happens stays as long as the node answers', async (t) => {
  let asked = 0
  const answer = (socket: Socket): void => {
    socket.on('data', () => {
      asked += 1
      socket.write(asked < 13 ? reply(999, { result: {} }) : reply(1, { error: { code: -32603 } }))
    })
  }
  const { opening } = await connect(t, confirmed, answer, { silentMs: 300, timeoutMs: 1_000 })
  assert.equal(await (await opening).closed, 'it refuses a subscription')
})

test('a node that never answers the handshake is given up as silent', async (t) => {
  const server = createServer().on('upgrade', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options = { url, queries: ['a'], timeoutMs: 60_000, silentMs: 300 }
  await assert.rejects(
    openCometSocket(options, () => undefined, new AbortController().signal),
    { code: 'REGISTRY_UNREACHABLE', message: /it is silent/ },
  )
})

test('a node that closes, or is not there, is a failure with the setting to check', async (t) => {
  const { opening } = await connect(t, [], (socket) => socket.destroy())
  await assert.rejects(opening, { code: 'REGISTRY_UNREACHABLE', remedy: /REGISTRY_RPC_URL/ })
})

test('stopping ends a connection that is being opened, with the reason of the signal', async (t) => {
  const { opening, stop } = await connect(t, [], () => stop.abort(new Error('stopped')))
  await assert.rejects(opening, { message: 'stopped' })
})

test('stopping ends a connection that is open, and the node is notified', async (t) => {
  const { opening, stop, sockets } = await connect(t, confirmed)
  const { closed } = await opening
  const goodbye = Promise.withResolvers<void>()
  // A close frame begins so (RFC 6455 5.5.1); some of the second question may still come before it.
  sockets[0]?.on('data', (data: Buffer) => {
    if (data.includes(0x88)) goodbye.resolve()
  })
  stop.abort(new Error('stopped'))
  assert.equal(await closed, 'stopped')
  await goodbye.promise
})

test('no connection is opened once its signal is aborted', async () => {
  const options = { url: 'http://127.0.0.1:1', queries: ['a'], timeoutMs: 2_000, silentMs: 2_000 }
  const signal = AbortSignal.abort(new Error('stopped'))
  await assert.rejects(
    openCometSocket(options, () => undefined, signal),
    { message: 'stopped' },
  )
})
