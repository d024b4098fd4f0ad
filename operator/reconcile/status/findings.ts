/** What a reconcile found out, from which the status follows. */
import type { ReasonOf } from '../../api/conditions.ts'
import type { ObjectPlan } from '../apply/apply-objects.ts'
import type { FetchedInputs, ResourceMemory } from '../apply/resource-memory.ts'
import type { IdentityPlan } from '../evaluate/identity.ts'
import type { StorageStatement } from '../evaluate/storage.ts'
import type { PlacedClaim } from '../observe/claim.ts'
import type { Problem, Statement } from '../statements/problem.ts'

/** What a reconcile did not get to is null. */
export interface Findings<F> {
  readonly inputs: FetchedInputs<F> | null
  readonly identity: IdentityPlan | null
  /** Claims that were found by name. */
  readonly unwatched: readonly PlacedClaim[]
  /** What the StatefulSet failed to create, in the words of its Event. */
  readonly failedCreate: string | null
  readonly problem: Problem | null
  /** Whether something that is watched cannot be read, so that nothing follows from what is cached. */
  readonly isUnread: boolean
  /** What a step failed with that is tried again. */
  readonly error: unknown
  /** How a change of a pod was forbidden that nothing else waits for; reported where nothing else stops the resource. */
  readonly refusal: unknown
  /** While paused: changes that wait. */
  readonly waiting: readonly string[] | null
  readonly hold: Statement<ReasonOf<'Ready'>> | null
  /** Whether the StatefulSet should be another, and `hold` is why it is not. */
  readonly isHeld: boolean
  readonly plan: ObjectPlan | null
  readonly refusedGrowth: StorageStatement | null
  /** The operators, this one first, that manage the resource where it is more than one; null for one without a name. */
  readonly overlap: readonly [self: string, other: string | null] | null
}

/** What a reconcile begins with: what is remembered of the one before, and nothing wrong. */
export function nothingFound<F>({
  inputs,
  refusedGrowth,
}: Pick<ResourceMemory<F>, 'inputs' | 'refusedGrowth'>): Findings<F> {
  return {
    inputs,
    identity: null,
    unwatched: [],
    failedCreate: null,
    problem: null,
    isUnread: false,
    error: null,
    refusal: null,
    waiting: null,
    hold: null,
    isHeld: false,
    plan: null,
    refusedGrowth,
    overlap: null,
  }
}
