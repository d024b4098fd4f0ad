/** What a Host says of the registry chain, in `/health` and beside its Views. */
import type { RegistryHealthReport } from '../../service/contract.ts'
import type { OtherView } from '../other-view.ts'

/** The registry chain as `GET /api/v0/views` shows it. */
export interface RegistryReport extends RegistryHealthReport {
  /** Registered Views that are not served, the first thousand. */
  readonly others: readonly OtherView[]
}
