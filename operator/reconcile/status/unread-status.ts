/**
 * The status of a resource of which something could not be read: what is cached may be long gone, so everything stays
 * as it was said when it was last seen, of the generation that was seen then, and only that nothing is known since
 * is new.
 */
import { ServiceError } from '../../../src/errors.ts'
import type { Workload } from '../../api.ts'
import type { WantedCondition, WantedStatus } from '../../runtime/status-writer.ts'
import { conditionsOf } from '../statements/conditions.ts'
import type { Statements } from '../statements/problem.ts'
import { remedied } from '../statements/sentences.ts'
import type { Findings } from './findings.ts'
import { progressOf } from './progress.ts'

/** Types of conditions that say how it goes on, and are written anew; the others are kept. */
const ownTypes: readonly string[] = ['Ready', 'Reconciling', 'Stalled']

/** Where a right is missing, a person has to act; everything else is tried again. */
export function unreadStatus<F>(resource: Workload, findings: Findings<F>): WantedStatus {
  const { managedBy: _, conditions = [], ...facts } = resource.status ?? {}
  const kept = conditions.filter(({ type }) => !ownTypes.includes(type))
  const own: readonly WantedCondition[] = conditionsOf(unreadStatements(findings))
  return {
    conditions: [...own, ...kept],
    facts: { ...facts, ...progressOf(resource, findings) },
    figures: {},
  }
}

function unreadStatements<F>({ problem, error }: Findings<F>): Statements {
  if (problem !== null) {
    return { Ready: { reason: 'Stalled', message: problem.message }, Stalled: problem }
  }
  const message =
    error instanceof ServiceError ? remedied(error) : 'See the log of the operator, and report it.'
  const unknown = `What is there cannot be read, so nothing is known of the pods since: ${message}`
  return {
    Ready: { reason: 'Unread', message: unknown },
    Reconciling: { reason: 'ProgressingWithRetry', message },
  }
}
