/**
 * A Generator whose key runs twice stops, is started again and stops again within ten minutes. It is reported
 * for longer than that, so that the condition does not come and go with it.
 */
import type { ErrorCode } from '../../../src/errors.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Statement } from '../statements/problem.ts'
import { withoutStop } from '../statements/sentences.ts'
import { rowOf } from './observed-codes.ts'
import type { ObservedState } from './observed-state.ts'

const code = 'GENERATOR_KEY_RUNS_TWICE' satisfies ErrorCode
const reportedMs = 1_800_000

/** What such a program said before it ended; null where none did lately. */
export function keyTwiceStatement({
  pods,
  observedMs,
}: Pick<ObservedState, 'pods' | 'observedMs'>): Statement<ReasonOf<'IdentityReady'>> | null {
  const failures = [...pods.values()].flatMap(({ lastFailure }) => lastFailure ?? [])
  const found = failures.find(
    ({ termination, endedMs }) => termination.code === code && observedMs - endedMs < reportedMs,
  )
  const row = rowOf(code, 'IdentityReady')
  if (found === undefined || row === undefined) return null
  const message = `${withoutStop(found.termination.message)} (${code}). ${row.remedy}`
  return { reason: row.reason, message }
}
