/** Replicas that answered at `/health`, and what several of them report alike. */
import type { FailureReport } from '../../../src/service/contract.ts'
import { withoutStop } from '../statements/sentences.ts'
import type { HealthView } from './health-view.ts'

/** By ordinal, of replicas that run; null where one could not be asked. */
export type ReplicaViews = ReadonlyMap<number, HealthView | null>

export interface ReportingReplica {
  readonly ordinal: number
  readonly view: HealthView
}

/** What is reported where no replica answered. */
export const unobserved = {
  reason: 'Unobserved',
  message: 'No pod could be asked for its health.',
} as const

export function reportingReplicas(views: ReplicaViews): ReportingReplica[] {
  return [...views].flatMap(([ordinal, view]) => (view === null ? [] : [{ ordinal, view }]))
}

/** Which replicas, as in `replica 0, 2`. */
export function placesOf(reporting: readonly Pick<ReportingReplica, 'ordinal'>[]): string {
  return `replica ${reporting.map(({ ordinal }) => ordinal).join(', ')}`
}

/** Failures of one code, with the message of the first replica that reports any, and all replicas that do. */
export interface SharedFailure {
  readonly failure: FailureReport
  /** What that replica says: of several peers or signers, of each. */
  readonly text: string
  readonly ordinals: readonly number[]
}

/** Of one code, so many are reported. */
const maxReported = 3

/** Failures by their codes, in the order in which they are reported. */
export function sharedFailures(reporting: readonly ReportingReplica[]): SharedFailure[] {
  const each = reporting.flatMap(({ ordinal, view }) =>
    view.errors.map((failure) => ({ ordinal, failure })),
  )
  return [...Map.groupBy(each, ({ failure }) => failure.code).values()].flatMap((reported) => {
    const [first] = reported
    if (first === undefined) return []
    const own = reported.filter(({ ordinal }) => ordinal === first.ordinal)
    const texts = own.map(({ failure }) => withoutStop(failure.message))
    const more = texts.length > maxReported ? `; and ${texts.length - maxReported} more` : ''
    const text = `${texts.slice(0, maxReported).join('; ')}${more}`
    const ordinals = [...new Set(reported.map(({ ordinal }) => ordinal))]
    return [{ failure: first.failure, text, ordinals }]
  })
}
