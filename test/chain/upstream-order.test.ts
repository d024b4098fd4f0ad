/** Which URL of several is asked next, what of their failures is said, and when. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import type { Endpoint } from '../../src/chain/endpoint.ts'
import { createChainMetrics } from '../../src/chain/metrics.ts'
import { openUpstream } from '../../src/chain/upstream.ts'
import { type ErrorCode, ServiceError } from '../../src/errors.ts'
import { captureLog } from '../support/captured-log.ts'
import { recordWaits } from '../support/chain/recorded-waits.ts'

const never = new AbortController().signal
const failsLine = 'execution node fails, will try again until it answers'
const againLine = 'execution node answers again'
const anHour = 3_600_000

const uncalled = (): never => assert.fail('attempts of these tests ask no endpoint')
const endpointOf = (label: string): Endpoint => ({
  label,
  calls: uncalled,
  call: uncalled,
  close: async () => undefined,
})

function openOver(
  t: TestContext,
  labels: string,
  { backoffMs = 0, longestMs = 0, pollIntervalMs = 0 } = {},
) {
  const backoff = { minMs: backoffMs, maxMs: Math.max(backoffMs, longestMs) }
  const options = { backoff, pollIntervalMs }
  const captured = captureLog()
  const parts = { log: captured.log, metrics: createChainMetrics(new Registry()) }
  const upstream = openUpstream([...labels].map(endpointOf), options, parts)
  t.after(() => upstream.close())
  return { upstream, ...captured }
}

const failure = (code: ErrorCode, label = ''): ServiceError =>
  new ServiceError(code, `${code} ${label}`)

/** Answers by label of what each attempt in turn throws; without more of them, and for null, it succeeds. */
function attemptsOf(codes: Readonly<Record<string, readonly (ErrorCode | null)[]>>) {
  const asked: string[] = []
  const counts = new Map<string, number>()
  const attempt = async ({ label }: Endpoint): Promise<string> => {
    asked.push(label)
    const count = counts.get(label) ?? 0
    counts.set(label, count + 1)
    const code = codes[label]?.[count] ?? null
    if (code !== null) throw failure(code, label)
    return label
  }
  return { asked, attempt }
}

test('a request whose signal is aborted already asks no URL', async (t) => {
  const { upstream } = openOver(t, 'a')
  const { asked, attempt } = attemptsOf({})
  const reason = new Error('stopped')
  await assert.rejects(upstream.persist('head', attempt, AbortSignal.abort(reason)), reason)
  assert.deepEqual(asked, [])
})

test('closing closes all URLs', async () => {
  const closed: string[] = []
  const endpoints = [...'ab'].map((label) => ({
    ...endpointOf(label),
    close: async () => void closed.push(label),
  }))
  const options = { backoff: { minMs: 0, maxMs: 0 }, pollIntervalMs: 0 }
  const parts = { log: captureLog().log, metrics: createChainMetrics(new Registry()) }
  await openUpstream(endpoints, options, parts).close()
  assert.deepEqual(closed, ['a', 'b'])
})

test('a URL that failed is asked after the others until it has waited', async (t) => {
  const { upstream } = openOver(t, 'abc', { backoffMs: anHour })
  const { asked, attempt } = attemptsOf({ a: ['CHAIN_TIMEOUT'], b: [null, 'CHAIN_TIMEOUT'] })
  for (const answering of ['b', 'c', 'c'])
    assert.equal(await upstream.persist('head', attempt, never), answering)
  assert.equal(asked.join(''), 'abbcc')
})

test('a URL that fails again is left alone for longer', async (t) => {
  const clock = t.mock.method(performance, 'now', () => 0)
  const { upstream } = openOver(t, 'ab', { backoffMs: 1_000, longestMs: anHour })
  const { asked, attempt } = attemptsOf({ a: ['CHAIN_TIMEOUT', 'CHAIN_TIMEOUT'] })
  for (const now of [0, 1_000, 1_999, 3_000]) {
    clock.mock.mockImplementation(() => now)
    await upstream.persist('head', attempt, never)
    asked.push(' ')
  }
  assert.equal(asked.join(''), 'ab ab b a ')
})

