/** What becomes of gossiped blocks and heads on the way to the writer and back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gauge } from 'prom-client'
import type { Outcome } from '../../../src/host/apply/outcome.ts'
import type { HeadOutcome } from '../../../src/host/apply/signer-heads.ts'
import { createIntake } from '../../../src/host/sync/intake.ts'
import { captureLog } from '../../support/captured-log.ts'

const timings = { verifyMs: 1, applyMs: 2 }
const breach = { kind: 'breach', detail: 'so it is', height: 5 } as const
const refused = { ...breach, action: 'reject', rule: 'valid-signature' } as const
const ignored = { ...breach, action: 'ignore', rule: 'something-new' } as const
const gossiped = { peer: 'the peer', via: 'gossip' } as const

/** Takes one block and one head in, whose writer says this of them, or fails. */
function takeIn(outcome: Outcome | Error, head?: HeadOutcome) {
  const captured = captureLog()
  const forwarded: boolean[] = []
  const counted: unknown[] = []
  const fatal: unknown[] = []
  const waiting = new Gauge({ name: 'waiting', help: 'Waiting messages.', registers: [] })
  const intake = createIntake({
    log: captured.log,
    metrics: {
      message: (via, seen, work) => void counted.push([via, seen, work]),
      head: (seen) => void counted.push(['head', seen]),
      waiting,
    },
    writer: {
      receive: async (_bytes, isForwarded) => {
        forwarded.push(isForwarded)
        if (outcome instanceof Error) throw outcome
        return { outcome, timings }
      },
      receiveHead: async () => {
        if (outcome instanceof Error) throw outcome
        return head ?? assert.fail()
      },
    },
    onFatal: (error) => void fatal.push(error),
  })
  const waits = async (): Promise<unknown> => (await waiting.get()).values[0]?.value
  return { intake, captured, forwarded, counted, fatal, waits }
}

test('what was new of a gossiped message makes its sender one that has the block', async () => {
  for (const outcome of [
    { kind: 'block', height: 5, isStored: false, seals: 1 },
    { kind: 'seals', height: 5, seals: 1 },
  ] as const) {
    const { intake, counted, forwarded, captured, waits } = takeIn(outcome)
    const verdict = await intake.onBlock(new Uint8Array(1), gossiped)
    assert.deepEqual(verdict, { action: 'accept', height: 5 })
    assert.deepEqual(counted, [['gossip', outcome, timings]])
    assert.deepEqual([forwarded, await waits()], [[true], 0])
    assert.deepEqual(captured.messages('warn'), [])
  }
})

test('a pulled block is not forwarded, and goes to the writer as such', async () => {
  const outcome = { kind: 'seals', height: 5, seals: 1 } as const
  const { intake, counted, forwarded } = takeIn(outcome)
  assert.equal(await intake.take(new Uint8Array(1), { peer: 'the peer', via: 'pull' }), outcome)
  assert.deepEqual([forwarded, counted], [[false], [['pull', outcome, timings]]])
})

test('only what every node must refuse is a warning, with the rule that it breaks', async () => {
  const bad = takeIn(refused, refused)
  const reason = 'valid-signature: so it is'
  assert.deepEqual(await bad.intake.onBlock(new Uint8Array(1), gossiped), {
    action: 'reject',
    reason,
  })
  assert.deepEqual(await bad.intake.onHead(new Uint8Array(1), gossiped), {
    action: 'reject',
    reason,
  })
  assert.deepEqual(bad.captured.messages('warn'), ['block rejected', 'head rejected'])
  const { peer, via, rule, detail, height } = await bad.captured.line('head rejected')
  assert.deepEqual(
    { peer, via, rule, detail, height },
    { ...gossiped, rule: 'valid-signature', detail: 'so it is', height: 5 },
  )

  const old = takeIn(ignored, ignored)
  const passed = { action: 'ignore', reason: 'something-new: so it is' }
  assert.deepEqual(await old.intake.onBlock(new Uint8Array(1), gossiped), passed)
  assert.deepEqual(await old.intake.onHead(new Uint8Array(1), gossiped), passed)
  assert.deepEqual(old.captured.messages('warn'), [])
})

test('the newest head of a signer is forwarded and counted', async () => {
  const head = { kind: 'newer', identity: 'alice', height: 9 } as const
  const { intake, counted, captured } = takeIn(refused, head)
  assert.deepEqual(await intake.onHead(new Uint8Array(1), gossiped), {
    action: 'accept',
    height: 9,
  })
  assert.deepEqual([counted, captured.messages('warn')], [[['head', head]], []])
})

test('where the store fails the Host ends, and blames no sender', async () => {
  const failure = new Error('no room')
  const { intake, fatal, waits } = takeIn(failure)
  const passed = { action: 'ignore', reason: 'the Host is closing' }
  assert.deepEqual(await intake.onBlock(new Uint8Array(1), gossiped), passed)
  assert.deepEqual(await intake.onHead(new Uint8Array(1), gossiped), passed)
  assert.deepEqual([fatal, await waits()], [[failure, failure], 0])
  await assert.rejects(intake.take(new Uint8Array(1), gossiped), failure)
})
