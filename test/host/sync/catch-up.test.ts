/** What is wanted and what is asked, together: a piece at a time a Host reaches the head, wherever it begins. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Signer } from '../../../src/host/fork-choice/counting.ts'
import { isLinked, type Link } from '../../../src/host/fork-choice/link.ts'
import { wantsOf } from '../../../src/host/fork-choice/wants.ts'
import {
  afterPull,
  nextPull,
  type PlanPeer,
  type Setback,
} from '../../../src/host/sync/pull-plan.ts'
import { type BlockWorld, branch, createBlockWorld } from '../fork-choice/block-world.ts'

/** A Host whose tip was left by its signer while it was down, and what it has heard since. */
interface Scene {
  /** Height of its tip, which is of branch a. */
  readonly stored: number
  /** Height at which branch b left branch a. */
  readonly common: number
  /** Height at which branch c, which the signer was on for a while, left branch b. */
  readonly left: number
  /** Height of the signer's head, which is of branch b. */
  readonly head: number
  /** Blocks that gossip has brought. */
  readonly heard: readonly Piece[]
}

interface Piece {
  readonly branch: 'b' | 'c'
  readonly from: number
  readonly count: number
}

const scenes: fc.Arbitrary<Scene> = fc
  .record({
    stored: fc.nat(200),
    common: fc.nat(200),
    left: fc.nat(200),
    rise: fc.integer({ min: 1, max: 200 }),
    heard: fc.array(
      fc.record({
        branch: fc.constantFrom('b' as const, 'c' as const),
        from: fc.nat(400),
        count: fc.integer({ min: 1, max: 80 }),
      }),
      { maxLength: 5 },
    ),
  })
  .map(({ rise, stored, common, left, heard }) => {
    const head = stored + rise
    const fork = Math.min(common, stored)
    return { stored, common: fork, left: Math.min(fork + left, head - 1), head, heard }
  })

const signer = 'alice'
const peers: readonly PlanPeer[] = [
  { id: 'p', announced: { tail: 0, head: 1_000 }, signer, bootstrap: true, verified: true },
]
/** Far more than the pieces of any of these chains. */
const enoughPulls = 40

function hear(world: BlockWorld, blocks: readonly Link[]): void {
  for (const block of blocks) {
    if (!world.all.has(block.hash)) world.add(block)
    world.seal(block.hash, signer)
  }
}

/** Pulls what is wanted of a chain until the head is known down to what is stored; answers how often. */
function catchUp(world: BlockWorld, served: readonly Link[], stored: number, head: Link): number {
  const { number, hash } = head
  const signers: Signer[] = [
    { identity: signer, head: { number, hash, nodeHeight: number }, heardMs: 0 },
  ]
  const nothing = { dropped: [], revised: [], gaps: [] }
  const facts = { signers, head: stored, windowFloor: 0, floor: 0, ...nothing }
  let setbacks: readonly Setback[] = []
  let nowMs = 0
  for (let pulls = 0; pulls < enoughPulls; pulls++) {
    if (world.all.has(hash) && isLinked(world, head)) return pulls
    nowMs = Math.max(nowMs, ...setbacks.map(({ untilMs }) => untilMs))
    const pull = nextPull(wantsOf(world, facts), peers, setbacks, [], nowMs)
    assert.ok(pull, 'nothing is asked for')
    const piece = served.slice(pull.from, pull.to + 1)
    hear(world, piece)
    setbacks = afterPull(setbacks, pull, piece.length, wantsOf(world, facts), nowMs)
  }
  return assert.fail(`the head is out of reach after ${enoughPulls} pulls`)
}

function worldOf({ stored, common, left, head, heard }: Scene): {
  readonly world: BlockWorld
  readonly served: readonly Link[]
} {
  const served = [...branch('a', 0, common), ...branch('b', common + 1, head, `${common}a`)]
  const abandoned = branch('c', left + 1, head - 1, served[left]?.hash)
  const world = createBlockWorld()
  for (const block of branch('a', 0, stored)) world.store(block)
  hear(world, [...world.chain.values()])
  for (const { branch: name, from, count } of heard) {
    const blocks = name === 'b' ? served : abandoned
    hear(
      world,
      blocks.filter(({ number }) => number >= from && number < from + count),
    )
  }
  return { world, served }
}

test('a Host whose tip was left, with more than a piece between it and what gossip brought, catches up', () => {
  const scene: Scene = {
    stored: 243,
    common: 240,
    left: 321,
    head: 322,
    heard: [{ branch: 'b', from: 311, count: 12 }],
  }
  const { world, served } = worldOf(scene)
  const head = served.at(-1) ?? assert.fail()
  assert.equal(catchUp(world, served, scene.stored, head), 3)
})

test('a block that the signer has left, and nobody has any more, keeps nobody from what comes after it', () => {
  const scene: Scene = {
    stored: 0,
    common: 0,
    left: 1,
    head: 4,
    heard: [{ branch: 'c', from: 3, count: 1 }],
  }
  const { world, served } = worldOf(scene)
  const head = served.at(-1) ?? assert.fail()
  assert.equal(catchUp(world, served, scene.stored, head), 4)
})

test('whatever was stored and heard of branches that were left, the head is reached', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const { world, served } = worldOf(scene)
      catchUp(world, served, scene.stored, served.at(-1) ?? assert.fail())
    }),
    { numRuns: 300 },
  )
})
