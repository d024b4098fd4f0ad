/** Connection admission: the rule as a table of cases, and what holds for any arrivals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { admit, type PeerConnection } from '../../../src/p2p/connections/admission.ts'

const limits = {
  maxConnections: 10,
  reservedConnections: 2,
  connectionsPerAddress: 4,
  connectionsPerPeer: 2,
}

/** A stranger; `sinceMs` distinguishes them. */
function stranger(peer: string, group: string, more: Partial<PeerConnection> = {}): PeerConnection {
  return { peer, group, isConfigured: false, isVerified: false, score: 0, sinceMs: 0, ...more }
}

function configured(peer: string, sinceMs = 0): PeerConnection {
  return { ...stranger(peer, 'anywhere'), isConfigured: true, sinceMs }
}

/** So many strangers of one address, `a0`, `a1` and so on, each later than the one before. */
function crowd(group: string, count: number): PeerConnection[] {
  return Array.from({ length: count }, (_, index) =>
    stranger(`${group}${index}`, group, { sinceMs: index }),
  )
}

/** Who has to leave for the newcomer, or why it is refused. */
function decide(
  newcomer: PeerConnection,
  connections: readonly PeerConnection[],
): string | readonly string[] {
  const admission = admit(newcomer, connections, limits)
  return admission.refused ?? admission.leaving.map(({ peer }) => peer)
}

test('while there is room everybody gets in', () => {
  assert.deepEqual(decide(stranger('new', 'z'), [...crowd('a', 3), configured('g')]), [])
})

test('strangers of one address have a share of the connections', () => {
  assert.equal(decide(stranger('new', 'a'), crowd('a', 4)), 'address')
  assert.deepEqual(decide(stranger('new', 'b'), crowd('a', 4)), [])
})

test('strangers leave the reserve alone, and a configured peer finds a place there', () => {
  const strangers = ['a', 'b', 'c', 'd'].flatMap((group) => crowd(group, 2))
  assert.equal(decide(stranger('new', 'a'), strangers), 'full')
  assert.deepEqual(decide(configured('new'), strangers), [])
})

test('a stranger from elsewhere takes the place of one of many from one address', () => {
  const strangers = [...crowd('a', 4), ...crowd('b', 3), ...crowd('c', 1)]
  assert.deepEqual(decide(stranger('new', 'd'), strangers), ['a3'])
  assert.deepEqual(decide(stranger('new', 'c'), strangers), ['a3'])
  assert.equal(decide(stranger('new', 'b'), strangers), 'full')
  const others = [...crowd('a', 4), ...crowd('b', 2), ...crowd('c', 2)]
  assert.deepEqual(decide(stranger('new', 'b'), others), ['a3'])
})

test('above the reserve the least useful stranger leaves for a configured peer', () => {
  const others = [configured('g'), configured('h')]
  const leaves = (strangers: readonly PeerConnection[]): unknown =>
    decide(configured('new'), [...others, ...strangers])
  const honest = (count: number): PeerConnection[] =>
    crowd('a', count).map((connection) => ({ ...connection, isVerified: true }))
  assert.deepEqual(leaves([...honest(7), stranger('idle', 'b', { score: 0 })]), ['idle'])
  assert.deepEqual(
    leaves([...honest(7), stranger('good', 'b', { isVerified: true, score: -50 })]),
    ['good'],
  )
  const scores = { b: -10, c: -50, d: -30 }
  const blamed = Object.entries(scores).map(([name, score]) =>
    stranger(name, name, { isVerified: true, score }),
  )
  assert.deepEqual(leaves([...blamed, ...honest(5)]), ['c'])
  assert.deepEqual(leaves(honest(8)), ['a7'], 'else the newest')
})

test('a configured peer gets in even where only configured ones are left', () => {
  const others = Array.from({ length: 10 }, (_, index) => configured(`g${index}`))
  assert.deepEqual(decide(configured('new'), others), [])
  assert.equal(decide(stranger('new', 'a'), others), 'full')
})

test('one more connection of a peer replaces its oldest, which may be dead', () => {
  const old = stranger('p', 'a', { sinceMs: 1 })
  const newer = stranger('p', 'a', { sinceMs: 2 })
  const admission = admit(stranger('p', 'a', { sinceMs: 3 }), [newer, old], limits)
  assert.deepEqual(admission, { refused: null, leaving: [old] })
  assert.deepEqual(decide(stranger('p', 'a', { sinceMs: 3 }), [old]), [], 'each side has dialled')
  const neighbours = [old, newer, ...crowd('a', 2)]
  assert.deepEqual(decide(stranger('p', 'a', { sinceMs: 3 }), neighbours), ['p'])
})

test('a stranger leaves with all its connections, and so does one that is replaced as well', () => {
  const twice = [
    stranger('p', 'a', { sinceMs: 7 }),
    stranger('p', 'a', { sinceMs: 8 }),
    stranger('q', 'a', { sinceMs: 1 }),
  ]
  const others = Array.from({ length: 7 }, (_, index) => configured(`g${index}`))
  assert.deepEqual(decide(configured('new'), [...twice, ...others]), ['p', 'p'])
  const strangers = [...crowd('a', 4), ...crowd('c', 4)]
  const own = [1, 2].map((sinceMs) => stranger('p', 'b', { sinceMs }))
  assert.deepEqual(decide(stranger('p', 'b'), [...own, ...strangers]), ['p', 'a3'])
})

test('any arrivals: strangers keep to their places, and a configured peer is never refused', () => {
  const comer = fc.record({
    peer: fc.constantFrom('p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'),
    group: fc.constantFrom('a', 'b', 'c'),
    isConfigured: fc.boolean(),
    isVerified: fc.boolean(),
    score: fc.integer({ min: -100, max: 0 }),
  })
  fc.assert(
    fc.property(fc.array(comer, { maxLength: 60, size: 'max' }), (comers) => {
      let connections: PeerConnection[] = []
      comers.forEach((each, sinceMs) => {
        const newcomer = { ...each, sinceMs, isConfigured: each.peer < 't' }
        const admission = admit(newcomer, connections, limits)
        assert(!newcomer.isConfigured || admission.refused === null)
        if (admission.refused !== null) return
        connections = [
          ...connections.filter((connection) => !admission.leaving.includes(connection)),
          newcomer,
        ]
        const strangers = connections.filter(({ isConfigured }) => !isConfigured)
        assert(strangers.length <= 8)
        assert(connections.length <= 10 || newcomer.isConfigured)
        for (const group of ['a', 'b', 'c'])
          assert(strangers.filter((connection) => connection.group === group).length <= 4)
      })
    }),
  )
})
