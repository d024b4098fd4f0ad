/** When rows are believed, and when what is stored gives way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FeedStep, nextStep, type StepFacts } from '../../../src/app/follow/next-step.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import type { PendingBlock } from '../../../src/app/follow/pending-blocks.ts'
import type { RowsVerdict } from '../../../src/app/follow/pending-votes.ts'
import { pendingBlock } from '../support/pending-block.ts'

interface Case {
  readonly pending: readonly PendingBlock[]
  /** Blocks that are stored. */
  readonly stored?: readonly PendingBlock[]
  /** Whether the View has something of a height; by default where a block is stored. */
  readonly isDone?: (number: number) => boolean
  readonly minimumHosts?: number
  readonly acceptedHosts?: number
  /** What Hosts say of a block; by default two agree, and say so themselves. */
  readonly verdicts?: ReadonlyMap<PendingBlock, Partial<RowsVerdict>>
  readonly nowMs?: number
  /** Since when the lowest block waits. Default 0. */
  readonly waitsSinceMs?: number
  /** The block that the lowest has to stand on. */
  readonly base?: PendingBlock | null
  /** Hosts that say themselves that they signed rows above; by default two. */
  readonly above?: readonly string[]
  /** The first height that is followed; by default that of the lowest block. */
  readonly lowestWanted?: number
  /** Whether a Host may have what was left out; by default one may. */
  readonly mayHave?: boolean
  /** Up to where Hosts say themselves that they have what is stored; by default they say nothing of that. */
  readonly left?: ReadonlyMap<string, number>
  /** Hosts that signed something of the heights that were left out. */
  readonly signers?: readonly string[]
}

const two = { agreeing: ['A', 'B'], direct: ['A', 'B'], differing: [] }
const nobody = { agreeing: [], direct: [], differing: [] }

function step(given: Case): FeedStep {
  const { pending, stored = [], minimumHosts = 2, verdicts, nowMs = 0, base = null } = given
  const { acceptedHosts = minimumHosts } = given
  const hashes = new Map(stored.map(({ number, hash }) => [number, hash]))
  const isDone = given.isDone ?? ((number: number) => hashes.has(number))
  const facts: StepFacts = {
    pending,
    minimumHosts,
    acceptedHosts,
    nowMs,
    patience: usualPatience,
    waitsSinceMs: given.waitsSinceMs ?? 0,
    signersAbove: () => given.above ?? ['A', 'B'],
    storedHash: (number) => hashes.get(number),
    isDone,
    base,
    doneBelow: (number) => {
      const below = [...hashes.keys()].filter((each) => each < number && isDone(each))
      return below.length === 0 ? null : Math.max(...below)
    },
    signersOf: () => given.signers ?? [],
    lowestWanted: given.lowestWanted ?? pending[0]?.number ?? 0,
    mayHave: () => given.mayHave ?? true,
    leftOutSinceMs: () => 0,
    leftAbove: (host) => given.left?.get(host) ?? Infinity,
    storedHead: Math.max(-1, ...hashes.keys()),
    evaluate: (block) => ({ ...two, ...verdicts?.get(block) }),
  }
  return nextStep(facts)
}

const waits = { kind: 'wait', differing: [] }
const [five, six, seven] = [5, 6, 7].map((number) => pendingBlock(number))
const [otherFive, otherSix, otherSeven] = [5, 6, 7].map((number) => {
  const parent = number === 7 ? undefined : pendingBlock(number - 1).hash
  return pendingBlock(number, { branch: 'b', ...(parent && { parent }) })
})
assert.ok(five && six && seven && otherFive && otherSix && otherSeven)

test('nothing that waits is nothing to do', () => {
  assert.deepEqual(step({ pending: [] }), waits)
})

test('blocks that have their votes are stored, up to the first that has not', () => {
  const verdicts = new Map([[seven, nobody]])
  const pending = [five, six, seven]
  assert.deepEqual(step({ pending, verdicts }), {
    kind: 'store',
    blocks: [five, six],
    removeAbove: null,
  })
})

