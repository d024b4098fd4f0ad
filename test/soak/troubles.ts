/** Makes happen what was planned. */
import type { MovingChain } from '../support/chain/moving-chain.ts'
import { pause } from '../support/programs.ts'
import type { Fleet } from './fleet.ts'
import { type Trouble, troubleText } from './plan.ts'

interface TroubleParts {
  readonly chain: Pick<MovingChain, 'reorganise' | 'head'>
  readonly fleet: Pick<Fleet, 'generators' | 'killAndReturn'>
  readonly say: (text: string) => void
}

/** Resolves when everything has happened and is over: all programs are back, and so is the node. */
export async function causeTroubles(
  troubles: readonly Trouble[],
  parts: TroubleParts,
): Promise<void> {
  const startMs = performance.now()
  let absences: Promise<void> = Promise.resolve()
  const cause = (trouble: Trouble): Promise<void> => {
    if (trouble.kind === 'reorganisation') return parts.chain.reorganise(trouble.depth, trouble.way)
    if (trouble.kind === 'kill') return parts.fleet.killAndReturn(trouble.name, trouble.downS * 1e3)
    // A node is not away twice at a time.
    absences = absences.then(() => takeNodeAway(trouble, parts))
    return absences
  }
  const under: Promise<void>[] = []
  for (const trouble of troubles) {
    await pause(Math.max(0, startMs + trouble.atS * 1e3 - performance.now()))
    parts.say(`${trouble.atS} s, block ${parts.chain.head().number}: ${troubleText(trouble)}`)
    const caused = cause(trouble)
    caused.catch(() => undefined)
    under.push(caused)
  }
  await Promise.all(under)
}

async function takeNodeAway(
  { names, way, forS }: Extract<Trouble, { kind: 'absence' }>,
  { fleet }: TroubleParts,
): Promise<void> {
  const links = fleet.generators.filter(({ name }) => names.includes(name)).map(({ link }) => link)
  await Promise.all(links.map((link) => link.leave(way)))
  await pause(forS * 1e3)
  await Promise.all(links.map((link) => link.comeBack()))
}
