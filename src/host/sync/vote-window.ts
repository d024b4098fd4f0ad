/** Of which heights votes are compared. */
import type { FollowState } from '../apply/outcome.ts'

/** From the lowest height that is kept to the highest that is of use; `head` is the highest stored one, or -1. */
export function voteWindow(
  state: Pick<FollowState, 'floor' | 'reached'> | null,
  head: number,
): { readonly from: number; readonly to: number } | null {
  const top = Math.max(state?.reached ?? -1, head)
  return state === null || top < 0 ? null : { from: state.floor, to: top }
}
