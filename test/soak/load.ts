/** Mines about 50 transactions a second: mostly a block a second, now and then several at once, an empty or a huge one. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MovingChain } from '../support/chain/moving-chain.ts'
import type { SeededRandom } from '../support/seeded-random.ts'

/** Groups of senders whose transactions are about 50 together. */
export const groups = 8
const everyMs = 1_000

/** One in so many seconds. */
const oneIn = { burst: 5, empty: 12, bulky: 45 }

interface Load {
  /** Mines no more than it takes for the chain to be longer than ever; resolves when the last block is there. Rejects where the node refused something. */
  stop(): Promise<void>
}

/** Begins to mine. */
export function openLoad(chain: MovingChain, random: SeededRandom): Load {
  const stopping = new AbortController()
  const { signal } = stopping
  const mineSecond = async (): Promise<void> => {
    if (random.int(oneIn.bulky) === 0) return await chain.mineBulky()
    if (random.int(oneIn.empty) === 0) return await chain.mine(0)
    if (random.int(oneIn.burst) > 0) return await chain.mine(groups)
    for (let block = 0; block < groups; block++) await chain.mine(1)
  }
  const mining = (async () => {
    while (!signal.aborted) {
      const next = sleep(everyMs, undefined, { signal }).catch(() => undefined)
      await mineSecond()
      await next
    }
  })()
  mining.catch(() => undefined)
  return {
    async stop() {
      stopping.abort()
      await mining
      await chain.outgrow()
    },
  }
}