test('a URL that has answered since is left alone for as long as after its first failure', async (t) => {
  const clock = t.mock.method(performance, 'now', () => 0)
  const { upstream } = openOver(t, 'ab', { backoffMs: 1_000, longestMs: anHour })
  const { asked, attempt } = attemptsOf({ a: ['CHAIN_TIMEOUT', null, 'CHAIN_TIMEOUT'] })
  for (const now of [0, 1_000, 1_000, 2_000]) {
    clock.mock.mockImplementation(() => now)
    await upstream.persist('head', attempt, never)
    asked.push(' ')
  }
  assert.equal(asked.join(''), 'ab a ab a ')
})

for (const code of [
  'CHAIN_BLOCK_UNAVAILABLE',
  'CHAIN_BLOCK_INCOMPLETE',
  'CHAIN_HEADER_MISMATCH',
] as const)
  test(`a URL whose block fails with ${code} stays the first to be asked`, async (t) => {
    const { upstream } = openOver(t, 'ab', { backoffMs: anHour })
    const { asked, attempt } = attemptsOf({ a: [code, code] })
    for (let request = 0; request < 3; request++) await upstream.persist('block', attempt, never)
    assert.equal(asked.join(''), 'ababa')
  })

test('a block that no node has is asked for at each poll interval, and is no failure', async (t) => {
  const { upstream, lines } = openOver(t, 'a', { backoffMs: anHour, pollIntervalMs: 1 })
  const { asked, attempt } = attemptsOf({ a: Array(5).fill('CHAIN_BLOCK_UNAVAILABLE') })
  const seen: unknown[] = []
  await upstream.persist(
    'block',
    (endpoint) => {
      seen.push(upstream.failure())
      return attempt(endpoint)
    },
    never,
  )
  assert.equal(asked.length, 6)
  assert.deepEqual(seen, Array(6).fill(null))
  assert.deepEqual(
    new Set(lines.map(({ level, code }) => `${level} ${code}`)),
    new Set(['debug CHAIN_BLOCK_UNAVAILABLE']),
  )
})

test('the wait doubles while a node fails; one for a block ends at the next poll', async (t) => {
  const waits = recordWaits(t)
  const { upstream } = openOver(t, 'a', { backoffMs: 10, longestMs: 100, pollIntervalMs: 7 })
  const code = 'CHAIN_BLOCK_UNAVAILABLE'
  const { attempt } = attemptsOf({ a: ['CHAIN_TIMEOUT', 'CHAIN_TIMEOUT', 'CHAIN_TIMEOUT', code] })
  await upstream.persist('block', attempt, never)
  const { attempt: absent } = attemptsOf({ a: [code, code] })
  await upstream.persist('block', absent, never)
  assert.deepEqual(waits, [5, 10, 20, 7, 5, 7])
})

test('a node that fails is left alone for longer than a block is waited for', async (t) => {
  const { upstream } = openOver(t, 'a', { backoffMs: anHour, pollIntervalMs: 1 })
  const stop = new AbortController()
  let failed = 0
  const failing = async (): Promise<never> => {
    failed++
    throw failure('CHAIN_TIMEOUT')
  }
  const ended = assert.rejects(upstream.persist('head', failing, stop.signal), {
    name: 'AbortError',
  })
  const { attempt } = attemptsOf({ a: Array(5).fill('CHAIN_BLOCK_UNAVAILABLE') })
  await upstream.persist('block', attempt, never)
  assert.equal(failed, 1)
  stop.abort()
  await ended
})

