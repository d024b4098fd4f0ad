/** Whether a View is what its registration says: both IDs are made of its sender and its bytes. */
import { ServiceError } from '../errors.ts'
import type { Registration } from '../views/registration.ts'
import { viewLimits } from '../views/view.ts'
import { viewIDs } from '../views/view-id.ts'
import type { SentView } from './listed-view.ts'

/** A View whose ID follows from what was sent. */
export interface VerifiedView extends Registration {
  readonly registeredAt: number
  /** keccak256(sender ‖ wire): 0x and 64 digits, lower-case. */
  readonly id: string
  /** The ID of the registry chain, with the checksum of EIP-55. */
  readonly address: string
}

/**
 * Recomputes the IDs of a View. What its bytes mean is not looked at.
 * @throws ServiceError `REGISTRY_VIEW_MISMATCH` where the chain calls it by another ID.
 */
export function verifyView({ id: claimed, sender, registeredAt, wire }: SentView): VerifiedView {
  if (wire.length > viewLimits.wire) throw mismatch(claimed, `it has ${wire.length} bytes`)
  const { id, address } = viewIDs(sender, wire)
  if (claimed !== address && claimed !== id)
    throw mismatch(claimed, 'its ID does not follow from its creator and its bytes')
  return { id, address, sender, registeredAt, wire }
}

function mismatch(view: string, why: string): ServiceError {
  return new ServiceError('REGISTRY_VIEW_MISMATCH', `View ${view} is not what it says: ${why}`, {
    facts: { view },
    remedy:
      'Ask another endpoint of the registry chain; a View that fails everywhere has to be registered again.',
  })
}