test('one vote less than the application asks for is not enough', () => {
  const verdicts = new Map([[five, { agreeing: ['A'] }]])
  assert.deepEqual(step({ pending: [five], verdicts }), waits)
  assert.equal(step({ pending: [five], verdicts, minimumHosts: 1 }).kind, 'store')
})

test('at most 64 blocks are stored at once', () => {
  const pending = Array.from({ length: 65 }, (_, index) => pendingBlock(index))
  const found = step({ pending })
  assert.equal(found.kind === 'store' && found.blocks.length, 64)
})

test('what is stored already is passed over', () => {
  const pending = [five, six, seven]
  assert.deepEqual(step({ pending, stored: [five, six] }), { kind: 'known', blocks: 2 })
  assert.deepEqual(step({ pending, stored: pending }), { kind: 'known', blocks: 3 })
})

test('a block that is pruned already is passed over, and rows of one that is stored are not', () => {
  const pending = [five, six]
  assert.deepEqual(step({ pending, isDone: (number) => number < 6 }), { kind: 'known', blocks: 1 })
  const stored = { kind: 'store', blocks: pending, removeAbove: null }
  assert.deepEqual(step({ pending, stored: [five], isDone: () => false }), stored)
})

test('another branch takes the place of what is stored when enough Hosts follow it themselves', () => {
  assert.deepEqual(step({ pending: [otherSix], stored: [five, six, seven] }), {
    kind: 'store',
    blocks: [otherSix],
    removeAbove: 5,
  })
})

test('of another branch only what has its votes takes the place of what is stored', () => {
  const verdicts = new Map([[otherSeven, nobody]])
  assert.deepEqual(step({ pending: [otherSix, otherSeven], stored: [five, six], verdicts }), {
    kind: 'store',
    blocks: [otherSix],
    removeAbove: 5,
  })
})

test('a branch that was signed once and left takes no place, whoever passes its votes on', () => {
  const passedOn = new Map([otherSix, otherSeven].map((block) => [block, { direct: ['A'] }]))
  const stored = [five, six, seven]
  const eight = pendingBlock(8, { branch: 'b' })
  const verdicts = new Map([...passedOn, [eight, nobody]])
  for (const pending of [[otherSix], [otherSix, otherSeven], [otherSix, otherSeven, eight]])
    assert.deepEqual(step({ pending, stored, verdicts }), waits)
})

test('a branch that enough Hosts signed above everything that is stored takes its place', () => {
  const eight = pendingBlock(8, { branch: 'b' })
  const pending = [otherSix, otherSeven, eight]
  const verdicts = new Map(pending.map((block) => [block, { direct: [] }]))
  assert.deepEqual(step({ pending, stored: [five, six, seven], verdicts }), {
    kind: 'store',
    blocks: pending,
    removeAbove: 5,
  })
})

test('rows of the branch that is stored go first where a later block is of another', () => {
  const pending = [five, otherSix]
  const found = step({ pending: [pendingBlock(4), ...pending], stored: [six] })
  assert.deepEqual(found, { kind: 'store', blocks: [pendingBlock(4), five], removeAbove: null })
})

test('where a View begins, Hosts are waited for that may have what lies below', () => {
  const below = { pending: [five], lowestWanted: 0 }
  assert.deepEqual(step({ ...below, mayHave: false }).kind, 'store')
  assert.deepEqual(step({ ...below, nowMs: 9_999 }), waits)
  assert.deepEqual(step({ ...below, nowMs: 10_000 }).kind, 'store')
  const signers = ['A', 'B']
  const signed = { ...below, mayHave: false, signers, nowMs: 59_999 }
  assert.deepEqual(step(signed), { kind: 'wait', differing: signers })
})

