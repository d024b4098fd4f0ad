/**
 * The conditions in `status.conditions` and every reason they can have: one table, in four files, that the
 * reconciler, the Events and the documentation share. The reason of an Event is the reason of the
 * condition it is about.
 *
 * Polarity. `normal-true`: True is good, and the condition is always there. `abnormal-true`: only
 * there while True, and then something wants attention. `information`: there when it applies;
 * neither value is bad.
 */
import type { Resource } from '../api.ts'
import { handlingConditions } from './handling-conditions.ts'
import { mainConditions } from './main-conditions.ts'
import { partConditions } from './part-conditions.ts'
import { viewConditions } from './view-conditions.ts'

/** What True means for a reader. */
type Polarity = 'normal-true' | 'abnormal-true' | 'information'

/** What one reason says. */
interface Reason {
  /** Status of the condition when it has this reason. */
  readonly status: 'True' | 'False' | 'Unknown'
  /** What it means, and where a person has to act, what to do. */
  readonly meaning: string
  /**
   * How an Event reports that a condition came to this reason, where the polarity does not say it: steps
   * that pass by themselves are no warnings, and the smallest are not reported.
   */
  readonly event?: 'none' | 'Normal' | 'Warning'
}

/** What one condition says. */
export interface ConditionDefinition {
  readonly meaning: string
  readonly polarity: Polarity
  readonly kinds: readonly Resource['kind'][]
  readonly reasons: Readonly<Record<string, Reason>>
}

/** Every condition with every reason. Order is the order in `status.conditions`. */
export const conditions: typeof mainConditions &
  typeof viewConditions &
  typeof partConditions &
  typeof handlingConditions = {
  ...mainConditions,
  ...viewConditions,
  ...partConditions,
  ...handlingConditions,
}

/** Name of a condition. */
export type ConditionType = keyof typeof conditions

/** Reasons that a condition can have. */
export type ReasonOf<T extends ConditionType> = keyof (typeof conditions)[T]['reasons'] & string
