/**
 * Any chains, heads, silences, lies and restarts, arriving in any order: a Host never serves a block that no
 * majority followed (the simulated Host sees to that itself), and Hosts that know the same agree.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Link } from '../../../src/host/fork-choice/link.ts'
import { link } from './block-world.ts'
import { createSimulatedHost, type SignedHead, type SimulatedHost } from './simulated-host.ts'

const signers = ['A', 'B', 'C', 'D', 'E']

/** What happens in the world; indexes are taken modulo what there is. */
type Act =
  | { readonly kind: 'mine'; readonly on: number }
  | { readonly kind: 'move'; readonly signer: number; readonly to: number }
  | { readonly kind: 'lie'; readonly signer: number; readonly number: number }
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
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.nat({ max: 70 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), host: fc.nat(1) }) },
)

/** What a Host is told, sooner or later. */
type Message =
  | { readonly block: Link; readonly sealers: readonly string[] }
  | { readonly head: SignedHead }

interface World {
  readonly blocks: Link[]
  readonly sealed: Map<string, Set<string>>
  readonly heads: Map<string, SignedHead>
  sequence: number
}

function startWorld(): World {
  return { blocks: [link(0, 'g', 'nothing')], sealed: new Map(), heads: new Map(), sequence: 0 }
}

/** The messages that an act gives rise to. */
function perform(world: World, { ...own }: Act, count: number): Message[] {
  if (own.kind === 'mine') {
    const parent = recent(world, own.on)
    world.blocks.push(link(parent.number + 1, `x${world.blocks.length}`, parent.hash))
    return []
  }
  if (own.kind !== 'move' && own.kind !== 'lie') return []
  const identity = signers[own.signer % count] ?? 'A'
  const { number, hash } =
    own.kind === 'move' ? recent(world, own.to) : { number: own.number, hash: `lie ${own.number}` }
  world.sequence += 1
  const head = { identity, number, hash, nodeHeight: number, sequence: world.sequence }
  world.heads.set(identity, head)
  return [...seal(world, identity, hash), { head }]
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

const find = (world: World, hash: string): Link | undefined =>
  world.blocks.find((own) => own.hash === hash)

function recent(world: World, back: number): Link {
  return world.blocks.at(-1 - (back % world.blocks.length)) ?? link(0, 'g', 'nothing')
}

function tell(host: SimulatedHost, message: Message): void {
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
  for (const message of messages) tell(host, message)
  for (let step = 0; step <= 10; step++) {
    const nowMs = start + step * 15_000
    host.look(nowMs)
    for (const head of world.heads.values())
      host.hearHead({ ...head, sequence: world.sequence + 1 + step })
    host.look(nowMs + 6_000)
  }
}

const scenario = fc.record({
  count: fc.integer({ min: 1, max: signers.length }),
  acts: fc.array(act, { minLength: 5, maxLength: 60 }),
  /** In which order and how late each of two Hosts hears. */
  delays: fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })), {
    minLength: 1,
    maxLength: 20,
  }),
})

test('what is known decides, and not the order in which it came', () => {
  fc.assert(
    fc.property(scenario, ({ count, acts, delays }) => {
      const accepted = signers.slice(0, count)
      const hosts = [createSimulatedHost({ accepted }), createSimulatedHost({ accepted })] as const
      const world = startWorld()
      const everything: Message[] = []
      const queues: { due: number; message: Message }[][] = [[], []]
      let nowMs = 0
      for (const [index, own] of acts.entries()) {
        if (own.kind === 'wait') nowMs += own.seconds * 1_000
        if (own.kind === 'restart') hosts[own.host === 0 ? 0 : 1].restart(nowMs)
        for (const message of perform(world, own, count)) {
          everything.push(message)
          const late = delays[everything.length % delays.length] ?? [0, 0]
          for (const each of [0, 1] as const)
            queues[each]?.push({ due: index + (late[each] ?? 0), message })
        }
        for (const each of [0, 1] as const) {
          hosts[each].look(nowMs)
          const queue = queues[each] ?? []
          queues[each] = queue.filter(({ due }) => due > index)
          for (const { message } of queue.filter(({ due }) => due <= index).reverse())
            tell(hosts[each], message)
        }
      }
      settle(hosts[0], world, everything, nowMs)
      settle(hosts[1], world, everything.toReversed(), nowMs)
      const [one, other] = hosts
      const canonical = one.choice().canonical
      assert.equal(other.choice().canonical?.hash, canonical?.hash)
      if (canonical === null) return
      for (const { world: own } of hosts)
        assert.equal(own.chain.get(canonical.number)?.hash, canonical.hash)
    }),
    { numRuns: 1_500 },
  )
})