test('Hosts that sign other rows are named once they are more than those that agree', () => {
  const differing = ['C']
  const one = new Map([[five, { agreeing: ['A'], differing }]])
  assert.deepEqual(step({ pending: [five], verdicts: one }), waits)
  const more = new Map([[five, { agreeing: [], differing }]])
  assert.deepEqual(step({ pending: [five], verdicts: more }), { kind: 'wait', differing })
})

test('a block at which the View failed is passed after ten seconds, unless a Host has its rows', () => {
  const failed = pendingBlock(5, { rows: null })
  const verdicts = new Map([[failed, nobody]])
  const pending = [failed]
  const passed = { kind: 'fail', why: 'failed' }
  assert.deepEqual(step({ pending }), waits, 'it has no rows that anybody could sign')
  assert.deepEqual(step({ pending, verdicts, nowMs: 9_999 }), waits)
  assert.deepEqual(step({ pending, verdicts, nowMs: 10_000 }), passed)
  assert.deepEqual(step({ pending, verdicts, nowMs: 19_999, waitsSinceMs: 10_000 }), waits)
  const few = { pending, verdicts, nowMs: 100_000, above: ['A'] }
  assert.deepEqual(step(few), waits)
  const disputed = new Map([[failed, { ...nobody, differing: ['B'] }]])
  assert.deepEqual(step({ pending, verdicts: disputed, nowMs: 10_000 }), {
    kind: 'wait',
    differing: ['B'],
  })
})

test('rows that cannot get their votes are passed after a minute where the next block has its', () => {
  const verdicts = new Map([[five, { ...nobody, agreeing: ['A'], differing: ['B'] }]])
  const disputed: Case = { pending: [five, six], verdicts, acceptedHosts: 2 }
  assert.deepEqual(step({ ...disputed, nowMs: 59_999 }), waits)
  assert.deepEqual(step({ ...disputed, nowMs: 60_000 }), { kind: 'fail', why: 'disputed' })
  assert.deepEqual(step({ ...disputed, pending: [five], nowMs: 60_000 }), waits)
})

test('rows that too few signed wait for another Host where enough signed the same others', () => {
  const differing = ['B', 'C']
  const verdicts = new Map([[five, { ...nobody, agreeing: ['A'], differing }]])
  const outvoted: Case = { pending: [five, six], verdicts, acceptedHosts: 3, nowMs: 10_000_000 }
  assert.deepEqual(step(outvoted), { kind: 'wait', differing })
})

test('rows wait as long as a Host that has said nothing can decide', () => {
  const verdicts = new Map([[five, { ...nobody, agreeing: ['A'], differing: ['B'] }]])
  const pending = [five, six]
  assert.deepEqual(step({ pending, verdicts, acceptedHosts: 3, nowMs: 10_000_000 }), waits)
})

test('neither takes the place of a stored block', () => {
  const failed = pendingBlock(5, { branch: 'b', rows: null })
  const verdicts = new Map([
    [failed, nobody],
    [otherFive, nobody],
  ])
  for (const pending of [[failed], [otherFive, otherSix]])
    assert.deepEqual(step({ pending, stored: [five], verdicts, nowMs: 100_000 }), waits)
})

test('heights that nobody sends are left out after a while, sooner where nobody signed them', () => {
  const waiting: Case = { pending: [seven], stored: [five], base: five }
  const stored = { kind: 'store', blocks: [seven], removeAbove: null }
  const one = ['A']
  assert.deepEqual(step({ ...waiting, nowMs: 9_999 }), waits)
  assert.deepEqual(step({ ...waiting, nowMs: 10_000 }), stored)
  assert.deepEqual(step({ ...waiting, signers: one, nowMs: 59_999 }), { ...waits, differing: one })
  assert.deepEqual(step({ ...waiting, signers: one, nowMs: 60_000 }), stored)
  const two = { ...waiting, signers: ['A', 'B'] }
  for (const base of [five, null])
    assert.deepEqual(step({ ...two, base, nowMs: 59_999 }), { ...waits, differing: ['A', 'B'] })
  assert.deepEqual(step({ ...two, nowMs: 60_000 }), stored)
})

