/** What is asked of whom, and when again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { pieceBlocks, type Want } from '../../../src/host/fork-choice/wants.ts'
import {
  afterPull,
  nextChangeMs,
  nextPull,
  type PeerBackoff,
  type PlanFacts,
  type PlanPeer,
  type Pull,
  pullBackoff,
  type RecentPull,
  servedFrom,
  slowPullMs,
  withBackoff,
  withoutBackoff,
  withoutBackoffsOf,
  withRecentPull,
} from '../../../src/host/sync/pull-plan.ts'

function peer(id: string, more: Partial<PlanPeer> = {}): PlanPeer {
  const announced = { tail: 0, head: 1_000 }
  return { id, announced, signer: null, bootstrap: false, verified: false, ...more }
}

function want(from: number, to: number, purpose = 'A'): Want {
  return { from, to, hash: `hash of ${to}`, root: null, purpose }
}

const planned = (facts: Partial<PlanFacts>): Pull | null =>
  nextPull({
    wants: [],
    peers: [],
    backoffs: [],
    running: [],
    recentPulls: [],
    nowMs: 1_000,
    ...facts,
  })
const textOf = (pull: Pull | null): string =>
  pull === null ? 'nothing' : `${pull.from} to ${pull.to} of ${pull.peer}`
const plan = (
  wants: readonly Want[],
  peers: readonly PlanPeer[],
  backoffs: readonly PeerBackoff[] = [],
  running: readonly Pull[] = [],
): string => textOf(planned({ wants, peers, backoffs, running }))

/** The pulls that begin where nothing runs yet, one after the other. */
function begun(facts: Pick<PlanFacts, 'wants' | 'peers'> & Partial<PlanFacts>): Pull[] {
  const running = [...(facts.running ?? [])]
  let recentPulls: readonly RecentPull[] = facts.recentPulls ?? []
  const pulls: Pull[] = []
  for (;;) {
    const pull = planned({ ...facts, running, recentPulls })
    if (pull === null) return pulls
    running.push(pull)
    pulls.push(pull)
    recentPulls = withRecentPull(recentPulls, pull)
  }
}

/** Who is asked for what, such as `p for A`. */
const asked = (pulls: readonly Pull[]): string[] =>
  pulls.map(({ peer, want }) => `${peer} for ${want.purpose}`)

describe('what is asked', () => {
  test('is a piece from the lowest wanted height upwards', () => {
    assert.equal(plan([want(5, 500)], [peer('p')]), `5 to ${4 + pieceBlocks} of p`)
    assert.equal(plan([want(5, 20)], [peer('p')]), '5 to 20 of p')
  })

  test('is no more than the peer says it has', () => {
    const some = peer('p', { announced: { tail: 100, head: 120 } })
    assert.equal(plan([want(5, 500)], [some]), '100 to 120 of p')
    assert.equal(plan([want(5, 99)], [some]), 'nothing')
    assert.equal(plan([want(5, 100)], [some]), '100 to 100 of p')
    assert.equal(plan([want(120, 500)], [some]), '120 to 120 of p')
    assert.equal(plan([want(121, 500)], [some]), 'nothing')
    assert.equal(plan([want(5, 500)], [peer('p', { announced: null })]), 'nothing')
  })

  test('a gap is filled from its upper end: of a peer without that nothing is asked', () => {
    const low = peer('p', { announced: { tail: 0, head: 50 } })
    assert.equal(plan([want(40, 60, 'gap')], [low]), 'nothing')
    assert.equal(plan([want(40, 50, 'gap')], [low]), '40 to 50 of p')
  })

  test('nothing is asked twice at once, and of each peer one thing', () => {
    const [first, second] = [want(1, 9, 'A'), want(20, 29, 'B')]
    const running: Pull = { peer: 'p', kind: 3, begunMs: 1_000, from: 1, to: 9, want: first }
    const peers = [peer('p'), peer('q')]
    assert.equal(plan([first, second], peers, [], [running]), '20 to 29 of q')
    assert.equal(plan([first], peers, [], [running]), 'nothing')
    assert.equal(plan([second], [peer('p')], [], [running]), 'nothing')
  })
})

