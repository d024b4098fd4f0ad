/** Replicas that answered at `/health`, and what several of them say alike. */
import type { FailureReport } from '../../../src/service/contract.ts'
import { withoutStop } from '../sentences.ts'
import type { HealthView } from './health-view.ts'

/** By ordinal, of replicas that run; null where one could not be asked. */
export type AskedViews = ReadonlyMap<number, HealthView | null>

export interface Asked {
  readonly ordinal: number
  readonly view: HealthView
}

/** What is said where nobody answered. */
export const unobserved = {
  reason: 'Unobserved',
  message: 'No pod could be asked for its health.',
} as const

export function askedOf(views: AskedViews): Asked[] {
  return [...views].flatMap(([ordinal, view]) => (view === null ? [] : [{ ordinal, view }]))
}

/** Which replicas, as in `replica 0, 2`. */
export function placesOf(asked: readonly Pick<Asked, 'ordinal'>[]): string {
  return `replica ${asked.map(({ ordinal }) => ordinal).join(', ')}`
}

/** Failures of one code, in the words of the first replica that tells any, and all replicas that do. */
export interface SharedFailure {
  readonly failure: FailureReport
  /** What that replica says: of several peers or signers, of each. */
  readonly text: string
  readonly ordinals: readonly number[]
}

/** Of one code, so many are told. */
const maxTold = 3

/** Failures by their codes, in the order in which they are told. */
export function sharedFailures(asked: readonly Asked[]): SharedFailure[] {
  const each = asked.flatMap(({ ordinal, view }) =>
    view.errors.map((failure) => ({ ordinal, failure })),
  )
  return [...Map.groupBy(each, ({ failure }) => failure.code).values()].flatMap((told) => {
    const [first] = told
    if (first === undefined) return []
    const own = told.filter(({ ordinal }) => ordinal === first.ordinal)
    const texts = own.map(({ failure }) => withoutStop(failure.message))
    const more = texts.length > maxTold ? `; and ${texts.length - maxTold} more` : ''
    const text = `${texts.slice(0, maxTold).join('; ')}${more}`
    const ordinals = [...new Set(told.map(({ ordinal }) => ordinal))]
    return [{ failure: first.failure, text, ordinals }]
  })
}
