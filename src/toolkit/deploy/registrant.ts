/** A View and who registers it. */
import type { Prepared } from './prepared-file.ts'

/** Of one version of a View. */
export type Registrant = Omit<Prepared, 'hash' | 'raw' | 'chainId'>

/** What of it is printed as JSON. */
export function shownOf(registrant: Registrant): Omit<Registrant, 'wire'> {
  const { view, revision, id, address, creator } = registrant
  return { view, revision, id, address, creator }
}
