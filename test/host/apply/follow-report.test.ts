/** What an operator is told of the signers, word for word, and for how long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFollowReport, type FollowReport } from '../../../src/host/apply/follow-report.ts'
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import type { Signer } from '../../../src/host/fork-choice/counting.ts'
import type { DeepFork } from '../../../src/host/fork-choice/decision.ts'
import { sharedBlock, standOf } from '../../../src/host/fork-choice/stand.ts'
import { branch, createBlockWorld, link } from '../fork-choice/block-world.ts'

type Facts = Parameters<FollowReport['failures']>[1]

/** 0a to 5a are stored, 4b to 6b wait beside them; of 9x nothing is known. */
const world = createBlockWorld()
for (const each of branch('a', 0, 5)) world.store(each)
for (const each of branch('b', 4, 6, '3a')) world.add(each)

/** A signer whose head is a block, heard at a time. */
function signer(identity: string, block: BlockRef | null, heardMs: number | null): Signer {
  const head = block === null ? null : { ...block, nodeHeight: block.number }
  return { identity, head, heardMs }
}

interface Scene {
  /** What is reported at a time, these being the accepted signers. */
  messages(nowMs: number, signers: readonly Signer[], more?: Partial<Facts>): string[]
  codes(nowMs: number, signers: readonly Signer[], more?: Partial<Facts>): (string | undefined)[]
}

function openScene(startedMs = 0): Scene {
  const report = createFollowReport(startedMs)
  const failuresOf = (
    nowMs: number,
    signers: readonly Signer[],
    more: Partial<Facts>,
  ): ReturnType<FollowReport['failures']> => {
    const stands = signers.map((each) => standOf(world, each))
    const canonical = sharedBlock(world, stands)
    const said = { signers, counted: signers, stands, canonical }
    const facts: Facts = {
      choice: { ...said, reached: null, horizon: null, fork: null },
      head: 5,
      floor: 0,
      standStill: { forMs: 0, sinceMs: null },
      foreign: [],
      genesis: 'the own chain',
      twice: [],
      ...more,
    }
    return report.failures(world, facts, nowMs)
  }
  return {
    messages: (nowMs, signers, more = {}) =>
      failuresOf(nowMs, signers, more).map(({ code, message }) => `${code} ${message}`),
    codes: (nowMs, signers, more = {}) => failuresOf(nowMs, signers, more).map(({ code }) => code),
  }
}

/** A choice of these signers, with a fork. */
function forked(signers: readonly Signer[], fork: DeepFork): Pick<Facts, 'choice'> {
  const said = { signers, counted: signers, stands: [], canonical: null, reached: null }
  return { choice: { ...said, horizon: null, fork } }
}

const names = Array.from({ length: 11 }, (_, index) => `signer ${index}`)

test('signers on two branches are reported after a minute, until they agree', () => {
  const { codes, messages } = openScene()
  const apart = (nowMs: number): Signer[] => [
    signer('alice', link(5, 'a'), nowMs),
    signer('an identity of many letters', link(6, 'b'), nowMs),
    signer('carol', link(5, 'b'), nowMs),
  ]
  const agreed = [signer('alice', link(5, 'a'), 40_000)]
  assert.deepEqual(codes(0, apart(0)), [])
  assert.deepEqual(codes(40_000, agreed), [])
  assert.deepEqual(codes(50_000, apart(50_000)), [])
  assert.deepEqual(codes(109_999, apart(109_999)), [])
  assert.deepEqual(messages(110_000, apart(110_000)), [
    'HOST_SIGNERS_DISAGREE The accepted signers do not agree: an identity …, carol… on block 6 (6b…); alice… on block 5 (5a…); block 5 (5b…) is shared by most.',
  ])
  assert.deepEqual(codes(120_000, agreed), [])
})