describe('the peer that is asked', () => {
  const everybody = [
    peer('stranger'),
    peer('known', { verified: true }),
    peer('configured', { bootstrap: true }),
    peer('signer', { bootstrap: true, signer: 'A' }),
  ]

  test('is the signer whose head is missing, then a configured, then a known one, then a stranger', () => {
    const order: string[] = []
    for (let peers = everybody; peers.length > 0; ) {
      const next = planned({ wants: [want(1, 9)], peers })?.peer
      assert.ok(next)
      order.push(next)
      peers = peers.filter(({ id }) => id !== next)
    }
    assert.deepEqual(order, ['signer', 'configured', 'known', 'stranger'])
  })

  test('a stranger that announces everything starves nobody: it is asked when nobody else can', () => {
    const liar = peer('liar', { announced: { tail: 0, head: 20_000_000 } })
    const honest = peer('honest', { bootstrap: true, announced: { tail: 0, head: 300 } })
    assert.equal(plan([want(1, 300)], [liar, honest]), '1 to 64 of honest')
  })

  test('backs off about what it could not deliver, or about everything if it delivered nothing', () => {
    const peers = [peer('p'), peer('q')]
    const about: PeerBackoff = {
      peer: 'p',
      purpose: 'A',
      hash: 'hash of 9',
      tries: 1,
      untilMs: 2_000,
    }
    assert.equal(plan([want(1, 9)], peers, [about]), '1 to 9 of q')
    assert.equal(plan([want(1, 9)], [peer('p')], [about]), 'nothing')
    assert.equal(plan([want(1, 9, 'B')], [peer('p')], [about]), '1 to 9 of p')
    assert.equal(plan([want(1, 9, 'B')], [peer('p')], [{ ...about, purpose: null }]), 'nothing')
    assert.equal(plan([want(1, 9)], [peer('p')], [{ ...about, untilMs: 1_000 }]), '1 to 9 of p')
  })

  test('is the signer also where it failed before and others did not', () => {
    const failed = withBackoff(withBackoff([], 'signer', want(1, 9), 0), 'signer', want(1, 9), 0)
    const facts = { wants: [want(1, 9)], peers: everybody, backoffs: failed, nowMs: 60_000 }
    assert.equal(planned(facts)?.peer, 'signer')
  })

  test('for what failed is another one than that where it failed', () => {
    const [one, other] = [want(5, 5), want(7, 9)]
    const failed = withBackoff(withBackoff([], 'q', one, 0), 'p', other, 0)
    assert.equal(plan([one, other], [peer('q'), peer('p')], failed), '5 to 5 of p')
    const bothFailed = withBackoff(failed, 'r', one, 0)
    assert.equal(plan([one, other], [peer('r')], bothFailed), '7 to 9 of r')
    const again = withBackoff(withBackoff(failed, 'r', one, 0), 's', one, 0)
    assert.equal(plan([one, other], [peer('t')], again), '5 to 5 of t', 'however often it failed')
  })

  test('of two that have failed the one that failed less often is asked', () => {
    const often: PeerBackoff = { peer: 'p', purpose: 'A', hash: 'hash of 9', tries: 3, untilMs: 0 }
    const once: PeerBackoff = { peer: 'q', purpose: 'A', hash: 'hash of 9', tries: 1, untilMs: 0 }
    assert.equal(plan([want(1, 9)], [peer('p'), peer('q')], [often, once]), '1 to 9 of q')
  })
})

