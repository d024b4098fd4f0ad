/** What is wrong with the accepted signers: who is trusted, who is silent, and where their chains part. */
import type { FailureReport } from '../service/contract.ts'
import type { FollowState } from './apply/outcome.ts'
import type { Trust } from './trust/trust.ts'

interface ForkAlarm {
  /** Where the Host stands among its signers now. */
  onFollow(state: Pick<FollowState, 'failures'>): void
  /** The failures of this moment, which nothing else logs. */
  failures(): readonly FailureReport[]
}

/** Nothing is known of where the Host stands. */
export function createForkAlarm(trust: Pick<Trust, 'failures'>): ForkAlarm {
  let following: readonly FailureReport[] = []
  return {
    onFollow: ({ failures }) => {
      following = failures
    },
    failures: () => [...trust.failures(), ...following],
  }
}