test('a head that no peer serves is reported a minute after the last one that was served', () => {
  const { codes, messages } = openScene()
  const signers = (nowMs: number, block: BlockRef | null): Signer[] => [
    signer('alice', link(5, 'a'), nowMs),
    signer('carol', block, nowMs),
  ]
  assert.deepEqual(codes(30_000, signers(30_000, link(5, 'a'))), [])
  assert.deepEqual(codes(89_999, signers(89_999, link(9, 'x'))), [])
  assert.deepEqual(messages(90_000, signers(90_000, link(9, 'x'))), [
    'HOST_SIGNERS_DISAGREE The accepted signers do not agree: alice… on block 5 (5a…); carol… says block 9 (9x…), which no peer serves; no block is shared by most.',
  ])
  assert.match(messages(91_000, signers(91_000, null)).join(), /carol… says nothing, which no peer/)
  const stored = codes(91_500, signers(91_500, link(9, 'x')), { head: 6 })
  assert.deepEqual(stored, ['HOST_SIGNERS_DISAGREE'], 'though a block has been stored')
  assert.deepEqual(codes(92_000, signers(92_000, link(4, 'a'))), [])
})

test('a Host that catches up reports no head until a minute passes without a block', () => {
  const { codes } = openScene()
  const signers = (nowMs: number): Signer[] => [signer('alice', link(9, 'x'), nowMs)]
  for (let head = 0; head < 5; head += 1)
    assert.deepEqual(codes(head * 60_000, signers(head * 60_000), { head }), [])
  assert.deepEqual(codes(299_999, signers(299_999), { head: 4 }), [])
  assert.deepEqual(codes(300_000, signers(300_000), { head: 4 }), ['HOST_SIGNERS_DISAGREE'])
})

test('a Host that never stored a block reports a head a minute after its start', () => {
  const { codes } = openScene()
  const signers = (nowMs: number): Signer[] => [signer('alice', link(9, 'x'), nowMs)]
  assert.deepEqual(codes(30_000, signers(30_000), { head: -1 }), [])
  assert.deepEqual(codes(60_000, signers(60_000), { head: -1 }), ['HOST_SIGNERS_DISAGREE'])
})

test('a signer that was off the list for a while is given time like a new one', () => {
  const { codes } = openScene()
  const alice = (nowMs: number): Signer => signer('alice', link(5, 'a'), nowMs)
  codes(0, [alice(0), signer('carol', link(5, 'a'), 0)])
  codes(100_000, [alice(100_000)])
  const both = (nowMs: number): Signer[] => [alice(nowMs), signer('carol', link(9, 'x'), nowMs)]
  assert.deepEqual(codes(200_000, both(200_000)), [])
  assert.deepEqual(codes(259_999, both(259_999)), [])
  assert.deepEqual(codes(260_000, both(260_000)), ['HOST_SIGNERS_DISAGREE'])
})

test('a signer below all that is kept is reported as such, and others beside it', () => {
  const { codes, messages } = openScene()
  const signers = (low: number): Signer[] => [
    signer('alice', link(5, 'a'), 60_000),
    signer('carol', link(low, 'x'), 60_000),
  ]
  const floor = 3
  codes(0, signers(2), { floor })
  assert.deepEqual(messages(60_000, signers(2), { floor }), [
    'HOST_SIGNER_BELOW The signer carol… is on block 2 (2x…), below all that is kept here (3 to 5): its chain was begun again, or its node is far behind.',
  ])
  assert.deepEqual(codes(60_000, signers(3), { floor }), ['HOST_SIGNERS_DISAGREE'])
  const third = [...signers(2), signer('dave', link(9, 'x'), 60_000)]
  codes(60_000, third, { floor })
  assert.deepEqual(codes(120_000, third, { floor }), ['HOST_SIGNER_BELOW', 'HOST_SIGNERS_DISAGREE'])
})

test('a branch that has to wait is reported with its depth, one too deep with who is missing', () => {
  const { messages } = openScene()
  const signers = [
    signer('alice', link(6, 'b'), 90_000),
    signer('bob', link(5, 'a'), 90_000),
    signer('carol', link(5, 'a'), 89_999),
    signer('dave', link(9, 'x'), 180_000),
    signer('erin', null, null),
  ]
  const missing = signers.slice(1)
  const target = { ...link(6, 'b'), hash: '0x0123456789abcdef' }
  const fork = { target, depth: 70, missing, isTooDeep: false }
  const said = (isTooDeep: boolean): string | undefined =>
    messages(180_000, signers, forked(signers, { ...fork, isTooDeep }))[0]
  assert.equal(
    said(false),
    'HOST_FORK_DEEP The signers are on a branch to block 6 (0x0123456789…) that leaves the last 70 stored blocks behind; these give way once most of all signers have stood on it for a minute.',
  )
  assert.equal(
    said(true),
    'HOST_FORK_TOO_DEEP The signers that count are on a branch to block 6 (0x0123456789…) that leaves the last 70 stored blocks behind, and that is more than they may decide alone: bob… stands on block 5 (5a…); carol… is silent; dave… stands on no block that is known; erin… is silent.',
  )
})

