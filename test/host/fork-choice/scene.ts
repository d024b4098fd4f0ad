/** A Host in a world of Generators that seal, say heads, and are silent, as time passes. */
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import {
  createSimulatedHost,
  type SimulatedHost,
  type SimulationOptions,
} from './simulated-host.ts'

export const second = 1_000
export const minute: number = 60 * second

interface Scene {
  readonly host: SimulatedHost
  /** The time, in milliseconds since the start. */
  now(): number
  /** These Generators seal the blocks, and their heads go to the last one. */
  follow(who: readonly string[], blocks: readonly BlockRef[], nodeHeight?: number): void
  /** Their heads alone, sealed or not. */
  say(who: readonly string[], block: Pick<BlockRef, 'number' | 'hash'>, nodeHeight?: number): void
  /** Time passes; the Generators that are alive repeat their heads every 15 seconds. */
  pass(ms: number, alive?: readonly string[]): void
}

/** At time 0. */
export function openScene(options: SimulationOptions): Scene {
  const host = createSimulatedHost(options)
  const last = new Map<string, { number: number; hash: string; nodeHeight: number }>()
  let now = 0
  let sequence = 0
  const say: Scene['say'] = (who, { number, hash }, nodeHeight = number) => {
    for (const identity of who) {
      last.set(identity, { number, hash, nodeHeight })
      host.hearHead({ identity, number, hash, nodeHeight, sequence: ++sequence })
    }
  }
  return {
    host,
    now: () => now,
    say,
    follow: (who, blocks, nodeHeight) => {
      for (const block of blocks) host.hearBlock(block, who)
      const top = blocks.at(-1)
      if (top !== undefined) say(who, top, nodeHeight)
    },
    pass: (ms, alive = options.accepted) => {
      for (const end = now + ms; now < end; ) {
        now = Math.min(end, now + 15 * second)
        host.look(now)
        for (const identity of alive) {
          const head = last.get(identity)
          if (head !== undefined) say([identity], head, head.nodeHeight)
        }
      }
    },
  }
}

/** Blocks as `SimulatedHost.chain` shows them. */
export const all = (...parts: readonly (readonly BlockRef[])[]): string =>
  parts
    .flat()
    .map(({ hash }) => hash)
    .join(' ')