describe('beside what runs', () => {
  const pulling = (by: PlanPeer): Pull =>
    planned({ wants: [want(1, 9)], peers: [by] }) ?? assert.fail()
  const stranger = peer('stranger')
  const known = peer('known', { verified: true })
  const configured = peer('configured', { bootstrap: true })
  const signer = peer('signer', { bootstrap: true, signer: 'A' })
  const everybody = [stranger, known, configured, signer]

  const cases: readonly { readonly by: PlanPeer; readonly beside: readonly string[] }[] = [
    { by: stranger, beside: ['known', 'configured', 'signer'] },
    { by: known, beside: ['configured', 'signer'] },
    { by: configured, beside: ['signer'] },
    { by: signer, beside: [] },
  ]
  for (const { by, beside } of cases)
    test(`a peer that is ${by.id} keeps only equal and worse ones from what it is asked for`, () => {
      const others = everybody.filter(({ id }) => id !== by.id)
      const free = others.filter(
        (other) => plan([want(1, 9)], [by, other], [], [pulling(by)]) !== 'nothing',
      )
      assert.deepEqual(
        free.map(({ id }) => id),
        beside,
      )
    })

  test('what takes longer than a minute keeps nobody from anything: it may be slow on purpose', () => {
    const slow = pulling(signer)
    const other = peer('other', { bootstrap: true, signer: 'B' })
    const beside = (nowMs: number): string =>
      textOf(planned({ wants: [want(1, 9)], peers: [signer, other], running: [slow], nowMs }))
    assert.equal(beside(slow.begunMs + slowPullMs - 1), 'nothing')
    assert.equal(beside(slow.begunMs + slowPullMs), '1 to 9 of other')
    const facts = { backoffs: [], running: [slow], nowMs: slow.begunMs }
    const backoffs = withBackoff([], 'p', want(1, 9), slow.begunMs)
    assert.equal(nextChangeMs({ ...facts, backoffs }), slow.begunMs + pullBackoff.minMs)
    assert.equal(nextChangeMs(facts), slow.begunMs + slowPullMs)
    assert.equal(nextChangeMs({ ...facts, nowMs: slow.begunMs + slowPullMs }), null)
  })

  test('another peer of the same kind is not asked for the same', () => {
    const other = peer('other', { bootstrap: true })
    assert.equal(plan([want(1, 9)], [configured, other], [], [pulling(configured)]), 'nothing')
  })

  test('a peer keeps the kind with which its pull began: by delivering it takes nothing over', () => {
    const running = [pulling(stranger)]
    const risen = { ...stranger, verified: true }
    assert.equal(plan([want(1, 9)], [risen, known], [], running), '1 to 9 of known')
  })

  test('strangers that hold all their slots take none of configured peers, nor these of strangers', () => {
    const purposes = ['A', 'B', 'C', 'D', 'E', 'F']
    const wants = purposes.map((purpose) => want(1, 9, purpose))
    const strangers = purposes.map((purpose) => peer(`stranger ${purpose}`))
    const friends = purposes.map((purpose) => peer(`friend ${purpose}`, { bootstrap: true }))
    const held = begun({ wants, peers: strangers })
    assert.deepEqual(asked(held), ['stranger A for A', 'stranger B for B'])
    const free = begun({ wants, peers: [...strangers, ...friends], running: held })
    assert.deepEqual(asked(free), ['friend A for A', 'friend B for B'])
    assert.deepEqual(asked(begun({ wants, peers: [...strangers, ...friends] })), [
      'friend A for A',
      'friend B for B',
      'stranger A for C',
      'stranger B for D',
    ])
  })

  test('the signer itself and configured peers share two slots', () => {
    const wants = ['A', 'B', 'C'].map((purpose) => want(1, 9, purpose))
    const peers = [signer, configured, peer('other', { bootstrap: true })]
    assert.deepEqual(asked(begun({ wants, peers })), ['signer for A', 'configured for B'])
  })
})

