import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import {
  blocksBehind,
  counterNames,
  startingState,
  toFailureReport,
  toHealthReport,
  toMetricsJson,
  toPeerFailureReports,
  uptimeText,
} from '../../../src/service/health/health-report.ts'

/** A program that has run for 61.5 seconds. */
const startedMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
const context = {
  program: 'generator',
  version: '1',
  startedMs,
  nowMs: startedMs + 61_500,
} as const
const starting = startingState('Ethereum', 'Mainnet')

describe('the JSON form of /metrics', () => {
  const none = Object.fromEntries(counterNames.map((name) => [name, 0]))
  const times = {
    timestamp: 1_767_323_106,
    uptime: '1m1.5s',
    uptime_human: '1m1.5s',
    uptime_seconds: 61.5,
  }

  test('has 0 and null before the first block', () => {
    const metrics = {
      ...none,
      most_recent_block: 0,
      start_time: '2026-01-02T03:04:05.006Z',
      last_document_time: null,
    }
    const expected = { ...metrics, metrics, current_block: 0, last_processed_time: null, ...times }
    assert.deepEqual(toMetricsJson(starting, {}, context), expected)
  })

  test('has the last block, its time and the counters of the program', () => {
    const state = { ...starting, head: 7, lastProcessedMs: startedMs + 1_000 }
    const last = '2026-01-02T03:04:06.006Z'
    const metrics = {
      ...none,
      blocks_processed: 3,
      most_recent_block: 7,
      start_time: '2026-01-02T03:04:05.006Z',
      last_document_time: last,
    }
    const expected = { ...metrics, metrics, current_block: 7, last_processed_time: last, ...times }
    assert.deepEqual(toMetricsJson(state, { blocks_processed: 3 }, context), expected)
  })
})

describe('the report of /health', () => {
  test('says for how long the program runs, and leaves out what is not known yet', () => {
    const report = toHealthReport(starting, context)
    const { status, timestamp, uptime, uptime_seconds, p2p } = report
    assert.deepEqual(
      { status, timestamp, uptime, uptime_seconds },
      {
        status: 'unhealthy',
        timestamp: '2026-01-02T03:05:06.506Z',
        uptime: '1m1.5s',
        uptime_seconds: 61.5,
      },
    )
    assert.deepEqual(p2p, { enabled: true, peers: [] })
    for (const name of ['current_block', 'last_processed']) assert.ok(!(name in report), name)
  })
})

test('a unit of the uptime appears with its first whole one', () => {
  const durations = [0, 59_999, 60_000, 3_599_999, 3_600_000]
  assert.deepEqual(durations.map(uptimeText), ['0s', '59.999s', '1m0s', '59m59.999s', '1h0m0s'])
})

test('blocks behind are unknown where a height is, and never below 0', () => {
  assert.deepEqual(
    [blocksBehind(null, 5), blocksBehind(5, null), blocksBehind(5, 8), blocksBehind(8, 5)],
    [null, null, 3, 0],
  )
  assert.equal(blocksBehind(0, 0), 0)
})

test('a failure is reported with its remedy where there is one', () => {
  const remedy = 'Wait.'
  assert.deepEqual(toFailureReport(new ServiceError('CHAIN_UNREACHABLE', 'Gone.', { remedy })), {
    code: 'CHAIN_UNREACHABLE',
    message: 'Gone.',
    remedy,
  })
  assert.deepEqual(toFailureReport(new ServiceError('CHAIN_UNREACHABLE', 'Gone.')), {
    code: 'CHAIN_UNREACHABLE',
    message: 'Gone.',
  })
})

describe('failures of peers are reported', () => {
  test('with the peer, and where or why', () => {
    const facts = { peer: 'Peer', address: '/ip4/10.0.0.2/tcp/1', causes: 'refused' }
    const reports = toPeerFailureReports([
      new ServiceError('P2P_PEER_ID_MISMATCH', 'Another peer', { facts }),
      new ServiceError('P2P_ALL_DIALS_FAILED', 'No connection', { facts }),
      new ServiceError('CHAIN_UNREACHABLE', 'Gone.', { facts }),
    ])
    assert.deepEqual(reports, [
      {
        code: 'P2P_PEER_ID_MISMATCH',
        message: 'Another peer, at /ip4/10.0.0.2/tcp/1',
        expected_peer: 'Peer',
      },
      { code: 'P2P_ALL_DIALS_FAILED', message: 'No connection to the peer Peer: refused' },
      { code: 'CHAIN_UNREACHABLE', message: 'Gone.' },
    ])
  })

  test('up to the tenth', () => {
    const errors = Array.from(
      { length: 11 },
      (_, at) => new ServiceError('CHAIN_UNREACHABLE', `${at}`),
    )
    assert.deepEqual(
      toPeerFailureReports(errors).map(({ message }) => message),
      Array.from({ length: 10 }, (_, at) => `${at}`),
    )
  })
})
