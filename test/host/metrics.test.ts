/** What a Host counts, as Prometheus reads it and under the names that older readers know. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { Outcome } from '../../src/host/apply/outcome.ts'
import { createHostMetrics, type HostGauges } from '../../src/host/metrics.ts'
import { createIntake } from '../../src/host/sync/intake.ts'
import { captureLog } from '../support/captured-log.ts'
import { metricValue } from '../support/metric-value.ts'

const work = { verifyMs: 4, applyMs: 3 }
const taken = { blocks: 2, transactions: 10, logs: 20, accessListEntries: 4, seals: 3 }
const breach = { kind: 'breach', detail: '', height: null } as const

/** One of each kind, with the label it is counted under. */
const outcomes: readonly (readonly [Outcome, string])[] = [
  [{ kind: 'block', height: 5, isStored: true, seals: 1 }, 'stored'],
  [{ kind: 'block', height: 6, isStored: false, seals: 1 }, 'waiting'],
  [{ kind: 'seals', height: 5, seals: 1 }, 'seals'],
  [{ ...breach, action: 'reject', rule: 'valid-signature' }, 'rejected'],
]

const gauges: HostGauges = {
  head: () => 5,
  lag: () => null,
  gapBlocks: () => 7,
  standsStillSeconds: () => 6,
  signers: () => 3,
  countedSigners: () => 2,
  siblings: () => 4,
  waitingBlocks: () => 1,
  waitingBytes: () => 1_000,
}

test('every message is counted once by way and outcome, and what was stored by documents', async () => {
  const registry = new Registry()
  const metrics = createHostMetrics(registry, gauges)
  for (const [outcome] of outcomes) metrics.message('gossip', outcome, work)
  metrics.message('pull', { ...breach, action: 'ignore', rule: 'something-new' }, work)
  metrics.stored({ bottom: 4, top: 5, removed: 3, taken, viewsDone: [] })
  const nothing = { blocks: 0, transactions: 0, logs: 0, accessListEntries: 0, seals: 0 }
  metrics.stored({ bottom: 6, top: 6, removed: 0, taken: nothing, viewsDone: [] })
  metrics.voteExchange(1)
  metrics.rowVoteExchange(2)
  metrics.head({ kind: 'newer', identity: 'alice', height: 5 })
  metrics.head({ ...breach, action: 'ignore', rule: 'accepted-signer' })
  const text = await registry.metrics()
  for (const [, label] of outcomes)
    assert.match(text, new RegExp(`host_messages_total\\{via="gossip",outcome="${label}"\\} 1`))
  for (const line of [
    'viewmesh_host_messages_total{via="pull",outcome="ignored"} 1',
    'viewmesh_host_broken_rules_total{rule="valid-signature"} 1',
    'viewmesh_host_blocks_processed_total 2',
    'viewmesh_host_transactions_processed_total 10',
    'viewmesh_host_logs_processed_total 20',
    'viewmesh_host_access_list_entries_processed_total 4',
    'viewmesh_host_block_signatures_processed_total 4',
    'viewmesh_host_reorganisations_total 1',
    'viewmesh_host_removed_blocks_total 3',
    'viewmesh_host_head_height 5',
    'viewmesh_host_lag_blocks Nan',
    'viewmesh_host_gap_blocks 7',
    'viewmesh_host_stands_still_seconds 6',
    'viewmesh_host_signers 3',
    'viewmesh_host_counted_signers 2',
    'viewmesh_host_siblings 4',
    'viewmesh_host_waiting_blocks 1',
    'viewmesh_host_waiting_bytes 1000',
    'viewmesh_host_made_up_seals_total 1',
    'viewmesh_host_row_statements_taken_total 2',
    'viewmesh_host_heads_total{outcome="newer"} 1',
    'viewmesh_host_heads_total{outcome="ignored"} 1',
    'viewmesh_host_verify_seconds_count 5',
    'viewmesh_host_verify_seconds_sum 0.02',
    'viewmesh_host_apply_seconds_count 1',
    'viewmesh_host_apply_seconds_sum 0.003',
  ])
    assert.ok(text.includes(`${line}\n`), line)
  assert.deepEqual(metrics.counters(), {
    attestations_created: 4,
    attestation_errors: 1,
    signature_verifications: 5,
    signature_failures: 1,
    documents_received: 36,
    documents_processed: 36,
    blocks_received: 5,
    blocks_processed: 2,
    blocks_per_minute: 2,
    unique_blocks: 2,
    transactions_processed: 10,
    unique_transactions: 10,
    logs_processed: 20,
    unique_logs: 20,
    access_lists_processed: 4,
    unique_access_lists: 4,
    block_signatures_processed: 4,
    batch_signatures_processed: 4,
    block_sig_events_received: 5,
    batch_sig_events_received: 5,
    last_processing_time_ms: 7,
  })
})

test('a Host that was given nothing has counted nothing, under any name', () => {
  const counters = createHostMetrics(new Registry(), gauges).counters()
  assert.deepEqual(new Set(Object.values(counters)), new Set([0]))
})

test('messages that wait for the writer are counted for as long as they wait', async () => {
  const registry = new Registry()
  const { promise: written, resolve: write } = Promise.withResolvers<void>()
  const { take } = createIntake({
    log: captureLog().log,
    metrics: createHostMetrics(registry, gauges),
    writer: {
      receive: async () => {
        await written
        return { outcome: { kind: 'seals', height: 9, seals: 1 }, timings: work }
      },
      receiveHead: () => assert.fail(),
    },
    onFatal: () => assert.fail(),
  })
  const from = { peer: 'alice', via: 'gossip' } as const
  const taken = [take(new Uint8Array(1), from), take(new Uint8Array(2), from)]
  assert.equal(await metricValue(registry, 'viewmesh_host_waiting_messages'), 2)
  write()
  await Promise.all(taken)
  assert.equal(await metricValue(registry, 'viewmesh_host_waiting_messages'), 0)
})

test('pulled pieces are counted by result', async () => {
  const registry = new Registry()
  const metrics = createHostMetrics(registry, gauges)
  for (const result of ['whole', 'whole', 'partial', 'failed'] as const) metrics.pulled(result)
  const pieces = (result: string) =>
    metricValue(registry, 'viewmesh_host_pulled_pieces_total', { result })
  assert.deepEqual(
    [await pieces('whole'), await pieces('partial'), await pieces('failed')],
    [2, 1, 1],
  )
})
