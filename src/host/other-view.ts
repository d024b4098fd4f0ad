/** How a View that is not served is listed, wherever it comes from. */

export interface OtherView {
  /** The long ID, or what its source calls it as long as nothing else is known. */
  readonly id: string
  /** The ID of the registry chain; null as long as it is not known. */
  readonly address: string | null
  /** The name of its type, as far as it is known; null with the next two where nothing of it can be read. */
  readonly type: string | null
  readonly creator: string | null
  /** Height of the registry chain. */
  readonly registered_at: number | null
  /** `overLimit` where no place is left for it. */
  readonly state: 'overLimit' | 'denied' | 'refused' | 'foreign'
  /** Why, where there is more to say. */
  readonly reason: string | null
}

/** Characters of a reason: it may quote what its author wrote, and anybody may ask for all of them. */
const maxReason = 300

/** The beginning of a reason that is long. */
export function shortReason(reason: string): string {
  return reason.length > maxReason ? `${reason.slice(0, maxReason - 1)}…` : reason
}
