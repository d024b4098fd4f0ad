/** What keeps the operator from going on until a person acts, as the `Stalled` condition reports it. */
import { ServiceError } from '../../../src/errors.ts'
import type { ConditionType, ReasonOf } from '../../api/conditions.ts'
import type { Workload } from '../../api.ts'
import { badQuantities } from '../../resources/pod/quantities.ts'
import { listed, withoutStop } from './sentences.ts'

export interface Problem {
  readonly reason: ReasonOf<'Stalled'>
  /** What is wrong and what to do, in a sentence or two; never a value of a Secret. */
  readonly message: string
}

/** One statement of a normal condition, before it is dated. */
export interface Statement<R extends string = string> {
  readonly reason: R
  readonly message: string
}

/** How the API server words refusals that need words of our own. */
const immutable =
  /updates to statefulset spec for fields other than|field is immutable|may not change once set/i
const quota = /exceeded quota|insufficient quota/i
/** A server-side apply of something that is no such object is refused with status 500. */
const unreadable = /failed to create typed patch object|unable to convert unstructured object/i
const terminating = /because it is being terminated|is being terminated/i

/**
 * What an error means for the resource; null where it passes by itself and is to be thrown on. What the
 * API server says of Secrets is in no error, so none of it gets here.
 */
export function problemOf(error: unknown): Problem | null {
  if (!(error instanceof ServiceError)) return null
  const { code, message, remedy = '' } = error
  if (code === 'OPERATOR_API_FORBIDDEN') return refusal(message, remedy)
  if (code === 'OPERATOR_NAME_TAKEN') {
    return { reason: 'NameTaken', message: `${message}. ${remedy}` }
  }
  if (!isRefused(error)) return null
  if (immutable.test(message)) {
    return {
      reason: 'ImmutableFieldChange',
      message: `${message}. Kubernetes lets nobody change this field: put the old value back.`,
    }
  }
  return { reason: 'InvalidSpec', message: `${message}. Correct it in the spec.` }
}

/** How the API server refuses a quantity, without saying which. */
const unknownQuantity = /quantities must match|unable to parse quantity|unable to parse numeric/i

/** The same for what a spec led to: a quantity that is none is named, with its place in `podTemplate`. */
export function problemOfSpec({ spec }: Workload, error: unknown): Problem | null {
  const problem = problemOf(error)
  if (problem?.reason !== 'InvalidSpec' || !unknownQuantity.test(problem.message)) return problem
  const found = badQuantities(spec.podTemplate)
  if (found.length === 0) return problem
  const fields = found.map(({ path, value }) => `${path} is ${JSON.stringify(value).slice(0, 64)}`)
  const message = `Not a quantity, such as 500m or 2Gi: ${listed(fields)}. Correct it in the spec.`
  return { reason: 'InvalidSpec', message }
}

/**
 * Whether a failure is no more than a moment's: an object of a deleted resource that Kubernetes has not
 * taken away yet, or a namespace that goes away with everything in it.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false
  return error.code === 'OPERATOR_TERMINATING' || terminating.test(error.message)
}

function isRefused({ code, message }: ServiceError): boolean {
  if (code === 'OPERATOR_API_FAILED') return unreadable.test(message)
  return code === 'OPERATOR_API_INVALID' || code === 'OPERATOR_API_REFUSED'
}

function refusal(message: string, remedy: string): Problem | null {
  if (terminating.test(message)) return null
  return quota.test(message)
    ? {
        reason: 'QuotaExceeded',
        message: `${message}. Raise the quota of the namespace, or free something.`,
      }
    : { reason: 'Forbidden', message: `${withoutStop(message)}. ${remedy}` }
}

export type Statements = Partial<Record<ConditionType, Statement>>
