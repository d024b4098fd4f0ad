import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { runningTimers } from '../support/leaks/timers.ts'
import { metricValue } from '../support/metric-value.ts'
import {
  callsOf,
  echo,
  echoAll,
  json,
  never,
  openBefore,
  type Respond,
  results,
} from './open-endpoint.ts'

test('no calls have no outcomes, and the node is not asked', async (t) => {
  const endpoint = await openBefore(t, () => assert.fail('it was asked'))
  assert.deepEqual(await endpoint.calls([], never), [])
})

test('many calls travel in batches of bounded size and come back in order', async (t) => {
  const sizes: number[] = []
  const endpoint = await openBefore(t, (body, response, request) => {
    sizes.push([body].flat().length)
    echoAll(body, response, request)
  })
  assert.deepEqual(await endpoint.calls(callsOf(20), never), results(20))
  assert.deepEqual(sizes.toSorted(), [4, 8, 8])
})

test('calls are counted by method, and the bytes of their answers', async (t) => {
  const registry = new Registry()
  let bytes = 0
  const respond: Respond = (body, response) => {
    const answer = JSON.stringify(Array.isArray(body) ? body.map(echo) : echo(body))
    bytes += answer.length
    response.end(answer)
  }
  const endpoint = await openBefore(t, respond, {}, registry)
  await endpoint.calls(callsOf(9), never)
  await endpoint.call({ method: 'once', params: [1] }, never)
  const calls = (method: string) => metricValue(registry, 'viewmesh_chain_calls_total', { method })
  assert.deepEqual([await calls('echo'), await calls('once')], [9, 1])
  assert.equal(await metricValue(registry, 'viewmesh_chain_answer_bytes_total'), bytes)
})

test('calls that are given up end with the reason, though some were answered', async (t) => {
  const stop = new AbortController()
  const reason = new Error('stopped')
  const respond: Respond = (body, response, request) => {
    const [call] = [body].flat()
    if (call?.id === 1) echoAll(body, response, request)
    // Four are sent at once, so the fifth one is only sent after an answer.
    else if (call?.id === 5) stop.abort(reason)
  }
  const endpoint = await openBefore(t, respond, { maxBatch: 1 })
  await assert.rejects(endpoint.calls(callsOf(6), stop.signal), reason)
})

for (const [name, refuse] of [
  ...[-32600, -32601, -32700].map((code): [string, (response: ServerResponse) => void] => [
    `error ${code}`,
    (response) => json(response, { id: null, error: { code, message: 'no' } }),
  ]),
  [
    'an error that speaks of batches',
    (response) =>
      json(response, { id: null, error: { code: -32000, message: 'too many calls in one' } }),
  ],
  ['status 413', (response) => json(response, 'too large', 413)],
  ['status 400', (response) => json(response, { error: 'bad request' }, 400)],
] satisfies [string, (response: ServerResponse) => void][])
  test(`a node that refuses batches with ${name} gets single calls from then on`, async (t) => {
    let refusals = 0
    const registry = new Registry()
    const respond: Respond = (body, response, request) => {
      if (!Array.isArray(body)) return echoAll(body, response, request)
      refusals++
      refuse(response)
    }
    const endpoint = await openBefore(t, respond, {}, registry)
    assert.deepEqual(await endpoint.calls(callsOf(20), never), results(20))
    assert.equal(await metricValue(registry, 'viewmesh_chain_batch_limit'), 1)
    const first = refusals
    assert.deepEqual(await endpoint.calls(callsOf(20), never), results(20))
    assert.ok(first > 0)
    assert.equal(refusals, first)
  })

test('a node that takes small batches gets small batches', async (t) => {
  const endpoint = await openBefore(t, (body, response, request) => {
    if (Array.isArray(body) && body.length > 3)
      return json(response, [
        { id: body[0]?.id, error: { code: -32600, message: 'batch too large' } },
      ])
    echoAll(body, response, request)
  })
  const outcomes = await endpoint.calls(callsOf(8), never)
  assert.equal(outcomes[1]?.kind, 'missing')
  await endpoint.calls(callsOf(4), never)
  assert.deepEqual(await endpoint.calls(callsOf(8), never), results(8))
})

test('a rate limit in response to a batch does not end batches', async (t) => {
  let limited = true
  const sizes: number[] = []
  const endpoint = await openBefore(t, (body, response, request) => {
    sizes.push([body].flat().length)
    if (!limited) return echoAll(body, response, request)
    limited = false
    json(response, { id: null, error: { code: -32005, message: 'rate limit' } })
  })
  await assert.rejects(endpoint.calls(callsOf(8), never), { code: 'CHAIN_RPC_ERROR' })
  await endpoint.calls(callsOf(8), never)
  assert.deepEqual(sizes, [8, 8])
})