test('only what stands below a height that was left out is stored first', () => {
  assert.deepEqual(step({ pending: [five, seven] }), {
    kind: 'store',
    blocks: [five],
    removeAbove: null,
  })
})

test('a block on another one than is stored below waits for a Host that has what is between', () => {
  const signers = ['B']
  assert.deepEqual(step({ pending: [otherSeven], stored: [five, six], base: null, signers }), {
    kind: 'wait',
    differing: signers,
  })
})

test('a branch without its first block takes the place of all that it gave way to', () => {
  const left = new Map([
    ['A', 5],
    ['B', 5],
  ])
  const waiting: Case = { pending: [otherSeven], stored: [five, six, seven], base: five, left }
  assert.deepEqual(step(waiting), waits)
  assert.deepEqual(step({ ...waiting, nowMs: 10_000 }), {
    kind: 'store',
    blocks: [otherSeven],
    removeAbove: five.number,
  })
})

test('what is below a block goes only as far as enough Hosts say themselves that it gave way', () => {
  const four = pendingBlock(4)
  const stored = [four, five, six, seven]
  const left = (a: number, b: number): ReadonlyMap<string, number> =>
    new Map([
      ['A', a],
      ['B', b],
    ])
  const given: Case = { pending: [otherSeven], stored, base: four, nowMs: 10_000 }
  const removed = (above: number): object => ({
    kind: 'store',
    blocks: [otherSeven],
    removeAbove: above,
  })
  const refused = { kind: 'wait', differing: ['A', 'B'] }
  assert.deepEqual(step({ ...given, left: left(4, Infinity) }), refused)
  assert.deepEqual(step({ ...given, left: left(4, 5) }), { kind: 'wait', differing: ['A'] })
  assert.deepEqual(step({ ...given, left: left(5, 5) }), removed(5))
  assert.deepEqual(step({ ...given, left: left(4, 4) }), removed(4))
  assert.deepEqual(step({ ...given, left: left(4, 4), minimumHosts: 1 }), removed(4))
  assert.deepEqual(step({ ...given, left: left(5, 4), minimumHosts: 1 }), removed(4))
  assert.deepEqual(step({ ...given, left: left(6, 6) }), refused)
  const onSix = { ...otherSeven, parent: six.hash }
  assert.deepEqual(step({ ...given, pending: [onSix] }), { ...removed(6), blocks: [onSix] })
})

test('a block is not stored on a block of another View that is not its parent', () => {
  const late = { lowestWanted: 5, nowMs: 3_600_000 }
  const given = { pending: [seven], stored: [otherSix], isDone: () => false, ...late }
  assert.deepEqual(step(given), { kind: 'wait', differing: ['A', 'B'] })
  const left = new Map([
    ['A', 5],
    ['B', 5],
  ])
  const replaces = { kind: 'store', blocks: [seven], removeAbove: 5 }
  assert.deepEqual(step({ ...given, left }), replaces)
  const passedOn = new Map([[seven, { direct: [] }]])
  assert.deepEqual(step({ ...given, left, verdicts: passedOn }), replaces)
  assert.deepEqual(step({ ...given, stored: [six] }), {
    kind: 'store',
    blocks: [seven],
    removeAbove: null,
  })
})

test('a block that stands on what its own Hosts say gave way waits for another parent', () => {
  const given: Case = { pending: [six], stored: [five], base: five }
  const left = new Map([['B', 4]])
  assert.deepEqual(step({ ...given, left }), { kind: 'wait', differing: ['B'] })
  const three = { agreeing: ['A', 'B', 'C'] }
  const verdicts = new Map([[six, three]])
  const stored = { kind: 'store', blocks: [six], removeAbove: null }
  assert.deepEqual(step({ ...given, left: new Map([['B', 5]]) }), stored)
  assert.equal(step({ ...given, left, verdicts }).kind, 'store')
})
