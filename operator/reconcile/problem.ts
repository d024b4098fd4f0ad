/** What keeps the operator from going on until a person acts, as the `Stalled` condition tells it. */
import type { ReasonOf } from '../api/conditions.ts'

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
