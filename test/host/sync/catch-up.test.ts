/** What is wanted and what is asked, together: a piece at a time a Host reaches the head, wherever it begins. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BlockRef, isLinked } from '../../../src/host/fork-choice/block-ref.ts'
import type { Signer } from '../../../src/host/fork-choice/counting.ts'
import { wantsOf } from '../../../src/host/fork-choice/wants.ts'
import {
  afterPull,
  nextChangeMs,
  nextPull,
  type PeerBackoff,
  type PlanPeer,
  type RecentPull,
  withRecentPull,
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

/** What a peer serves, with the seals of these signers. */
interface Server {
  readonly blocks: readonly BlockRef[]
  readonly sealers: readonly string[]
}

const alice = 'alice'
/** Far more than the pieces of any of these chains. */
const enoughPulls = 40

const peerOf = (id: string): PlanPeer => ({
  id,
  announced: { tail: 0, head: 1_000 },
  signer: id,
  bootstrap: true,
  verified: true,
})

function hear(world: BlockWorld, { blocks, sealers }: Server): void {
  for (const block of blocks) {
    world.add(block)
    for (const signer of sealers) world.seal(block, signer)
  }
}

/**
 * Pulls what is wanted of alice's chain until her head is known down to what is stored; answers how often. Servers by
 * the identities of the peers.
 */
function catchUp(
  world: BlockWorld,
  servers: Readonly<Record<string, Server>>,
  stored: number,
  head: BlockRef,
): number {
  const { number, hash } = head
  const signers: Signer[] = [
    { identity: alice, head: { number, hash, nodeHeight: number }, heardMs: 0 },
  ]
  const nothing = { dropped: [], revised: [], gaps: [] }
  const facts = { signers, head: stored, windowFloor: 0, floor: 0, ...nothing }
  const peers = Object.keys(servers).map(peerOf)
  let backoffs: readonly PeerBackoff[] = []
  let recentPulls: readonly RecentPull[] = []
  let nowMs = 0
  for (let pulls = 0; pulls < enoughPulls; ) {
    if (world.find(hash) !== undefined && isLinked(world, head)) return pulls
    const wants = wantsOf(world, facts)
    const pull = nextPull({ wants, peers, backoffs, running: [], recentPulls, nowMs })
    if (pull === null) {
      nowMs = nextChangeMs({ backoffs, running: [], nowMs }) ?? assert.fail('nothing is asked for')
      continue
    }
    pulls += 1
    recentPulls = withRecentPull(recentPulls, pull)
    const server = servers[pull.peer] ?? assert.fail('somebody else is asked')
    const blocks = server.blocks.slice(pull.from, pull.to + 1)
    hear(world, { ...server, blocks })
    backoffs = afterPull(backoffs, pull, blocks.length, wantsOf(world, facts), nowMs)
  }
  return assert.fail(`the head is out of reach after ${enoughPulls} pulls`)
}

function worldOf({ stored, common, left, head, heard }: Scene): {
  readonly world: BlockWorld
  readonly served: readonly BlockRef[]
} {
  const served = [...branch('a', 0, common), ...branch('b', common + 1, head, `${common}a`)]
  const abandoned = branch('c', left + 1, head - 1, served[left]?.hash)
  const world = createBlockWorld()
  for (const block of branch('a', 0, stored)) world.store(block)
  hear(world, { blocks: [...world.chain.values()], sealers: [alice] })
  for (const { branch: name, from, count } of heard) {
    const blocks = name === 'b' ? served : abandoned
    const heard = blocks.filter(({ number }) => number >= from && number < from + count)
    hear(world, { blocks: heard, sealers: [alice] })
  }
  return { world, served }
}

const alone = (blocks: readonly BlockRef[]): Readonly<Record<string, Server>> => ({
  [alice]: { blocks, sealers: [alice] },
})

test('a Host whose tip was abandoned, more than a piece below what gossip brought, catches up', () => {
  const scene: Scene = {
    stored: 243,
    common: 240,
    left: 321,
    head: 322,
    heard: [{ branch: 'b', from: 311, count: 12 }],
  }
  const { world, served } = worldOf(scene)
  const head = served.at(-1) ?? assert.fail()
  assert.equal(catchUp(world, alone(served), scene.stored, head), 3)
})

test('an abandoned block that nobody serves any more does not block what comes after it', () => {
  const scene: Scene = {
    stored: 0,
    common: 0,
    left: 1,
    head: 4,
    heard: [{ branch: 'c', from: 3, count: 1 }],
  }
  const { world, served } = worldOf(scene)
  const head = served.at(-1) ?? assert.fail()
  assert.equal(catchUp(world, alone(served), scene.stored, head), 4)
})

test('whatever was stored and heard of branches that were left, the head is reached', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const { world, served } = worldOf(scene)
      catchUp(world, alone(served), scene.stored, served.at(-1) ?? assert.fail())
    }),
    { numRuns: 300 },
  )
})

test('documents of a liar among three that name parents nobody has keep nobody from the head', () => {
  const lies = fc.record({
    head: fc.integer({ min: 1, max: 200 }),
    heights: fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 10 }),
    isSmaller: fc.boolean(),
    peers: fc.shuffledSubarray(['alice', 'bob', 'mallory'], { minLength: 3 }),
    isHeard: fc.boolean(),
  })
  const honest = ['alice', 'bob']
  fc.assert(
    fc.property(lies, ({ head, heights, isSmaller, peers, isHeard }) => {
      const chain = branch('a', 0, head)
      const forged = chain.map((own) =>
        heights.includes(own.number)
          ? { ...own, parentHash: 'nowhere', root: `${isSmaller ? 'a' : 'z'} lie` }
          : own,
      )
      const world = createBlockWorld({ accepted: 3 })
      if (isHeard) hear(world, { blocks: forged, sealers: ['mallory'] })
      const servers = Object.fromEntries(
        peers.map((peer) => [
          peer,
          honest.includes(peer)
            ? { blocks: chain, sealers: [peer] }
            : { blocks: forged, sealers: ['mallory'] },
        ]),
      )
      catchUp(world, servers, -1, chain.at(-1) ?? assert.fail())
    }),
    { numRuns: 300 },
  )
})
