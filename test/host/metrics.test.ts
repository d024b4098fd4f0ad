/** What a Host counts, as Prometheus reads it and under the names that older readers know. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { Outcome } from '../../src/host/apply/outcome.ts'
import { createIntake } from '../../src/host/intake.ts'
import { createHostMetrics } from '../../src/host/metrics.ts'
import { captureLog } from '../support/captured-log.ts'
import { metricValue } from '../support/metric-value.ts'

const work = { verifyMs: 4, applyMs: 3 }
const missing = { from: 1, to: 3 }
const taken = { blocks: 2, transactions: 10, logs: 20, accessListEntries: 4, seals: 3 }
const breach = { kind: 'breach', detail: '', height: null } as const

/** One of each kind, with the label it is counted under. */
const outcomes: { readonly [K in Outcome['kind']]: readonly [Outcome & { kind: K }, string] } = {
  stored: [{ kind: 'stored', height: 5, bottom: 4, top: 5, removed: 1, taken }, 'stored'],
  votes: [{ kind: 'votes', height: 5, seals: 1 }, 'votes'],
  announced: [{ kind: 'announced', height: 9 }, 'announced'],
  held: [{ kind: 'held', height: 5 }, 'held'],
  incomplete: [{ kind: 'incomplete', height: 5, missing }, 'incomplete'],
  detached: [{ kind: 'detached', height: 9 }, 'detached'],
  'too-deep': [{ kind: 'too-deep', height: 5 }, 'too-deep'],
  breach: [{ ...breach, action: 'reject', rule: 'valid-signature' }, 'rejected'],
}

test('every message is counted once by way and outcome, and what was stored by documents', async () => {
  const registry = new Registry()
  const metrics = createHostMetrics(registry, {
    head: () => 5,
    lag: () => null,
    gapBlocks: () => 7,
  })
  for (const [outcome] of Object.values(outcomes)) metrics.message('gossip', outcome, work)
  metrics.message('pull', { ...breach, action: 'ignore', rule: 'something-new' }, work)
  const text = await registry.metrics()
  for (const [, label] of Object.values(outcomes))
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
    'viewmesh_host_removed_blocks_total 1',
    'viewmesh_host_head_height 5',
    'viewmesh_host_lag_blocks Nan',
    'viewmesh_host_gap_blocks 7',
    'viewmesh_host_verify_seconds_count 9',
    'viewmesh_host_verify_seconds_sum 0.036000000000000004',
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
    blocks_received: 9,
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
    block_sig_events_received: 9,
    batch_sig_events_received: 9,
    last_processing_time_ms: 7,
  })
})

test('messages that wait for the writer are counted for as long as they wait', async () => {
  const registry = new Registry()
  const gauges = { head: () => 5, lag: () => null, gapBlocks: () => 0 }
  const { promise: written, resolve: write } = Promise.withResolvers<void>()
  const take = createIntake({
    log: captureLog().log,
    metrics: createHostMetrics(registry, gauges),
    apply: async () => {
      await written
      return { outcome: { kind: 'announced', height: 9 }, work }
    },
    onStored: () => assert.fail(),
    onTooDeep: () => assert.fail(),
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
  const gauges = { head: () => null, lag: () => null, gapBlocks: () => 0 }
  const metrics = createHostMetrics(registry, gauges)
  for (const result of ['whole', 'whole', 'partial', 'failed'] as const) metrics.pulled(result)
  const pieces = (result: string) =>
    metricValue(registry, 'viewmesh_host_pulled_pieces_total', { result })
  assert.deepEqual(
    [await pieces('whole'), await pieces('partial'), await pieces('failed')],
    [2, 1, 1],
  )
})
