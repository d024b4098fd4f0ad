/** What is asked of whom, and when again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Want } from '../../../src/host/fork-choice/wants.ts'
import {
  firstSetbackMs,
  maxSetbackMs,
  nextChangeMs,
  nextPull,
  type PlanFacts,
  type PlanPeer,
  type Pull,
  pieceBlocks,
  type Setback,
  servedFrom,
  slowPullMs,
  type Turn,
  without,
  withoutPeer,
  withSetback,
  withTurn,
} from '../../../src/host/sync/pull-plan.ts'

function peer(id: string, more: Partial<PlanPeer> = {}): PlanPeer {
  const announced = { tail: 0, head: 1_000 }
  return { id, announced, signer: null, bootstrap: false, verified: false, ...more }
}

function want(from: number, to: number, sake = 'A'): Want {
  return { from, to, hash: `hash of ${to}`, root: null, sake }
}

const planned = (facts: Partial<PlanFacts>): Pull | null =>
  nextPull({ wants: [], peers: [], setbacks: [], running: [], turns: [], nowMs: 1_000, ...facts })
const told = (pull: Pull | null): string =>
  pull === null ? 'nothing' : `${pull.from} to ${pull.to} of ${pull.peer}`
const plan = (
  wants: readonly Want[],
  peers: readonly PlanPeer[],
  setbacks: readonly Setback[] = [],
  running: readonly Pull[] = [],
): string => told(planned({ wants, peers, setbacks, running }))

/** The pulls that begin where nothing runs yet, one after the other. */
function begun(facts: Pick<PlanFacts, 'wants' | 'peers'> & Partial<PlanFacts>): Pull[] {
  const running = [...(facts.running ?? [])]
  let turns: readonly Turn[] = facts.turns ?? []
  const pulls: Pull[] = []
  for (;;) {
    const pull = planned({ ...facts, running, turns })
    if (pull === null) return pulls
    running.push(pull)
    pulls.push(pull)
    turns = withTurn(turns, pull)
  }
}

/** Who is asked for what, such as `p for A`. */
const asked = (pulls: readonly Pull[]): string[] =>
  pulls.map(({ peer, want }) => `${peer} for ${want.sake}`)

