/** What a call to an endpoint ends with where the node or the caller lets it down. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { echoAll, json, never, openBefore, type Respond } from './open-endpoint.ts'

const failures: readonly [string, Respond, string][] = [
  ['never answers', () => {}, 'CHAIN_TIMEOUT'],
  ['stops half-way', (_, response) => void response.write('{"id":1,'), 'CHAIN_TIMEOUT'],
  ['hangs up', (_, response) => void response.destroy(), 'CHAIN_UNREACHABLE'],
  ['answers status 503', (_, response) => json(response, 'busy', 503), 'CHAIN_HTTP_STATUS'],
  ['answers status 401', (_, response) => json(response, 'who?', 401), 'CHAIN_UNAUTHORIZED'],
  ['answers status 403', (_, response) => json(response, 'no', 403), 'CHAIN_UNAUTHORIZED'],
  ['answers status 300', (_, response) => json(response, 'which?', 300), 'CHAIN_HTTP_STATUS'],
  ['answers status 404', (_, response) => json(response, 'where?', 404), 'CHAIN_HTTP_STATUS'],
  ['answers a web page', (_, response) => void response.end('<html>'), 'CHAIN_ANSWER_MALFORMED'],
  ['answers an empty list', (_, response) => json(response, []), 'CHAIN_ANSWER_MALFORMED'],
  ['answers without end', answerForever, 'CHAIN_ANSWER_TOO_LARGE'],
  [
    'announces too much',
    (_, response) => void response.writeHead(200, { 'content-length': 20_000 }).write('{'),
    'CHAIN_ANSWER_TOO_LARGE',
  ],
  [
    'answers an error',
    (_, response) => json(response, { id: 1, error: { code: -32000, message: 'no' } }),
    'CHAIN_RPC_ERROR',
  ],
  [
    'lacks the method',
    (_, response) => json(response, { id: 1, error: { code: -32601, message: 'no' } }),
    'CHAIN_METHOD_MISSING',
  ],
  [
    'answers an error with status 500',
    (_, response) => json(response, { id: 1, error: { code: -32000, message: 'no' } }, 500),
    'CHAIN_RPC_ERROR',
  ],
]

function answerForever(_: unknown, response: ServerResponse): void {
  const write = (): void => {
    if (!response.destroyed) response.write('['.repeat(1_000), () => setImmediate(write))
  }
  write()
}

for (const [name, respond, code] of failures)
  test(`a node that ${name} gives ${code}`, async (t) => {
    const endpoint = await openBefore(t, respond, { timeoutMs: 150 })
    await assert.rejects(endpoint.call({ method: 'x', params: [] }, never), { code })
  })

for (const [how, announced] of [
  ['announced', true],
  ['in pieces, of an unknown length', false],
] as const)
  test(`a response of the largest size is read, one byte more is not: ${how}`, async (t) => {
    const maxResponseBytes = 10_000
    const endpoint = await openBefore(
      t,
      (body, response) => {
        const { id, params } = [body].flat()[0] ?? assert.fail('a call')
        const size = Number(params[0])
        const frame = JSON.stringify({ jsonrpc: '2.0', id, result: '' })
        const text = JSON.stringify({ jsonrpc: '2.0', id, result: 'x'.repeat(size - frame.length) })
        assert.equal(Buffer.byteLength(text), size)
        if (announced) response.setHeader('content-length', size)
        response.write(text.slice(0, 5_000))
        response.end(text.slice(5_000))
      },
      { maxResponseBytes },
    )
    const ask = (bytes: number) => endpoint.call({ method: 'x', params: [bytes] }, never)
    for (const below of [maxResponseBytes - 1, maxResponseBytes])
      assert.match(String(await ask(below)), /^x+$/)
    await assert.rejects(ask(maxResponseBytes + 1), { code: 'CHAIN_ANSWER_TOO_LARGE' })
  })

test('no node at the address gives CHAIN_UNREACHABLE that names host and port, not the path', async (t) => {
  const endpoint = await openBefore(t, echoAll, { url: 'http://127.0.0.1:1/v2/secret-key' })
  await assert.rejects(endpoint.call({ method: 'x', params: [] }, never), (error: Error) => {
    assert.equal('code' in error && error.code, 'CHAIN_UNREACHABLE')
    assert.match(error.message, /127\.0\.0\.1:1/)
    assert.doesNotMatch(error.message, /secret/)
    return true
  })
})

test('an aborted signal ends a call at once with its reason', async (t) => {
  const stop = new AbortController()
  const reason = new Error('stop')
  const endpoint = await openBefore(t, () => stop.abort(reason))
  await assert.rejects(endpoint.call({ method: 'x', params: [] }, stop.signal), reason)
  await assert.rejects(endpoint.call({ method: 'x', params: [] }, stop.signal), reason)
})

test('a call that is given up in the middle of its answer closes the connection', async (t) => {
  const stop = new AbortController()
  const begun = Promise.withResolvers<ServerResponse>()
  const respond: Respond = (_, response) => {
    response.write('{"id":1,')
    begun.resolve(response)
  }
  const endpoint = await openBefore(t, respond, { timeoutMs: 60_000 })
  const call = endpoint.call({ method: 'x', params: [] }, stop.signal)
  const closed = once(await begun.promise, 'close')
  stop.abort()
  await assert.rejects(call, { name: 'AbortError' })
  await closed
})

test('a call that is given up while all connections are in use is never sent', async (t) => {
  const asked: unknown[] = []
  const waiting: (() => void)[] = []
  const endpoint = await openBefore(t, (body, response, request) => {
    asked.push([body].flat()[0]?.params[0])
    if (asked.length > 12) echoAll(body, response, request)
    else waiting.push(() => echoAll(body, response, request))
    if (waiting.length === 12) allInUse.resolve()
  })
  const allInUse = Promise.withResolvers<void>()
  const ask = (param: unknown, signal = never): Promise<unknown> =>
    endpoint.call({ method: 'echo', params: [param] }, signal)
  const first = Array.from({ length: 12 }, () => ask('first'))
  await allInUse.promise
  const stop = new AbortController()
  const given = ask('given up', stop.signal)
  const last = ask('last')
  stop.abort()
  await assert.rejects(given, { name: 'AbortError' })
  for (const answer of waiting) answer()
  await Promise.all([...first, last])
  assert.deepEqual(asked, [...Array(12).fill('first'), 'last'])
})

test('the key header, the path, the query and a user in the address are sent', async (t) => {
  const seen: unknown[] = []
  const respond: Respond = (body, response, request) => {
    seen.push(request.url, request.headers['x-key'], request.headers.authorization)
    echoAll(body, response, request)
  }
  const first = await openBefore(t, respond, { headers: { 'x-key': 'k' }, path: '/v2/abc?d=e' })
  await first.call({ method: 'echo', params: [1] }, never)
  const second = await openBefore(t, respond)
  const url = new URL(`http://${second.label}`)
  url.username = 'user'
  url.password = 'p@ss'
  const third = await openBefore(t, respond, { url: url.href })
  await third.call({ method: 'echo', params: [1] }, never)
  const basic = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
  assert.deepEqual(seen, ['/v2/abc?d=e', 'k', undefined, '/', undefined, basic])
})
