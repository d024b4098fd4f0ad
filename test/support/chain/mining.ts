/** A chain that never rests: blocks of every kind of transaction, and reorganisations at random. */

import { pause } from '../programs.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type MovingChain, reorganisations } from './moving-chain.ts'

interface Mining {
  readonly figures: { readonly reorganisations: number }
  /** Begins, or goes on. */
  go(): void
  /** Rests from now on; resolves when the chain is longer than it ever was and stands still. */
  hold(): Promise<void>
}

/** Between two blocks, where nothing else is said. */
const defaultPauseMs = 40
/** One reorganisation in so many blocks. */
const blocksPerReorganisation = 12
const maxDepth = 10
/** Before this there is nothing that could be left. */
const firstReorganisation = 20

/** Not begun yet. */
export function openMining(
  chain: MovingChain,
  random: SeededRandom,
  { pauseMs = defaultPauseMs }: { readonly pauseMs?: number } = {},
): Mining {
  const figures = { reorganisations: 0 }
  let isHeld = true
  let mining: Promise<void> = Promise.resolve()
  const reorganise = async (): Promise<void> => {
    figures.reorganisations += 1
    await chain.reorganise(1 + random.int(maxDepth), random.pick(reorganisations))
  }
  const mine = async (): Promise<void> => {
    while (!isHeld) {
      await chain.mine(1)
      const isDue = random.int(blocksPerReorganisation) === 0
      if (isDue && chain.head().number > firstReorganisation) await reorganise()
      await pause(pauseMs)
    }
  }
  return {
    figures,
    go() {
      isHeld = false
      mining = mine()
      mining.catch(() => undefined)
    },
    async hold() {
      isHeld = true
      await mining
      await chain.outgrow()
    },
  }
}
