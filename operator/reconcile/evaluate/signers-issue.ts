/** Something to report about the signers of a Host, or about the chain they are on. */
import type { ReasonOf } from '../../api/conditions.ts'

export interface SignersIssue {
  readonly reason: ReasonOf<'SignersAgree'>
  readonly what: string
  /** What to do about it. */
  readonly remedy: string
}