test('a signer that says nothing is reported after 90 s, counted from when it was accepted', () => {
  const { messages } = openScene(5_000)
  const alice = (heardMs: number | null): Signer => signer('alice', link(5, 'a'), heardMs)
  const bob = signer('bob', link(5, 'a'), null)
  assert.deepEqual(messages(95_000, [alice(null)]), [])
  const never = 'has not been heard since the start.'
  assert.deepEqual(messages(95_001, [alice(null)]), [
    `HOST_SIGNER_SILENT The signer alice… ${never}`,
  ])
  assert.deepEqual(messages(100_000, [alice(100_000), bob]), [])
  assert.deepEqual(messages(190_000, [alice(100_000), bob]), [])
  assert.deepEqual(messages(191_999, [alice(100_000), bob]), [
    'HOST_SIGNER_SILENT The signer alice… has been silent for 91 seconds.',
    `HOST_SIGNER_SILENT The signer bob… ${never}`,
  ])
})

test('a signer of another chain is reported as that, and not as silent too', () => {
  const { messages } = openScene()
  const signers = [signer('alice', null, 0), signer('bob', link(5, 'a'), 0)]
  const foreign = [{ identity: 'alice', genesisHash: 'another chain' }]
  const said = messages(100_000, signers, { ...forked(signers, noFork), foreign })
  assert.deepEqual(
    said.filter((text) => !text.startsWith('HOST_FORK')),
    [
      "HOST_GENESIS_MISMATCH The signer alice… is on another chain of the same name: its block 0 is another chain, the store's is the own chain.",
      'HOST_SIGNER_SILENT The signer bob… has been silent for 100 seconds.',
    ],
  )
})

const noFork: DeepFork = { target: link(6, 'b'), depth: 1, missing: [], isTooDeep: false }

test('a Host that stands still says since when, after a minute and last of all', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-04T12:00:00.900Z') })
  const { messages } = openScene()
  const said = (forMs: number, head: number): string[] =>
    messages(500_000, [], { head, twice: ['bob'], standStill: { forMs, sinceMs: 440_000 } })
  const twice =
    'HOST_SIGNER_TWICE The signer bob… signed two different heads with one sequence: its key runs twice.'
  const rest =
    'has been stored since 2026-03-04T11:59:00Z, while heads of accepted signers went on.'
  assert.deepEqual(said(59_999, 5), [twice])
  assert.deepEqual(said(60_000, 5), [twice, `HOST_STANDS_STILL No block above 5 ${rest}`])
  assert.deepEqual(said(60_000, 0), [twice, `HOST_STANDS_STILL No block above 0 ${rest}`])
  assert.deepEqual(said(60_000, -1), [twice, `HOST_STANDS_STILL No block ${rest}`])
})

test('of many signers with one failure ten are named', () => {
  const { codes } = openScene()
  const count = (found: readonly (string | undefined)[], code: string): number =>
    found.filter((each) => each === code).length
  const lost = names.map((identity) => signer(identity, link(1, 'x'), 0))
  const foreign = names.map((identity) => ({ identity, genesisHash: 'another chain' }))
  const marked = codes(0, lost, { foreign, twice: names })
  assert.equal(count(marked, 'HOST_GENESIS_MISMATCH'), 10)
  assert.equal(count(marked, 'HOST_SIGNER_TWICE'), 10)
  const found = codes(100_000, lost, { floor: 3 })
  assert.equal(count(found, 'HOST_SIGNER_SILENT'), 10)
  assert.equal(count(found, 'HOST_SIGNER_BELOW'), 10)
})
