/** What a Host says of the registry chain, in `/health` and beside its Views. */
import type { RegistryHealthReport } from '../../service/contract.ts'

/** A registered View that is not served. */
export interface OtherView {
  /** The ID that the chain gives it. */
  readonly id: string
  /** The name of its type, as the chain says; null with the next two where nothing of it can be read. */
  readonly type: string | null
  readonly creator: string | null
  /** Height of the registry chain. */
  readonly registered_at: number | null
  /** `overLimit` where no place is left for it. */
  readonly state: 'overLimit' | 'denied' | 'refused' | 'foreign'
  /** Why, where there is more to say. */
  readonly reason: string | null
}

/** The registry chain as `GET /api/v0/views` shows it. */
export interface RegistryReport extends RegistryHealthReport {
  /** Registered Views that are not served, the first thousand. */
  readonly others: readonly OtherView[]
}
