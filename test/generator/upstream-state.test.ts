/** A head that stands still is reported: by the time since which it is the head, and by a gauge of its age. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { UpstreamFailure } from '../../src/chain/upstream.ts'
import { ServiceError } from '../../src/errors.ts'
import { type UpstreamState, watchUpstream } from '../../src/generator/read/upstream-state.ts'
import { createGeneratorStatus, declareGauges } from '../../src/generator/status.ts'
import { captureLog } from '../support/captured-log.ts'
import { metricValue } from '../support/metric-value.ts'

const node = { mode: () => 'http' as const, failure: () => null }

test('the time of a head is that at which it came, and stays while none follows', (t) => {
  const states: UpstreamState[] = []
  let nowMs = 1_000
  const report = (state: UpstreamState): void => void states.push(state)
  const watch = watchUpstream(node, { log: captureLog().log, report, nowMs: () => nowMs })
  t.after(watch.close)
  watch.setHead(5)
  nowMs = 9_000
  watch.setFailure(null)
  watch.setHead(5)
  assert.deepEqual(
    states.map(({ head, headSinceMs }) => [head, headSinceMs]),
    [
      [5, 1_000],
      [5, 9_000],
    ],
    'another block of the same height is another head',
  )
})

test('an unusable response is the error until it is over, unless the node gives none at all', (t) => {
  const states: UpstreamState[] = []
  const report = (state: UpstreamState): void => void states.push(state)
  let failure: UpstreamFailure | null = null
  const watched = { mode: node.mode, failure: () => failure }
  const watch = watchUpstream(watched, { log: captureLog().log, report })
  t.after(watch.close)
  const unusable = new ServiceError('PRIMITIVES_BLOCK_MALFORMED', 'no hash', {
    remedy: 'Check it.',
  })
  watch.setFailure(unusable)
  failure = { code: 'CHAIN_TIMEOUT', message: 'no answer' }
  watch.setFailure(unusable)
  failure = null
  watch.setFailure(null)
  assert.deepEqual(
    states.map(({ error }) => error),
    [
      { code: 'PRIMITIVES_BLOCK_MALFORMED', message: 'no hash', remedy: 'Check it.' },
      { code: 'CHAIN_TIMEOUT', message: 'no answer' },
      null,
    ],
  )
})

test('a head that stands still for a minute is logged once, and that it moves again', async (t) => {
  const { log, line, messages } = captureLog()
  let failure: UpstreamFailure | null = null
  let nowMs = 1_000
  let polled = Promise.withResolvers<void>()
  const watched = {
    mode: node.mode,
    failure: () => {
      polled.resolve()
      return failure
    },
  }
  const states: UpstreamState[] = []
  const report = (state: UpstreamState): void => void states.push(state)
  const watch = watchUpstream(watched, { log, report, nowMs: () => nowMs })
  t.after(watch.close)
  nowMs += 60_000
  await polled.promise
  polled = Promise.withResolvers()
  await polled.promise
  assert.deepEqual(messages('warn'), [], 'before the first head none stands still')
  watch.setHead(5)
  nowMs += 59_999
  polled = Promise.withResolvers()
  await polled.promise
  assert.deepEqual(messages('warn'), [])
  failure = { code: 'CHAIN_TIMEOUT', message: 'no answer' }
  nowMs += 1
  polled = Promise.withResolvers()
  await polled.promise
  assert.deepEqual(messages('warn'), [], 'one that does not answer is reported as that')

  failure = null
  const { height, standsMs, remedy } = await line('the head of the execution node stands still')
  assert.deepEqual([height, standsMs], [5, 60_000])
  assert.match(String(remedy), /in sync and has its consensus client/)
  nowMs += 60_000
  polled = Promise.withResolvers()
  await polled.promise
  watch.setHead(6)
  await line('the head of the execution node moves again')
  assert.equal(messages('warn').length, 1)
  assert.deepEqual(
    states.map(({ head, error }) => [head, error?.code]),
    [
      [null, undefined],
      [5, undefined],
      [5, 'CHAIN_TIMEOUT'],
      [5, undefined],
      [6, undefined],
    ],
    'each state is reported once, also what nobody announced',
  )
})

test('/health has the time, and /metrics the age, of the head of a node that stands still', async () => {
  const status = createGeneratorStatus({ chainName: 'Local', chainNetwork: 'Devnet' })
  const registry = new Registry()
  declareGauges(status, registry)
  const age = 'viewmesh_generator_source_head_age_seconds'
  assert.equal(status.state().sourceHeadSinceMs, null)
  assert.doesNotMatch(await registry.metrics(), new RegExp(`^${age} `, 'm'))
  const headSinceMs = Date.now() - 120_000
  status.onUpstream({ head: 7, headSinceMs, mode: 'http', error: null })
  const { sourceHead, sourceHeadSinceMs } = status.state()
  assert.deepEqual([sourceHead, sourceHeadSinceMs], [7, headSinceMs])
  assert.ok((await metricValue(registry, age)) >= 120)
})
