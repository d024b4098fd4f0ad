/**
 * Any chains, heads, silences, lies about heads and documents, and restarts, arriving in any order: a Host never
 * serves a block that no majority followed (the simulated Host sees to that itself), and Hosts that know the same
 * agree.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import { link } from './block-world.ts'
import { createSimulatedHost, type SignedHead, type SimulatedHost } from './simulated-host.ts'

const signers = ['A', 'B', 'C', 'D', 'E']

/** What happens in the world; indexes are taken modulo what there is. */
type Act =
  | { readonly kind: 'mine'; readonly on: number }
  | { readonly kind: 'move'; readonly signer: number; readonly to: number }
  | { readonly kind: 'lie'; readonly signer: number; readonly number: number }
  /** The last of three or more signers seals a block with documents that name another parent. */
  | {
      readonly kind: 'forge'
      readonly block: number
      readonly parent: number
      readonly isSmaller: boolean
    }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'restart'; readonly host: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('mine' as const), on: fc.nat({ max: 4 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      signer: fc.nat(4),
      to: fc.nat({ max: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('lie' as const),
      signer: fc.nat(4),
      number: fc.nat({ max: 2 ** 31 - 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('forge' as const),
      block: fc.nat({ max: 6 }),
      parent: fc.nat({ max: 3 }),
      isSmaller: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.nat({ max: 70 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), host: fc.nat(1) }) },
)

/** What a Host receives, sooner or later. */
type Message =
  | { readonly block: BlockRef; readonly sealers: readonly string[] }
  | { readonly head: SignedHead }

interface World {
  readonly blocks: BlockRef[]
  readonly sealed: Map<string, Set<string>>
  readonly heads: Map<string, SignedHead>
  /** Hashes about which the liar lied. */
  readonly forged: Set<string>
  sequence: number
}

function startWorld(): World {
  return {
    blocks: [link(0, 'g', 'nothing')],
    sealed: new Map(),
    heads: new Map(),
    forged: new Set(),
    sequence: 0,
  }
}

/** The messages that an act gives rise to. */
function perform(world: World, { ...own }: Act, count: number): Message[] {
  if (own.kind === 'mine') {
    const parent = recent(world, own.on)
    world.blocks.push(link(parent.number + 1, `x${world.blocks.length}`, parent.hash))
    return []
  }
  if (own.kind === 'forge') return forge(world, own, count)
  if (own.kind !== 'move' && own.kind !== 'lie') return []
  const identity = signers[own.signer % count] ?? 'A'
  const { number, hash } =
    own.kind === 'move' ? recent(world, own.to) : { number: own.number, hash: `lie ${own.number}` }
  world.sequence += 1
  const head = { identity, number, hash, nodeHeight: number, sequence: world.sequence }
  world.heads.set(identity, head)
  return [...seal(world, identity, hash), { head }]
}

/** A lie about what a block stands on: another block of the height below, or one that there is not. */
function forge(
  world: World,
  { block, parent, isSmaller }: Extract<Act, { kind: 'forge' }>,
  count: number,
): Message[] {
  const { number, hash, ...rest } = recent(world, block)
  if (count < 3 || number === 0) return []
  const below = world.blocks.filter((own) => own.number === number - 1)
  const parentHash = below[parent]?.hash ?? 'nowhere'
  world.forged.add(hash)
  const root = `${isSmaller ? 'a' : 'z'} lie about ${hash}`
  return [
    {
      block: { ...rest, number, hash, parentHash, root },
      sealers: [signers[count - 1] ?? 'A'],
    },
  ]
}

/** A Generator seals its whole chain. */
function seal(world: World, identity: string, tip: string): Message[] {
  const messages: Message[] = []
  for (let own = find(world, tip); own !== undefined; own = find(world, own.parentHash)) {
    const sealers = world.sealed.get(own.hash) ?? new Set()
    if (sealers.has(identity)) break
    world.sealed.set(own.hash, sealers.add(identity))
    messages.unshift({ block: own, sealers: [identity] })
  }
  return messages
}

const find = (world: World, hash: string): BlockRef | undefined =>
  world.blocks.find((own) => own.hash === hash)

function recent(world: World, back: number): BlockRef {
  return world.blocks.at(-1 - (back % world.blocks.length)) ?? link(0, 'g', 'nothing')
}

function deliver(host: SimulatedHost, message: Message): void {
  if ('head' in message) host.hearHead(message.head)
  else host.hearBlock(message.block, message.sealers)
}

/** Delivers everything, and heads that are newer than all before, for as long as anything may be waited for. */
function settle(
  host: SimulatedHost,
  world: World,
  messages: readonly Message[],
  start: number,
): void {
  for (const message of messages) deliver(host, message)
  for (let step = 0; step <= 10; step++) {
    const nowMs = start + step * 15_000
    host.look(nowMs)
    for (const head of world.heads.values())
      host.hearHead({ ...head, sequence: world.sequence + 1 + step })
    host.look(nowMs + 6_000)
  }
}

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

const scenario = fc.record({
  count: fc.integer({ min: 1, max: signers.length }),
  acts: fc.array(act, { minLength: 5, maxLength: 60, size: 'max' }),
  /** In which order and how late each of two Hosts hears. */
  delays: fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })), {
    minLength: 1,
    maxLength: 20,
    size: 'max',
  }),
})

