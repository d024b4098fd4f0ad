/** Makes happen what was planned. */
import type { MovingChain } from '../support/chain/moving-chain.ts'
import { pause } from '../support/programs.ts'
import type { Fleet } from './fleet.ts'
import { type Disruption, disruptionText } from './plan.ts'

interface DisruptionParts {
  readonly chain: Pick<MovingChain, 'reorganise' | 'head'>
  readonly fleet: Pick<Fleet, 'generators' | 'killAndReturn'>
  readonly say: (text: string) => void
}

/** Resolves when everything has happened and is over: all programs are back, and so is the node. */
export async function causeDisruptions(
  disruptions: readonly Disruption[],
  parts: DisruptionParts,
): Promise<void> {
  const startMs = performance.now()
  let absences: Promise<void> = Promise.resolve()
  const cause = (disruption: Disruption): Promise<void> => {
    if (disruption.kind === 'reorganisation')
      return parts.chain.reorganise(disruption.depth, disruption.way)
    if (disruption.kind === 'kill')
      return parts.fleet.killAndReturn(disruption.name, disruption.downS * 1e3)
    // A node is not away twice at a time.
    absences = absences.then(() => takeNodeAway(disruption, parts))
    return absences
  }
  const under: Promise<void>[] = []
  for (const disruption of disruptions) {
    await pause(Math.max(0, startMs + disruption.atS * 1e3 - performance.now()))
    parts.say(
      `${disruption.atS} s, block ${parts.chain.head().number}: ${disruptionText(disruption)}`,
    )
    const caused = cause(disruption)
    caused.catch(() => undefined)
    under.push(caused)
  }
  await Promise.all(under)
}

async function takeNodeAway(
  { names, way, forS }: Extract<Disruption, { kind: 'absence' }>,
  { fleet }: DisruptionParts,
): Promise<void> {
  const links = fleet.generators.filter(({ name }) => names.includes(name)).map(({ link }) => link)
  await Promise.all(links.map((link) => link.leave(way)))
  await pause(forS * 1e3)
  await Promise.all(links.map((link) => link.comeBack()))
}
