/** Chooses the changes of a run: places at random, and at each one of its changes that compiles. */
import type { SeededRandom } from '../support/seeded-random.ts'
import type { Mutant, Place } from './place.ts'

/** One change at each of `count` places, or at all of them where there are fewer; each is chosen when it is asked for. */
export function* chooseMutants(
  places: readonly Place[],
  count: number,
  random: SeededRandom,
  compiles: (mutant: Mutant) => boolean,
): Generator<Mutant> {
  let chosen = 0
  for (const place of shuffled(places, random)) {
    if (chosen === count) return
    const mutant = shuffled(place.mutants, random).find(compiles)
    if (mutant === undefined) continue
    chosen += 1
    yield mutant
  }
}

function shuffled<T>(list: readonly T[], random: SeededRandom): T[] {
  const rest = [...list]
  return list.map(() => {
    const [taken] = rest.splice(random.int(rest.length), 1)
    return taken as T
  })
}
