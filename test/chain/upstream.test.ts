import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { type Endpoint, openEndpoint } from '../../src/chain/endpoint.ts'
import { createChainMetrics } from '../../src/chain/metrics.ts'
import { openUpstream } from '../../src/chain/upstream.ts'
import { captureLog } from '../support/captured-log.ts'
import { runningTimers } from '../support/leaks/timers.ts'
import { metricValue } from '../support/metric-value.ts'

const never = new AbortController().signal
const unforeseen = new TypeError('Cannot convert object to primitive value')

/** An upstream of endpoints at which nobody listens; a test's attempts do not use them. */
function openOver(t: TestContext, labels: readonly string[]) {
  const registry = new Registry()
  const metrics = createChainMetrics(registry)
  const { log, line, messages } = captureLog()
  const bounds = { timeoutMs: 1_000, maxResponseBytes: 1_000, maxBatch: 1 }
  const endpoints = labels.map((label) =>
    openEndpoint({ url: `http://${label}`, headers: {}, ...bounds }, { metrics }),
  )
  const options = { backoff: { minMs: 1, maxMs: 1 }, pollIntervalMs: 1 }
  const upstream = openUpstream(endpoints, options, { log, metrics })
  t.after(() => upstream.close())
  return { upstream, registry, line, messages }
}

test('after an error without a code another URL is tried', async (t) => {
  const { upstream, registry, line } = openOver(t, ['127.0.0.1:1', '127.0.0.1:2'])
  const attempt = async ({ label }: Endpoint): Promise<string> => {
    if (label === '127.0.0.1:1') throw unforeseen
    return label
  }
  assert.equal(await upstream.persist('head', attempt, never), '127.0.0.1:2')
  const code = 'CHAIN_ANSWER_MALFORMED'
  assert.equal(await metricValue(registry, 'viewmesh_chain_failures_total', { code }), 1)
  const { endpoint, err } = await line('attempt failed')
  assert.equal(endpoint, '127.0.0.1:1')
  assert.equal((err as TypeError).message, unforeseen.message)
})

test('an error without a code at the only URL is a failure that lasts until an answer', async (t) => {
  const { upstream, line } = openOver(t, ['127.0.0.1:1'])
  let isMended = false
  const answer = upstream.persist(
    'head',
    async () => {
      if (!isMended) throw unforeseen
      return 7
    },
    never,
  )
  await line('execution node fails, will try again until it answers')
  assert.deepEqual(upstream.failure(), {
    code: 'CHAIN_ANSWER_MALFORMED',
    message: '127.0.0.1:1 answered what fails: Cannot convert object to primitive value',
    remedy: 'Check the execution node; the log has the cause at the level debug.',
  })
  isMended = true
  assert.equal(await answer, 7)
  assert.equal(upstream.failure(), null)
})

test('an answer is late where the last URL that is left takes long', async (t) => {
  const { upstream, line } = openOver(t, ['127.0.0.1:1', '127.0.0.1:2'])
  const late = Promise.withResolvers<number>()
  const attempt = async ({ label }: Endpoint): Promise<number> => {
    if (label === '127.0.0.1:2') return await late.promise
    throw unforeseen
  }
  const answer = upstream.persist('head', attempt, never, 10)
  await line('execution node fails, will try again until it answers')
  const { code, message } = upstream.failure() ?? assert.fail('it is not late')
  assert.equal(code, 'CHAIN_TIMEOUT')
  assert.equal(message, '127.0.0.1:2 did not answer within 10 ms')
  late.resolve(7)
  assert.equal(await answer, 7)
  assert.equal(upstream.failure(), null)
})

test('an answer is late after its time at the only URL, and at no other one before the last', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const [labels, code] of [
    [['127.0.0.1:1'], 'CHAIN_TIMEOUT'],
    [['127.0.0.1:1', '127.0.0.1:2'], undefined],
  ] as const) {
    const { upstream } = openOver(t, labels)
    const slow = Promise.withResolvers<number>()
    const answer = upstream.persist('head', () => slow.promise, never, 10)
    t.mock.timers.tick(9)
    assert.equal(upstream.failure(), null)
    t.mock.timers.tick(1)
    assert.equal(upstream.failure()?.code, code)
    slow.resolve(7)
    assert.equal(await answer, 7)
  }
})

test('a request that is given up while its answer is late was not answered', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { upstream, messages } = openOver(t, ['127.0.0.1:1'])
  const slow = Promise.withResolvers<number>()
  const stop = new AbortController()
  const answer = upstream.persist('head', () => slow.promise, stop.signal, 10)
  t.mock.timers.tick(10)
  assert.equal(messages('warn').length, 1)
  const reason = new Error('stop')
  stop.abort(reason)
  slow.reject(unforeseen)
  await assert.rejects(answer, reason)
  assert.deepEqual([messages('info'), upstream.failure()], [[], null])
})

test('an answer leaves no timer behind that would call it late', async (t) => {
  const { upstream } = openOver(t, ['127.0.0.1:1'])
  const before = runningTimers()
  const attempt = async (): Promise<number> => runningTimers()
  assert.equal(await upstream.persist('head', attempt, never, 60_000), before)
  assert.equal(runningTimers(), before)
})

test('of a long error without a code the first 300 characters are said', async (t) => {
  const { upstream, line } = openOver(t, ['127.0.0.1:1', '127.0.0.1:2'])
  const attempt = async ({ label }: Endpoint): Promise<string> => {
    if (label === '127.0.0.1:1') throw new TypeError('x'.repeat(301))
    return label
  }
  await upstream.persist('head', attempt, never)
  const { reason } = await line('attempt failed')
  assert.equal(reason, `127.0.0.1:1 answered what fails: ${'x'.repeat(300)}…`)
})

test('an abort ends an attempt with its reason, whatever the attempt throws', async (t) => {
  const { upstream } = openOver(t, ['127.0.0.1:1'])
  const stop = new AbortController()
  const reason = new Error('stop')
  const attempt = async (): Promise<never> => {
    stop.abort(reason)
    throw unforeseen
  }
  await assert.rejects(upstream.persist('head', attempt, stop.signal), reason)
})
