/** Why a registration failed: from the development registry, and from nodes that lie. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openDevelopmentRegistry } from '../../src/devnet/registry/development-registry.ts'
import { findRegistrationFailure } from '../../src/registry/registration-failure.ts'
import { freePorts } from '../support/free-port.ts'
import { first, second } from '../views/vectors.ts'

const never = new AbortController().signal
const refusedBy = 'ABCI code: 1: error handling packet'

async function openRegistry(t: TestContext) {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const register = ({ sender, wire }: { sender: string; wire: string }): Promise<string> =>
    registry.register(sender, new Uint8Array(Buffer.from(wire, 'hex')))
  const find = (address: string, url = registry.cometUrl) =>
    findRegistrationFailure(url, address, never)
  return { registry, register, find }
}

test('a refusal and a time-out are told apart, each with the words of the chain', async (t) => {
  const { registry, register, find } = await openRegistry(t)
  const refused = await register(first)
  const late = await register(second)
  assert.equal(await find(refused), null)
  await registry.settle({ failed: [refused], timedOut: [late] })
  const { height, ...found } = (await find(refused)) ?? { height: 0 }
  assert.deepEqual(found, { kind: 'refused', error: refusedBy })
  assert.deepEqual(await find(late), { kind: 'timedOut', error: 'ICA packet timed out', height })
})

test('of several failures of a View the last one is found', async (t) => {
  const { registry, register, find } = await openRegistry(t)
  const address = await register(first)
  await registry.settle({ failed: [address] })
  const before = await find(address)
  await register(first)
  await registry.settle({ timedOut: [address] })
  const after = await find(address)
  assert.deepEqual([before?.kind, after?.kind], ['refused', 'timedOut'])
  assert.ok((after?.height ?? 0) > (before?.height ?? 0))
})

test('the URL of a subscription, with /websocket at its end, is asked as well', async (t) => {
  const { registry, register, find } = await openRegistry(t)
  const address = await register(first)
  await registry.settle({ failed: [address] })
  for (const end of ['/', '/websocket', '/websocket/'])
    assert.equal((await find(address, `${registry.cometUrl}${end}`))?.kind, 'refused')
})

/** A node that answers everything so. */
async function serve(t: TestContext, status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const address = `0x${'11'.repeat(20)}`
const eventOf = (of: string, error: unknown, how = 'failed') => ({
  type: `view.view_registration_${how}`,
  attributes: [
    { key: 'address', value: of },
    { key: 'error', value: error },
  ],
})
/** Of either kind, so that nothing but what is wrong with it is missing. */
const eventsOf = (of: string) => [eventOf(of, 'x'), eventOf(of, 'x', 'timed_out')]
const answerOf = (height: unknown, ...events: unknown[]): string =>
  JSON.stringify({ result: { txs: [{ height, tx_result: { events } }] } })

for (const [what, status, body, code] of [
  ['an error of its own', 500, '{"error":{"code":-32603}}', 'REGISTRY_REFUSED'],
  ['a status alone', 503, '{}', 'REGISTRY_REFUSED'],
  ['no JSON', 200, '<html>', 'REGISTRY_ANSWER_MALFORMED'],
  ['no list', 200, '{"result":{}}', 'REGISTRY_ANSWER_MALFORMED'],
  ['a transaction without the event', 200, answerOf('7'), 'REGISTRY_ANSWER_MALFORMED'],
  [
    'the event of another View',
    200,
    answerOf('7', ...eventsOf('0x1')),
    'REGISTRY_ANSWER_MALFORMED',
  ],
  [
    'a height of 16 digits',
    200,
    answerOf('9'.repeat(16), ...eventsOf(address)),
    'REGISTRY_ANSWER_MALFORMED',
  ],
  ['no height', 200, answerOf(7, ...eventsOf(address)), 'REGISTRY_ANSWER_MALFORMED'],
  ['too many values', 200, `[${'0,'.repeat(20_000)}0]`, 'REGISTRY_ANSWER_TOO_LARGE'],
  ['too much', 200, ' '.repeat(16 * 1024 * 1024 + 1), 'REGISTRY_ANSWER_TOO_LARGE'],
] as const)
  test(`a node that answers with ${what} fails with ${code}`, async (t) => {
    const url = await serve(t, status, body)
    await assert.rejects(findRegistrationFailure(url, address, never), { code })
  })

test('an answer that is no JSON is told from one that lacks something, and from none in time', async (t) => {
  for (const [body, what] of [
    ['<html>', 'it is not JSON'],
    ['{"result":{}}', 'it has no list of transactions'],
  ] as const)
    await assert.rejects(findRegistrationFailure(await serve(t, 200, body), address, never), {
      message: new RegExp(` is not usable: ${what}$`),
    })
  const late = AbortSignal.abort(new DOMException('too late', 'TimeoutError'))
  t.mock.method(AbortSignal, 'timeout', () => late)
  await assert.rejects(findRegistrationFailure('http://127.0.0.1:1', address, never), {
    code: 'REGISTRY_UNREACHABLE',
    message: /does not answer: too late/,
  })
})

test('a refusal says the code or the status of the answer', async (t) => {
  for (const [status, body, what, facts] of [
    [500, '{"error":{"code":-32603}}', 'a search for a transaction', { rpcCode: -32603 }],
    [200, '{"error":{"code":"x"}}', 'a search for a transaction', { rpcCode: null }],
    [503, '{}', 'HTTP status 503', { status: 503 }],
  ] as const) {
    const url = await serve(t, status, body)
    const endpoint = new URL(url).host
    await assert.rejects(findRegistrationFailure(url, address, never), {
      message: `the registry chain at ${endpoint} refuses: ${what}`,
      facts: { endpoint, ...facts },
    })
  }
})

test('the newest transaction of each kind is asked for, with the password of the URL', async (t) => {
  const asked: unknown[] = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const { method, params } = JSON.parse(text)
    const { authorization, 'content-type': type } = request.headers
    asked.push([request.method, request.url, authorization, type, method, params])
    response.end(
      answerOf(
        '9'.repeat(15),
        eventOf(address, 'of another kind', 'retried'),
        eventOf('0x1', 'of another View'),
        ...[eventOf(address, 'x'), eventOf(address, 'y', 'timed_out')],
      ),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://user:secret@127.0.0.1:${port}/rpc/websocket?key=1`
  assert.deepEqual(await findRegistrationFailure(url, address, never), {
    kind: 'refused',
    error: 'x',
    height: 999_999_999_999_999,
  })
  const authorization = `Basic ${Buffer.from('user:secret').toString('base64')}`
  const expected = ['failed', 'timed_out'].map((how) => {
    const query = `view.view_registration_${how}.address='${address}'`
    const params = { query, order_by: 'desc', page: '1', per_page: '1' }
    return ['POST', '/rpc/?key=1', authorization, 'application/json', 'tx_search', params]
  })
  assert.deepEqual(
    asked.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    expected,
  )
})

test('a node that is not there is unreachable, and a stopped search ends with its reason', async () => {
  const [port = 0] = await freePorts(1)
  const url = `http://user:secret@127.0.0.1:${port}`
  await assert.rejects(findRegistrationFailure(url, address, never), {
    code: 'REGISTRY_UNREACHABLE',
    message: /^the registry chain at 127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/,
  })
  const reason = new Error('stopped')
  await assert.rejects(findRegistrationFailure(url, address, AbortSignal.abort(reason)), reason)
})

test('of a reason no more than 1,000 characters are taken, and one that is not text is empty', async (t) => {
  for (const [error, length] of [
    ['x'.repeat(1_001), 1_000],
    [7, 0],
  ] as const) {
    const events = ['failed', 'timed_out'].map((how) => eventOf(address, error, how))
    const url = await serve(t, 200, answerOf('7', ...events))
    assert.equal((await findRegistrationFailure(url, address, never))?.error.length, length)
  }
})
