/**
 * A Generator whose key runs twice stops, is started again and stops again within ten minutes. It is told for
 * longer than that, so that the condition does not come and go with it.
 */
import type { ErrorCode } from '../../../src/errors.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Picture } from '../picture.ts'
import type { Statement } from '../problem.ts'
import { withoutStop } from '../sentences.ts'
import { rowOf } from './observed-codes.ts'

const code = 'GENERATOR_KEY_RUNS_TWICE' satisfies ErrorCode
const toldMs = 1_800_000

/** What such a program said before it ended; null where none did lately. */
export function keyTwiceStatement({
  pods,
  takenMs,
}: Pick<Picture, 'pods' | 'takenMs'>): Statement<ReasonOf<'IdentityReady'>> | null {
  const failures = [...pods.values()].flatMap(({ lastFailure }) => lastFailure ?? [])
  const found = failures.find(
    ({ words, endedMs }) => words.code === code && takenMs - endedMs < toldMs,
  )
  const row = rowOf(code, 'IdentityReady')
  if (found === undefined || row === undefined) return null
  const message = `${withoutStop(found.words.message)} (${code}). ${row.remedy}`
  return { reason: row.reason, message }
}
