import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { ChainHead } from '../../src/chain/block-reader.ts'
import { type HeadSocket, openHeadSocket } from '../../src/chain/head-socket.ts'

/** RFC 6455 1.3. */
const websocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** One unmasked text frame (RFC 6455 5.2). */
function frame(text: string): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.alloc(body.length < 126 ? 2 : 10)
  head[0] = 0x81
  head[1] = body.length < 126 ? body.length : 127
  if (body.length >= 126) head.writeBigUInt64BE(BigInt(body.length), 2)
  return Buffer.concat([head, body])
}

const head = { number: '0x7', hash: `0x${'AB'.repeat(32)}`, parentHash: `0x${'cd'.repeat(32)}` }
const subscribed = frame('{"jsonrpc":"2.0","id":1,"result":"0x9"}')
const notice = (result: unknown, subscription: string | null = '0x9'): Buffer =>
  frame(JSON.stringify({ method: 'eth_subscription', params: { subscription, result } }))

/** A socket to a server that says `frames` as soon as it is asked for a subscription. */
async function openTo(
  t: TestContext,
  frames: readonly Buffer[],
  timeoutMs = 2_000,
): Promise<{
  opening: Promise<HeadSocket>
  heads: ChainHead[]
  stop: AbortController
  sockets: readonly Socket[]
}> {
  const sockets: Socket[] = []
  const server = createServer().on('upgrade', (request, socket: Socket) => {
    sockets.push(socket)
    const key = `${request.headers['sec-websocket-key']}${websocketGuid}`
    const accept = createHash('sha1').update(key).digest('base64')
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`]
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
    socket.once('data', () => {
      for (const data of frames) socket.write(data)
    })
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const heads: ChainHead[] = []
  const stop = new AbortController()
  const options = { url, headers: {}, timeoutMs }
  const opening = openHeadSocket(options, (found) => heads.push(found), stop.signal)
  t.after(() => {
    stop.abort()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { opening, heads, stop, sockets }
}

test('no connection is opened once its signal is aborted', async () => {
  const options = { url: 'ws://127.0.0.1:1', headers: {}, timeoutMs: 2_000 }
  const signal = AbortSignal.abort(new Error('stopped'))
  await assert.rejects(
    openHeadSocket(options, () => undefined, signal),
    { message: 'stopped' },
  )
})

test('heads of our own subscription are reported, in lower case', async (t) => {
  const bad = notice('the last one ends it')
  const others = [notice(head, '0x8'), notice(head, null), frame('{"id":2,"result":null}')]
  const early = [notice(head, null), notice(head)]
  const frames = [...early, subscribed, ...others, notice(head), bad]
  const { opening, heads, stop } = await openTo(t, frames)
  await (await opening).closed
  assert.deepEqual(getEventListeners(stop.signal, 'abort'), [])
  assert.deepEqual(heads, [
    { number: 7, hash: head.hash.toLowerCase(), parentHash: head.parentHash },
  ])
})

const endings: readonly [string, Buffer, RegExp][] = [
  ['text that is no JSON', frame('<html>'), /JSON/],
  ['JSON that is no object', frame('null'), /null/],
  ['a head without a hash', notice({ number: '0x7' }), /without a hash/],
  ['more bytes than a head can have', notice({ ...head, extra: 'x'.repeat(300_000) }), /too long/],
]

for (const [name, data, reason] of endings)
  test(`${name} ends the socket, with a reason`, async (t) => {
    const { opening, heads } = await openTo(t, [subscribed, data])
    assert.match(await (await opening).closed, reason)
    assert.deepEqual(heads, [])
  })

test('a node that refuses the subscription is no source of heads', async (t) => {
  const refusal = frame('{"id":1,"error":{"code":-32601,"message":"no notifications here"}}')
  const { opening } = await openTo(t, [refusal])
  await assert.rejects(opening, { code: 'CHAIN_UNREACHABLE', message: /no notifications here/ })
})

test('of a long refusal of the subscription the beginning is shown, on one line', async (t) => {
  const message = `no\n\u001b[2J${'x'.repeat(200_000)}`
  const { opening } = await openTo(t, [frame(JSON.stringify({ id: 1, error: { message } }))])
  await assert.rejects(opening, ({ message: shown }: Error) => {
    assert.match(shown, /^no WebSocket at 127\.0\.0\.1:\d+: no \[2Jx{293}…$/)
    return true
  })
})

test('a refusal of the subscription whose message is no text is one like others', async (t) => {
  for (const error of ['null', '7', '{"message":{"toString":1}}']) {
    const { opening } = await openTo(t, [frame(`{"id":1,"error":${error}}`)])
    await assert.rejects(opening, { message: /subscription refused$/ })
  }
})

test('a node that never confirms the subscription times out', async (t) => {
  const { opening } = await openTo(t, [], 50)
  await assert.rejects(opening, { code: 'CHAIN_TIMEOUT' })
})

test('a socket that is subscribed in time stays open after that time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { opening, heads, sockets } = await openTo(t, [subscribed])
  const { closed } = await opening
  t.mock.timers.tick(10_000)
  const [socket] = sockets
  for (const data of [notice(head), notice('the last one ends it')]) socket?.write(data)
  assert.match(await closed, /something else/)
  assert.equal(heads.length, 1)
})

test('an abort ends an open socket, and one that is being opened', async (t) => {
  const open = await openTo(t, [subscribed])
  const socket = await open.opening
  const said = once(open.sockets[0] ?? assert.fail('nobody connected'), 'data')
  open.stop.abort()
  await socket.closed
  const [goodbye] = await said
  // The opcode of a close frame (RFC 6455 5.5.1).
  assert.equal(goodbye[0] & 0x0f, 8)
  const opening = await openTo(t, [])
  opening.stop.abort()
  await assert.rejects(opening.opening, { name: 'AbortError' })
})