describe('whose turn it is', () => {
  const wants = ['A', 'B', 'C'].map((purpose) => want(1, 9, purpose))
  const p = peer('p', { bootstrap: true })
  /** What is asked of one peer at a time, so many times, where nothing that is pulled helps. */
  const inTurn = (by: PlanPeer, times: number, first: readonly RecentPull[] = []): string => {
    let recentPulls = first
    const purposes = Array.from({ length: times }, () => {
      const pull = planned({ wants, peers: [by], recentPulls }) ?? assert.fail()
      recentPulls = withRecentPull(recentPulls, pull)
      return pull.want.purpose
    })
    return purposes.join(' ')
  }

  test('is first theirs of whom nothing was pulled, the most urgent one first, then in turn', () => {
    assert.equal(inTurn(p, 7), 'A B C A B C A')
    assert.equal(inTurn(p, 3, [{ purpose: 'A', lane: 'configured' }]), 'B C A')
  })

  test('so two signers that lie keep no slots from a third', () => {
    const signers = ['A', 'B', 'C'].map((purpose) =>
      peer(purpose, { bootstrap: true, signer: purpose }),
    )
    const first = begun({ wants, peers: signers })
    assert.deepEqual(asked(first), ['A for A', 'B for B'])
    const recentPulls = first.reduce<readonly RecentPull[]>(withRecentPull, [])
    const running = first.slice(1)
    assert.deepEqual(asked(begun({ wants, peers: signers, running, recentPulls })), ['C for C'])
  })

  test('of configured peers does not pass by what others pull', () => {
    const strangers: readonly RecentPull[] = [
      { purpose: 'A', lane: 'others' },
      { purpose: 'B', lane: 'others' },
    ]
    assert.equal(inTurn(p, 3, strangers), 'A B C')
    assert.equal(inTurn(peer('q'), 3, strangers), 'C A B')
  })

  test('is remembered once a purpose of each kind of peer, and of no more than 1,024', () => {
    const pull = planned({ wants, peers: [p] }) ?? assert.fail()
    let recentPulls = withRecentPull(withRecentPull([], pull), pull)
    assert.deepEqual(recentPulls, [{ purpose: 'A', lane: 'configured' }])
    const ofOthers: RecentPull = { purpose: 'A', lane: 'others' }
    assert.deepEqual(withRecentPull([ofOthers], pull), [ofOthers, ...recentPulls])
    for (let each = 0; each < 1_024; each += 1)
      recentPulls = withRecentPull(recentPulls, { ...pull, want: want(1, 9, `${each}`) })
    assert.equal(recentPulls.length, 1_024)
    assert.deepEqual(recentPulls[0], { purpose: '0', lane: 'configured' })
  })
})

describe('backoffs', () => {
  test('double up to a minute', () => {
    let backoffs: readonly PeerBackoff[] = []
    const lengths = Array.from({ length: 10 }, () => {
      backoffs = withBackoff(backoffs, 'p', want(1, 9), 5_000)
      return (backoffs[0]?.untilMs ?? 0) - 5_000
    })
    assert.deepEqual(
      lengths,
      Array.from({ length: 10 }, (_, tries) =>
        Math.min(pullBackoff.maxMs, pullBackoff.minMs * 2 ** tries),
      ),
    )
    assert.equal(backoffs.length, 1)
    assert.equal(nextChangeMs({ backoffs, running: [], nowMs: 5_000 }), 5_000 + pullBackoff.maxMs)
    assert.equal(nextChangeMs({ backoffs, running: [], nowMs: 5_000 + pullBackoff.maxMs }), null)
  })

  test('let another want for the same purpose go first: nobody may have the failed block any more', () => {
    const [left, head] = [want(5, 5), want(7, 9)]
    assert.equal(plan([left, head], [peer('p')]), '5 to 5 of p')
    const failed = withBackoff([], 'p', left, 0)
    assert.equal(plan([left, head, want(1, 2, 'B')], [peer('p')], failed), '7 to 9 of p')
    assert.equal(plan([left], [peer('p')], failed), '5 to 5 of p')
    const elsewhere = withBackoff([], 'p', want(5, 5, 'B'), 0)
    assert.equal(plan([left, head], [peer('p')], elsewhere), '5 to 5 of p')
  })

  const outcomes: readonly (readonly [string, number, readonly Want[], readonly string[]])[] = [
    ['grow about anything where it delivered nothing', 0, [], ['A 2', 'null 2']],
    ['end where nothing is wanted any more', 9, [], []],
    ['end where one block brought it on', 1, [want(5, 9)], []],
    ['end where it was brought on, also beside others', 1, [want(5, 9), want(1, 9, 'B')], []],
    ['end where another want follows', 9, [want(10, 20)], []],
    ['end where others want the same', 9, [want(1, 9, 'B')], []],
    ['grow where the same is wanted', 9, [want(1, 9)], ['A 3']],
    ['grow where more is wanted below', 9, [want(0, 9)], ['A 3']],
    ['grow where another block is wanted there', 9, [want(1, 12)], ['A 3']],
    ['grow where only another want has moved on', 9, [want(1, 9), want(5, 12)], ['A 3']],
    ['grow where only others have moved on', 9, [want(1, 9), want(5, 9, 'B')], ['A 3']],
  ]
  for (const [name, delivered, wants, expected] of outcomes)
    test(`of a peer after a pull ${name}`, () => {
      const pull = planned({ wants: [want(1, 9)], peers: [peer('p')] }) ?? assert.fail()
      const twice = withBackoff(withBackoff([], 'p', want(1, 9), 0), 'p', want(1, 9), 0)
      const backoffs = afterPull(withBackoff(twice, 'p', null, 0), pull, delivered, wants, 1_000)
      assert.deepEqual(
        backoffs.map(({ purpose, tries }) => `${purpose} ${tries}`),
        expected,
      )
    })

  test('end with what the peer delivers, and when it comes or goes', () => {
    const both = withBackoff(withBackoff([], 'p', want(1, 9), 0), 'p', null, 0)
    assert.deepEqual(
      withoutBackoff(both, 'p', 'A').map(({ purpose }) => purpose),
      [null],
    )
    assert.deepEqual(withoutBackoffsOf(both, 'p'), [])
    assert.equal(withoutBackoffsOf(both, 'q').length, 2)
  })
})

