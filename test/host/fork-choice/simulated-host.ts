/**
 * A Host without disk and network: it hears blocks and heads in whatever order they come, and does what fork
 * choice decides. It checks for itself that every state of its chain is a valid one, and that everything it
 * serves was followed by a majority.
 */
import assert from 'node:assert/strict'
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import {
  countedSigners,
  followedSigners,
  type Signer,
} from '../../../src/host/fork-choice/counting.ts'
import {
  type Choice,
  decide,
  fillStep,
  type Memory,
  noMemory,
  type Step,
  withReplaced,
} from '../../../src/host/fork-choice/decision.ts'
import { type BlockWorld, createBlockWorld } from './block-world.ts'

export interface SignedHead {
  readonly identity: string
  readonly number: number
  readonly hash: string
  readonly sequence: number
  readonly nodeHeight: number
}

export interface SimulatedHost {
  readonly world: BlockWorld
  /** The stored chain, ascending, as in `4a 5a`. */
  chain(): string
  tip(): string | null
  choice(): Choice
  /** Numbers of blocks that were removed so far. */
  removed(): number
  hearBlock(link: BlockRef, sealers: readonly string[]): void
  hearHead(head: SignedHead): void
  /** Looks again at this time, in milliseconds. */
  look(nowMs: number): void
  /** Loses everything that is not on the disk. */
  restart(nowMs: number): void
}

export interface SimulationOptions {
  readonly accepted: readonly string[]
  /** Blocks at and below it are roots. Default 0. */
  readonly rootBelow?: number
}

/** A Host that starts at time 0. */
export function createSimulatedHost({ accepted, rootBelow = 0 }: SimulationOptions): SimulatedHost {
  const world = createBlockWorld({ rootBelow, accepted: accepted.length })
  const heads = new Map<string, SignedHead & { heardMs: number | null }>()
  const seals: [hash: string, identity: string][] = []
  /** What belongs below the chain once more of it is known. */
  const held = new Map<string, BlockRef>()
  let memory: Memory = noMemory
  let startedMs = 0
  let now = 0
  let removed = 0
  let choice: Choice | null = null

  const signers = (): Signer[] =>
    accepted.map((identity) => {
      const known = heads.get(identity)
      if (known === undefined) return { identity, head: null, heardMs: null }
      const { number, hash, nodeHeight, heardMs } = known
      return { identity, head: { number, hash, nodeHeight }, heardMs }
    })

  /** Whether more than half of the followed signers have sealed a block or what stands on it, or have their head there. */
  const isFollowed = (block: BlockRef): boolean => {
    const followed = followedSigners(signers(), { nowMs: now, startedMs })
    const on = followed.filter(({ identity, head }) =>
      world.links().some((upper) => {
        const isHis =
          head?.hash === upper.hash ||
          seals.some(([hash, who]) => hash === upper.hash && who === identity)
        return isHis && isBelow(world, block, upper)
      }),
    )
    return 2 * on.length > followed.length
  }

  const assertCounted = (): void => {
    const counted = countedSigners(signers(), { nowMs: now, startedMs })
    assert.ok(counted.length > 0, 'blocks gave way while nobody counts')
  }

  const take = (step: Step, isFill: boolean): void => {
    const conflict = step.kind === 'append' ? null : step.conflict
    for (let height = conflict?.from ?? 0; height <= (conflict?.to ?? -1); height++) {
      if (world.chain.has(height)) removed += 1
      world.unstore(height)
    }
    for (const each of step.kind === 'shrink' ? [] : step.path) {
      assert.ok(isFill || isFollowed(each), `${each.hash} was stored, and no majority follows it`)
      world.store(each)
    }
    assertValid(world)
  }

  const look = (nowMs: number): void => {
    now = nowMs
    for (let step: Step | null = null; ; ) {
      const decision = decide(world, signers(), memory, { nowMs, startedMs })
      choice = decision.choice
      memory = decision.memory
      step = decision.step
      if (step === null) break
      if (step.kind !== 'append') assertCounted()
      take(step, false)
      if (step.kind !== 'append') memory = withReplaced(memory, step.conflict.depth, nowMs)
    }
  }

  const fill = (block: BlockRef): void => {
    for (let at: BlockRef | undefined = block; at !== undefined; ) {
      const step = fillStep(world, at)
      if (step === 'later') held.set(at.hash, at)
      else held.delete(at.hash)
      if (step === null || step === 'later' || step.kind === 'shrink') return
      take(step, true)
      at = world.find((step.path[0] ?? at).parentHash)
    }
  }

  return {
    world,
    look,
    removed: () => removed,
    chain: () =>
      [...world.chain.values()]
        .sort((a, b) => a.number - b.number)
        .map(({ hash }) => hash)
        .join(' '),
    tip: () => [...world.chain.values()].sort((a, b) => b.number - a.number)[0]?.hash ?? null,
    choice: () => choice ?? assert.fail('it has not looked yet'),
    hearBlock: (block, sealers) => {
      world.add(block)
      for (const identity of sealers) {
        seals.push([block.hash, identity])
        world.seal(block, identity)
      }
      look(now)
      for (const each of [world.waiting(block.hash) ?? block, ...held.values()]) fill(each)
    },
    hearHead: (head) => {
      const known = heads.get(head.identity)
      if (known !== undefined && known.sequence >= head.sequence) return
      heads.set(head.identity, { ...head, heardMs: now })
      look(now)
    },
    restart: (nowMs) => {
      startedMs = nowMs
      memory = noMemory
      for (const [identity, head] of heads) heads.set(identity, { ...head, heardMs: null })
      world.forgetWaiting()
      look(nowMs)
    },
  }
}

/** Whether one block is another or below it, by whatever documents a signer has sealed. */
function isBelow(world: BlockWorld, lower: BlockRef, upper: BlockRef): boolean {
  let hashes = new Set([upper.hash])
  for (let height = upper.number; height > lower.number && hashes.size > 0; height--) {
    const links = [...hashes].flatMap((hash) => world.variants(hash))
    hashes = new Set(links.map(({ parentHash }) => parentHash))
  }
  return hashes.has(lower.hash)
}

/** Neighbours are parent and child. */
function assertValid(world: BlockWorld): void {
  for (const [height, { hash, parentHash }] of world.chain) {
    const below = world.chain.get(height - 1)
    if (below !== undefined) assert.equal(parentHash, below.hash, `${hash} stands on ${below.hash}`)
  }
}