describe('what is asked', () => {
  test('is a piece from the lowest wanted height upwards', () => {
    assert.equal(plan([want(5, 500)], [peer('p')]), `5 to ${4 + pieceBlocks} of p`)
    assert.equal(plan([want(5, 20)], [peer('p')]), '5 to 20 of p')
  })

  test('is no more than the peer says it has', () => {
    const some = peer('p', { announced: { tail: 100, head: 120 } })
    assert.equal(plan([want(5, 500)], [some]), '100 to 120 of p')
    assert.equal(plan([want(5, 99)], [some]), 'nothing')
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

describe('who is asked', () => {
  const everybody = [
    peer('stranger'),
    peer('known', { verified: true }),
    peer('configured', { bootstrap: true }),
    peer('signer', { bootstrap: true, signer: 'A' }),
  ]

  test('first the signer whose head is out of reach, then configured peers, then known ones, then strangers', () => {
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

  test('who could not deliver is left alone about it for a while, who delivered nothing about everything', () => {
    const peers = [peer('p'), peer('q')]
    const about: Setback = { peer: 'p', sake: 'A', hash: 'hash of 9', tries: 1, untilMs: 2_000 }
    assert.equal(plan([want(1, 9)], peers, [about]), '1 to 9 of q')
    assert.equal(plan([want(1, 9, 'B')], [peer('p')], [about]), '1 to 9 of p')
    assert.equal(plan([want(1, 9, 'B')], [peer('p')], [{ ...about, sake: null }]), 'nothing')
    assert.equal(plan([want(1, 9)], [peer('p')], [{ ...about, untilMs: 1_000 }]), '1 to 9 of p')
  })

  test('of two that have failed the one that failed less often is asked', () => {
    const often: Setback = { peer: 'p', sake: 'A', hash: 'hash of 9', tries: 3, untilMs: 0 }
    const once: Setback = { peer: 'q', sake: 'A', hash: 'hash of 9', tries: 1, untilMs: 0 }
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
    test(`a peer that is ${by.id} keeps none of a better kind from what it is asked for, and all others`, () => {
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
      told(planned({ wants: [want(1, 9)], peers: [signer, other], running: [slow], nowMs }))
    assert.equal(beside(slow.begunMs + slowPullMs - 1), 'nothing')
    assert.equal(beside(slow.begunMs + slowPullMs), '1 to 9 of other')
    const facts = { setbacks: [], running: [slow], nowMs: slow.begunMs }
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
    const sakes = ['A', 'B', 'C', 'D', 'E', 'F']
    const wants = sakes.map((sake) => want(1, 9, sake))
    const strangers = sakes.map((sake) => peer(`stranger ${sake}`))
    const friends = sakes.map((sake) => peer(`friend ${sake}`, { bootstrap: true }))
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
    const wants = ['A', 'B', 'C'].map((sake) => want(1, 9, sake))
    const peers = [signer, configured, peer('other', { bootstrap: true })]
    assert.deepEqual(asked(begun({ wants, peers })), ['signer for A', 'configured for B'])
  })
})

describe('whose turn it is', () => {
  const wants = ['A', 'B', 'C'].map((sake) => want(1, 9, sake))
  const p = peer('p', { bootstrap: true })
  /** What is asked of one peer at a time, so many times, where nothing that is pulled helps. */
  const inTurn = (by: PlanPeer, times: number, first: readonly Turn[] = []): string => {
    let turns = first
    const sakes = Array.from({ length: times }, () => {
      const pull = planned({ wants, peers: [by], turns }) ?? assert.fail()
      turns = withTurn(turns, pull)
      return pull.want.sake
    })
    return sakes.join(' ')
  }

  test('is first theirs of whom nothing was pulled, the most urgent one first, then in turn', () => {
    assert.equal(inTurn(p, 7), 'A B C A B C A')
    assert.equal(inTurn(p, 3, [{ sake: 'A', lane: 'configured' }]), 'B C A')
  })

  test('so two signers that lie keep no slots from a third', () => {
    const signers = ['A', 'B', 'C'].map((sake) => peer(sake, { bootstrap: true, signer: sake }))
    const first = begun({ wants, peers: signers })
    assert.deepEqual(asked(first), ['A for A', 'B for B'])
    const turns = first.reduce<readonly Turn[]>(withTurn, [])
    const running = first.slice(1)
    assert.deepEqual(asked(begun({ wants, peers: signers, running, turns })), ['C for C'])
  })

  test('of configured peers does not pass by what others pull', () => {
    const strangers: readonly Turn[] = [
      { sake: 'A', lane: 'others' },
      { sake: 'B', lane: 'others' },
    ]
    assert.equal(inTurn(p, 3, strangers), 'A B C')
    assert.equal(inTurn(peer('q'), 3, strangers), 'C A B')
  })

  test('is remembered once a sake, and of no more than 1,024', () => {
    const pull = planned({ wants, peers: [p] }) ?? assert.fail()
    let turns = withTurn(withTurn([], pull), pull)
    assert.deepEqual(turns, [{ sake: 'A', lane: 'configured' }])
    for (let each = 0; each < 1_024; each += 1)
      turns = withTurn(turns, { ...pull, want: want(1, 9, `${each}`) })
    assert.equal(turns.length, 1_024)
    assert.deepEqual(turns[0], { sake: '0', lane: 'configured' })
  })
})

describe('setbacks', () => {
  test('double up to a minute', () => {
    let setbacks: readonly Setback[] = []
    const lengths = Array.from({ length: 10 }, () => {
      setbacks = withSetback(setbacks, 'p', want(1, 9), 5_000)
      return (setbacks[0]?.untilMs ?? 0) - 5_000
    })
    assert.deepEqual(
      lengths,
      Array.from({ length: 10 }, (_, tries) => Math.min(maxSetbackMs, firstSetbackMs * 2 ** tries)),
    )
    assert.equal(setbacks.length, 1)
    assert.equal(nextChangeMs({ setbacks, running: [], nowMs: 5_000 }), 5_000 + maxSetbackMs)
    assert.equal(nextChangeMs({ setbacks, running: [], nowMs: 5_000 + maxSetbackMs }), null)
  })

  test('let another want for the same sake go first, since what failed may be a block that nobody has any more', () => {
    const [left, head] = [want(5, 5), want(7, 9)]
    assert.equal(plan([left, head], [peer('p')]), '5 to 5 of p')
    const failed = withSetback([], 'p', left, 0)
    assert.equal(plan([left, head, want(1, 2, 'B')], [peer('p')], failed), '7 to 9 of p')
    assert.equal(plan([left], [peer('p')], failed), '5 to 5 of p')
  })

  test('end with what the peer delivers, and when it comes or goes', () => {
    const both = withSetback(withSetback([], 'p', want(1, 9), 0), 'p', null, 0)
    assert.deepEqual(
      without(both, 'p', 'A').map(({ sake }) => sake),
      [null],
    )
    assert.deepEqual(withoutPeer(both, 'p'), [])
    assert.equal(withoutPeer(both, 'q').length, 2)
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
    const failed = withSetback(withSetback([], 'liar', want(1, 9), 0), 'liar', want(1, 9), 0)
    assert.equal(servedFrom([liar, honest], failed), 5)
  })
})

test('whatever is wanted and announced, a pull is within both', () => {
  const heights = fc.nat({ max: 300 })
  const anyWant = fc
    .tuple(heights, heights, fc.constantFrom('A', 'B', 'gap', 'documents'))
    .map(([a, b, sake]) => want(Math.min(a, b), Math.max(a, b), sake))
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
