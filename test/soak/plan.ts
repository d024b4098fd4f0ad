/** What goes wrong during a soak, and when: the same for the same seed and number of minutes. */
import { type Reorganisation, reorganisations } from '../support/chain/moving-chain.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { type Absence, absences } from './node-link.ts'

export const generatorNames = ['generator 1', 'generator 2'] as const
export const hostNames = ['host 1', 'host 2', 'host 3'] as const
export type GeneratorName = (typeof generatorNames)[number]
export type HostName = (typeof hostNames)[number]
export type MemberName = GeneratorName | HostName

/** Something that goes wrong; times are in seconds from the start. */
export type Disruption = { readonly atS: number } & (
  | { readonly kind: 'reorganisation'; readonly depth: number; readonly way: Reorganisation }
  | { readonly kind: 'kill'; readonly name: MemberName; readonly downS: number }
  | {
      readonly kind: 'absence'
      readonly names: readonly GeneratorName[]
      readonly way: Absence
      readonly forS: number
    }
)

/** Before this there is too little to lose, and after this before the end too little time to see what became of it. */
const calmS = { atStart: 25, atEnd: 15 }
const maxDepth = 10
const absentS = 40
/** One absence in so many minutes. */
const minutesPerAbsence = 3
/** How long a killed program stays away. Above 45 s a Generator no longer counts. */
const shortDownS = [0, 2, 8] as const
const downS = [...shortDownS, 25, 70] as const

/** Disruptions in the order of their times; at least one of each kind, and both kinds of programs are killed. */
export function planDisruptions(minutes: number, random: SeededRandom): Disruption[] {
  const disruptions = [
    ...planReorganisations(minutes, random),
    ...planKills(minutes, random),
    ...planAbsences(minutes, random),
  ]
  return disruptions.sort((a, b) => a.atS - b.atS)
}

function planReorganisations(minutes: number, random: SeededRandom): Disruption[] {
  return spread(Math.max(1, Math.floor(minutes)), minutes, 0, random).map((atS) => ({
    kind: 'reorganisation',
    atS,
    depth: 1 + random.int(maxDepth),
    way: random.pick(reorganisations),
  }))
}

/** One in two minutes. The first two are of a Generator and of a Host, and short: there may be no others. */
function planKills(minutes: number, random: SeededRandom): Disruption[] {
  const first: MemberName[] = [random.pick(generatorNames), random.pick(hostNames)]
  if (random.int(2) === 0) first.reverse()
  const times = spread(Math.max(first.length, Math.floor(minutes / 2)), minutes, 0, random)
  return times.map((atS, index) => ({
    kind: 'kill',
    atS,
    name: first[index] ?? random.pick([...generatorNames, ...hostNames]),
    downS: random.pick(index < first.length ? shortDownS : downS),
  }))
}

function planAbsences(minutes: number, random: SeededRandom): Disruption[] {
  const count = Math.max(1, Math.floor(minutes / minutesPerAbsence))
  return spread(count, minutes, absentS, random).map((atS) => ({
    kind: 'absence',
    atS,
    names: random.pick([[generatorNames[0]], [generatorNames[1]], generatorNames]),
    way: random.pick(absences),
    forS: absentS,
  }))
}

/** One moment in each of `count` equal parts of the time in which something may begin that lasts `lastingS`. */
function spread(count: number, minutes: number, lastingS: number, random: SeededRandom): number[] {
  const endS = minutes * 60 - calmS.atEnd - lastingS
  const partS = Math.max(0, endS - calmS.atStart) / count
  return Array.from({ length: count }, (_, index) =>
    Math.round(calmS.atStart + index * partS + (random.int(1_000) / 1_000) * partS),
  )
}

/** A disruption as a line of the report. */
export function disruptionText(disruption: Disruption): string {
  if (disruption.kind === 'reorganisation')
    return `reorganisation: ${disruption.depth} blocks ${disruption.way}`
  if (disruption.kind === 'kill')
    return `kill -9: ${disruption.name}, which is away for ${disruption.downS} s`
  return `the node of ${disruption.names.join(' and ')} ${disruption.way} for ${disruption.forS} s`
}