test('a failure is said after two rounds, at the level of what is to be done', async (t) => {
  for (const [code, level] of [
    ['CHAIN_TIMEOUT', 'warn'],
    ['CHAIN_UNAUTHORIZED', 'error'],
  ] as const) {
    const { upstream, lines, messages } = openOver(t, 'a')
    const { attempt } = attemptsOf({ a: [code, code, code] })
    const seen: unknown[] = []
    await upstream.persist(
      'block 7',
      (endpoint) => {
        seen.push(upstream.failure())
        return attempt(endpoint)
      },
      never,
    )
    const said = { code, message: `${code} a` }
    assert.deepEqual(seen, [null, null, said, said])
    assert.equal(upstream.failure(), null)
    assert.deepEqual([messages(level), messages('info')], [[failsLine], [againLine]])
    const { what, reason } = lines.find(({ msg }) => msg === failsLine) ?? assert.fail('not said')
    assert.deepEqual([what, reason], ['block 7', `${code} a`])
  }
})

const worse: readonly [ErrorCode, ErrorCode, string | null][] = [
  ['CHAIN_TIMEOUT', 'CHAIN_UNAUTHORIZED', 'CHAIN_TIMEOUT a'],
  ['CHAIN_BLOCK_UNAVAILABLE', 'CHAIN_TIMEOUT', 'CHAIN_TIMEOUT b'],
  ['CHAIN_TIMEOUT', 'CHAIN_BLOCK_UNAVAILABLE', 'CHAIN_TIMEOUT a'],
  ['CHAIN_BLOCK_UNAVAILABLE', 'CHAIN_BLOCK_UNAVAILABLE', null],
]
for (const [first, second, said] of worse)
  test(`of ${first} and ${second} ${said ?? 'nothing'} is said`, async (t) => {
    const { upstream } = openOver(t, 'ab')
    let rounds = 0
    const found = await upstream.persist(
      'block',
      async ({ label }) => {
        if (label === 'a') rounds++
        if (rounds > 2) return upstream.failure()?.message ?? null
        throw failure(label === 'a' ? first : second, label)
      },
      never,
    )
    assert.equal(found, said)
  })

test('of several requests that fail one line is written, and one when the last one is answered', async (t) => {
  const { upstream, lines, messages, line } = openOver(t, 'a')
  const gates = new Map(['x', 'y', 'z'].map((what) => [what, Promise.withResolvers<void>()]))
  const leave = new AbortController()
  const ask = (what: string, signal = never): Promise<string> => {
    let isOpen = false
    void gates.get(what)?.promise.then(() => {
      isOpen = true
    })
    const attempt = async (): Promise<string> => {
      if (isOpen) return what
      throw failure('CHAIN_TIMEOUT', what)
    }
    return upstream.persist(what, attempt, signal)
  }
  const first = ask('x')
  await line(failsLine)
  const second = ask('y')
  const abandoned = ask('z', leave.signal)
  const failedTwice = (what: string): boolean =>
    lines.filter((each) => each.msg === 'attempt failed' && each['what'] === what).length > 2
  for (let number = 1; !failedTwice('y') || !failedTwice('z'); number++)
    await line('attempt failed', number)
  gates.get('x')?.resolve()
  assert.equal(await first, 'x')
  assert.deepEqual(upstream.failure()?.message, 'CHAIN_TIMEOUT y')
  leave.abort()
  await assert.rejects(abandoned, { name: 'AbortError' })
  assert.deepEqual([messages('warn'), messages('info')], [[failsLine], []])
  gates.get('y')?.resolve()
  assert.equal(await second, 'y')
  assert.deepEqual([messages('warn'), messages('info')], [[failsLine], [againLine]])
})

test('the end of an outage is reported with how long it lasted, and reminders come each minute', async (t) => {
  const clock = t.mock.method(performance, 'now', () => 7)
  const setTo = (ms: number) => clock.mock.mockImplementation(() => ms)
  const { upstream, messages, line } = openOver(t, 'a')
  /** What the clock shows at each attempt; the last one succeeds. */
  const times = [1_000, 2_000, 61_999, 62_000, 122_000]
  const said: number[] = []
  const attempt = async (): Promise<void> => {
    said.push(messages('warn').length)
    const now = times.shift()
    if (now === undefined) return
    setTo(now)
    throw failure('CHAIN_TIMEOUT')
  }
  await upstream.persist('head', attempt, never)
  assert.deepEqual(said, [0, 0, 1, 1, 2, 3])
  assert.equal((await line(againLine))['afterMs'], 120_000)
})
