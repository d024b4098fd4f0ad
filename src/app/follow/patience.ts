/** How long an application waits for its Hosts; tests whose outcome does not depend on it wait less. */

/** All in milliseconds. */
export interface Patience {
  /** How often feeders are checked, and whether a Host is to be asked again. */
  readonly checkMs: number
  /** How long nothing may be stored while enough Hosts signed more. */
  readonly stallMs: number
  /** How often a Host is asked for a View that it did not have. */
  readonly askServedMs: number
  /** How long a block may wait for the signature of a Host that has it before the Host is asked again. */
  readonly unheardMs: number
  /** How long a View may hold up others, since its blocks get no votes. */
  readonly fullMs: number
  /** How long Hosts may take to show that they have what was left out. */
  readonly unseenMs: number
  /** How long Hosts may take to contradict one at which the View failed. */
  readonly failedMs: number
  /** How often missing blocks are checked for. */
  readonly missingCheckMs: number
  /** How long none of the missing blocks may be stored before the attempt ends, beside `missingHostMs` for each Host. */
  readonly missingIdleMs: number
  /** How long a Host may take to show whether it has missing blocks. */
  readonly missingHostMs: number
}

export const usualPatience: Patience = {
  checkMs: 1_000,
  stallMs: 5_000,
  askServedMs: 30_000,
  unheardMs: 10_000,
  fullMs: 10_000,
  unseenMs: 10_000,
  failedMs: 10_000,
  missingCheckMs: 2_000,
  missingIdleMs: 15_000,
  missingHostMs: 5_000,
}