describe('the lowest height that is served', () => {
  test('is what configured peers and those that delivered say', () => {
    const at = (tail: number, more: Partial<PlanPeer>): PlanPeer =>
      peer(`${tail}`, { announced: { tail, head: 1_000 }, ...more })
    assert.equal(servedFrom([at(900, { bootstrap: true }), at(800, { verified: true })], []), 900)
    assert.equal(servedFrom([at(900, {}), at(800, { verified: true })], []), 800)
    assert.equal(servedFrom([at(900, { bootstrap: true }), at(0, {})], []), 900)
    assert.equal(servedFrom([at(0, {})], []), null)
  })

  test('is not the word of a peer that says so and does not deliver', () => {
    const liar = peer('liar', { verified: true, announced: { tail: 0, head: 9 } })
    const honest = peer('honest', { verified: true, announced: { tail: 5, head: 9 } })
    const once = withBackoff([], 'liar', want(1, 9), 0)
    assert.equal(servedFrom([liar, honest], once), 0)
    assert.equal(servedFrom([liar, honest], withBackoff(once, 'liar', want(1, 9), 0)), 5)
  })
})

test('whatever is wanted and announced, a pull is within both', () => {
  const heights = fc.nat({ max: 300 })
  const anyWant = fc
    .tuple(heights, heights, fc.constantFrom('A', 'B', 'gap', 'documents'))
    .map(([a, b, purpose]) => want(Math.min(a, b), Math.max(a, b), purpose))
  const anyPeer = fc
    .tuple(fc.constantFrom('p', 'q', 'r'), heights, heights)
    .map(([id, a, b]) => peer(id, { announced: { tail: Math.min(a, b), head: Math.max(a, b) } }))
  fc.assert(
    fc.property(fc.array(anyWant), fc.array(anyPeer), (wants, peers) => {
      const pull = planned({ wants, peers })
      if (pull === null) return
      const { announced } = peers.find(({ id }) => id === pull.peer) ?? assert.fail()
      assert.ok(announced)
      assert.ok(pull.from <= pull.to && pull.to - pull.from < pieceBlocks)
      assert.ok(pull.from >= pull.want.from && pull.to <= pull.want.to)
      assert.ok(peers.some((own) => own.announced !== null && pull.from >= own.announced.tail))
    }),
  )
})