/** A Host that hears each message some acts late. */
interface Listener {
  readonly host: SimulatedHost
  /** A message that is due at an act, counted from the first. */
  send(due: number, message: Message): void
  /** Time passes up to an act; the latest of what is due comes first. */
  reach(index: number, nowMs: number): void
}

function createListener(accepted: readonly string[]): Listener {
  const host = createSimulatedHost({ accepted })
  let queue: { due: number; message: Message }[] = []
  return {
    host,
    send: (due, message) => void queue.push({ due, message }),
    reach: (index, nowMs) => {
      host.look(nowMs)
      const arriving = queue.filter(({ due }) => due <= index)
      queue = queue.filter(({ due }) => due > index)
      for (const { message } of arriving.reverse()) deliver(host, message)
    },
  }
}

/** Lets everything happen; answers what there was to hear, and when it ended. */
function play(
  { count, acts, delays }: Scenario,
  listeners: readonly Listener[],
): { world: World; everything: Message[]; nowMs: number } {
  const world = startWorld()
  const everything: Message[] = []
  let nowMs = 0
  for (const [index, own] of acts.entries()) {
    if (own.kind === 'wait') nowMs += own.seconds * 1_000
    if (own.kind === 'restart') listeners[own.host]?.host.restart(nowMs)
    for (const message of perform(world, own, count)) {
      everything.push(message)
      const late = delays[everything.length % delays.length] ?? [0, 0]
      for (const [each, listener] of listeners.entries())
        listener.send(index + (late[each] ?? 0), message)
    }
    for (const listener of listeners) listener.reach(index, nowMs)
  }
  return { world, everything, nowMs }
}

/** Whether more than half of the accepted signers sealed a block with the documents that it has. */
function isHonest(world: World, hash: string, accepted: readonly string[]): boolean {
  const honest = new Set(world.sealed.get(hash))
  if (world.forged.has(hash)) honest.delete(accepted.at(-1) ?? '')
  return 2 * honest.size > accepted.length
}

/** What most signers sealed is served with their documents, down from the canonical block. */
function assertDocuments(
  { world: { chain } }: SimulatedHost,
  world: World,
  canonical: BlockRef,
  accepted: readonly string[],
): void {
  for (
    let own = find(world, canonical.hash);
    own !== undefined;
    own = find(world, own.parentHash)
  ) {
    if (!isHonest(world, own.hash, accepted)) return
    assert.deepEqual(chain.get(own.number), own)
  }
}

test('what is known decides, and not the order in which it came', () => {
  fc.assert(
    fc.property(scenario, (given) => {
      const accepted = signers.slice(0, given.count)
      const [one, other] = [createListener(accepted), createListener(accepted)]
      const { world, everything, nowMs } = play(given, [one, other])
      settle(one.host, world, everything, nowMs)
      settle(other.host, world, everything.toReversed(), nowMs)
      // Where a liar has half of the seals of a block, nobody can know what the block stands on.
      if (![...world.forged].every((hash) => isHonest(world, hash, accepted))) return
      const { canonical } = one.host.choice()
      assert.equal(other.host.choice().canonical?.hash, canonical?.hash)
      if (canonical === null) return
      for (const { host } of [one, other]) {
        assert.equal(host.world.chain.get(canonical.number)?.hash, canonical.hash)
        assertDocuments(host, world, canonical, accepted)
      }
    }),
    { numRuns: 5_000 },
  )
})