const shrinking: readonly [string, Respond, number][] = [
  ['answers status 503', (_, response) => json(response, 'busy', 503), 4],
  ['answers a web page', (_, response) => void response.end('<html>'), 4],
  ['answers status 401', (_, response) => json(response, 'who?', 401), 8],
  ['hangs up', (_, response) => void response.destroy(), 8],
]
for (const [name, respond, size] of shrinking)
  test(`a node that ${name} three times gets batches of ${size} from then on`, async (t) => {
    const registry = new Registry()
    const endpoint = await openBefore(t, respond, {}, registry)
    const limit = () => metricValue(registry, 'viewmesh_chain_batch_limit')
    for (let failed = 0; failed < 3; failed++) {
      assert.equal(await limit(), 8)
      await assert.rejects(endpoint.calls(callsOf(8), never))
    }
    assert.equal(await limit(), size)
  })

test('batches that became smaller grow again after fifty that are answered', async (t) => {
  const registry = new Registry()
  let failing = 3
  const respond: Respond = (body, response, request) =>
    failing-- > 0 ? json(response, 'busy', 503) : echoAll(body, response, request)
  const endpoint = await openBefore(t, respond, {}, registry)
  const limit = () => metricValue(registry, 'viewmesh_chain_batch_limit')
  for (let failed = 0; failed < 3; failed++) await assert.rejects(endpoint.calls(callsOf(8), never))
  for (let answered = 0; answered < 50; answered++) {
    assert.equal(await limit(), 4)
    await endpoint.calls(callsOf(4), never)
  }
  assert.equal(await limit(), 8)
})

test('after a batch that fails no further one is sent', async (t) => {
  let requests = 0
  const endpoint = await openBefore(t, (_, response) => {
    requests++
    json(response, 'busy', 503)
  })
  await assert.rejects(endpoint.calls(callsOf(80), never), { code: 'CHAIN_HTTP_STATUS' })
  assert.equal(requests, 4)
})

test('the outcomes of batches that are answered are kept where another one fails', async (t) => {
  const endpoint = await openBefore(t, (body, response, request) => {
    const [first] = [body].flat()
    if (first?.params[0] === 8) return json(response, 'busy', 503)
    echoAll(body, response, request)
  })
  const outcomes = await endpoint.calls(callsOf(16), never)
  assert.deepEqual(outcomes, [...results(8), ...Array(8).fill({ kind: 'missing' })])
})

test('a call that is answered leaves no timer behind, and nothing at its signal', async (t) => {
  const endpoint = await openBefore(t, echoAll, { timeoutMs: 60_000 })
  const { signal } = new AbortController()
  const before = runningTimers()
  const call = endpoint.call({ method: 'echo', params: [1] }, signal)
  assert.equal(runningTimers(), before + 1)
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  await call
  assert.equal(runningTimers(), before)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('calls of one endpoint are numbered from 1 on', async (t) => {
  const ids: number[] = []
  const endpoint = await openBefore(t, (body, response, request) => {
    ids.push(...[body].flat().map(({ id }) => id))
    echoAll(body, response, request)
  })
  await endpoint.calls(callsOf(3), never)
  await endpoint.call({ method: 'echo', params: [1] }, never)
  assert.deepEqual(ids, [1, 2, 3, 4])
})

test('the error of an answer with a status is read where it is shorter than 10,000 characters', async (t) => {
  const answer = (length: number): string =>
    JSON.stringify({ id: 1, error: { code: -32000, message: 'no' } }).padEnd(length)
  for (const [length, code] of [
    [9_999, 'CHAIN_RPC_ERROR'],
    [10_000, 'CHAIN_HTTP_STATUS'],
  ] as const) {
    const respond: Respond = (_, response) => void response.writeHead(500).end(answer(length))
    const endpoint = await openBefore(t, respond)
    await assert.rejects(endpoint.call({ method: 'x', params: [] }, never), { code })
  }
})

test('batches that are given up do not become smaller', async (t) => {
  const registry = new Registry()
  let stop = new AbortController()
  const endpoint = await openBefore(t, () => stop.abort(), {}, registry)
  for (let given = 0; given < 3; given++) {
    stop = new AbortController()
    await assert.rejects(endpoint.calls(callsOf(8), stop.signal), { name: 'AbortError' })
  }
  assert.equal(await metricValue(registry, 'viewmesh_chain_batch_limit'), 8)
})
