/** One soak from its start to what was found: nothing is checked before all have had the chance to follow. */
import type { MovingChain } from '../support/chain/moving-chain.ts'
import { startMovingChain } from '../support/chain/moving-chain.ts'
import { pause } from '../support/programs.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { causeDisruptions } from './disruptions.ts'
import { type Comparison, compareStores, settle } from './ending.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { groups, openLoad } from './load.ts'
import { checkMemory, type MemoryVerdict } from './memory.ts'
import { observeFleet } from './observer.ts'
import { planDisruptions } from './plan.ts'
import { type Watcher, watchHost } from './watcher.ts'

interface SoakOptions {
  readonly minutes: number
  readonly seed: string
  /** An empty folder for what the programs keep and say. */
  readonly folder: string
}

/** What a soak has found. */
export interface Found {
  /** Everything that was not as it has to be; empty where all is well. */
  readonly faults: readonly string[]
  readonly chain: MovingChain['figures']
  readonly watchers: readonly Watcher['figures'][]
  /** Seconds in which a program showed a failure, by its code. */
  readonly failures: ReadonlyMap<string, number>
  readonly memory: readonly MemoryVerdict[]
  readonly settleMs: number
  readonly compared: Comparison
}

/** Blocks that each program keeps: some two minutes', so that the shortest soak prunes as well. */
const retainBlocks = 200
const sayEveryMs = 30_000

/** Runs it; rejects only where programs or node could not be started or told to do something. */
export async function soak(options: SoakOptions, say: (text: string) => void): Promise<Found> {
  const { minutes, seed, folder } = options
  const random = (of: string): ReturnType<typeof createSeededRandom> =>
    createSeededRandom(`${seed} ${of}`)
  const chain = await startMovingChain({ groups, random: random('chain') })
  const fleet = await startFleet({ folder, nodePort: chain.anvil.port, retainBlocks })
  try {
    const watchers = fleet.hosts.map((host) => watchHost(host, chain.wasLeft))
    const observer = observeFleet(fleet)
    const load = openLoad(chain, random('load'))
    const progress = sayProgress({ chain, fleet, say })
    const disruptions = planDisruptions(minutes, random('disruptions'))
    await Promise.all([pause(minutes * 60e3), causeDisruptions(disruptions, { chain, fleet, say })])
    progress.stop()
    await load.stop()
    say(`block ${chain.head().number} is the last one, waits until all have followed`)
    const startMs = performance.now()
    const unsettled = await settle(fleet, chain)
    const settleMs = performance.now() - startMs
    await Promise.all([...watchers, observer].map((each) => each.stop()))
    const compared = await compareStores(fleet, chain, retainBlocks)
    const memory = checkMemory(observer.samples)
    const faults = [
      ...observer.faults,
      ...watchers.flatMap((each) => each.faults),
      ...watchers.flatMap(({ hashes }) => strangeBlocks(hashes, chain)),
      ...unsettled.map((what) => `not settled: ${what}`),
      ...compared.differences,
      ...memory.filter(({ isFlat }) => !isFlat).map(({ name }) => `the memory of ${name} grew`),
    ]
    return {
      faults,
      chain: chain.figures,
      watchers: watchers.map(({ figures }) => figures),
      failures: observer.failures,
      memory,
      settleMs,
      compared,
    }
  } finally {
    await fleet.stop()
    await chain.close()
  }
}

function strangeBlocks(hashes: ReadonlySet<string>, { wasMined }: MovingChain): string[] {
  return [...hashes]
    .filter((hash) => !wasMined(hash))
    .map((hash) => `block ${hash} was served and never was the node's`)
}

/** Says now and then how far all are. */
function sayProgress(parts: {
  readonly chain: MovingChain
  readonly fleet: Fleet
  readonly say: (text: string) => void
}): { stop(): void } {
  const { chain, fleet, say } = parts
  const sayHeads = async (): Promise<void> => {
    const heads = await Promise.all(
      fleet.members.map(async ({ name, program }) => {
        const report = await program.health().catch(() => null)
        return `${name} ${report === null ? 'is away' : report.head}`
      }),
    )
    say(`block ${chain.head().number}: ${heads.join(', ')}`)
  }
  const timer = setInterval(() => void sayHeads(), sayEveryMs)
  return { stop: () => clearInterval(timer) }
}
