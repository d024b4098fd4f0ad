/**
 * Whether a transaction that was signed before can still be sent. Its nonce was the word of the node at that time; since then
 * other transactions of its sender may have taken it.
 */
import { ServiceError } from '../../errors.ts'
import type { RegistryClient } from '../../registry/precompile/registry-client.ts'

interface Signed {
  readonly creator: string
  readonly hash: string
  readonly nonce: number
}

/** False where it is in a block already. @throws ServiceError `TOOLKIT_NONCE_TAKEN`; those of the chain */
export async function isToBeSent(
  client: Pick<RegistryClient, 'nonce' | 'receipt'>,
  { creator, hash, nonce }: Signed,
): Promise<boolean> {
  if ((await client.nonce(creator)) <= nonce) return true
  if ((await client.receipt(hash)) !== null) return false
  throw new ServiceError(
    'TOOLKIT_NONCE_TAKEN',
    `another transaction of ${creator} took the nonce ${nonce}, so ${hash} can never be in a block`,
    { remedy: 'Prepare it again: nothing was registered by it.' },
  )
}
