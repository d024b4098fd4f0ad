/**
 * The status of a resource of which nothing is known now: what is cached may be long gone, so everything stays as it was
 * said when it was last seen, of the generation that was seen then, and only why nothing is known since is new.
 */
import { ServiceError } from '../../../src/errors.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Resource } from '../../api.ts'
import type { WantedStatus } from '../../runtime/status-writer.ts'
import { conditionsOf } from '../statements/conditions.ts'
import type { Problem, Statement, Statements } from '../statements/problem.ts'
import { remedied } from '../statements/sentences.ts'
import { progressOf } from './progress.ts'

/** Types of conditions that say how it goes on, and are written again; the others are kept. */
const ownTypes: readonly string[] = ['Ready', 'Reconciling', 'Stalled']

/** What stopped it. */
interface Stop {
  readonly problem: Problem | null
  readonly error: unknown
  readonly waiting: readonly string[] | null
}

/** Where a right is missing, a person has to act; everything else is tried again, and `ready` says so of its message. */
export function stoppedStatus(
  resource: Resource,
  stop: Stop,
  ready: (message: string) => Statement<ReasonOf<'Ready'>>,
): WantedStatus {
  const { managedBy: _, conditions = [], ...facts } = resource.status ?? {}
  const kept = conditions.filter(({ type }) => !ownTypes.includes(type))
  return {
    conditions: [...conditionsOf(stoppedStatements(stop, ready)), ...kept],
    facts: { ...facts, ...progressOf(resource, stop) },
    figures: {},
  }
}

function stoppedStatements(
  { problem, error }: Stop,
  ready: (message: string) => Statement<ReasonOf<'Ready'>>,
): Statements {
  if (problem !== null) {
    return { Ready: { reason: 'Stalled', message: problem.message }, Stalled: problem }
  }
  const message =
    error instanceof ServiceError ? remedied(error) : 'See the log of the operator, and report it.'
  return { Ready: ready(message), Reconciling: { reason: 'ProgressingWithRetry', message } }
}
