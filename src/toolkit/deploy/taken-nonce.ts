/**
 * What became of a transaction that was signed before. Its nonce was the word of the node at that time; since
 * then other transactions of its sender may have taken it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../errors.ts'
import type { RegistryClient } from '../../registry/precompile/registry-client.ts'

interface Signed {
  readonly creator: string
  readonly hash: string
  readonly nonce: number
  /** Of the View that it registers. */
  readonly address: string
}

/** `free`: it can be sent. `mined`: it is in a block. `known`: it is in none, and another one registered its View. */
type TransactionState = 'free' | 'mined' | 'known'

interface Waits {
  readonly signal: AbortSignal
  /** A node has receipts a little later than nonces, and another node behind the same URL may be behind it. */
  readonly appearsWithinMs?: number
  readonly stepMs?: number
}

/** @throws ServiceError `TOOLKIT_NONCE_TAKEN`; those of the chain; the reason of the signal */
export async function stateOfSent(
  client: Pick<RegistryClient, 'nonce' | 'receipt' | 'getView'>,
  { creator, hash, nonce, address }: Signed,
  { signal, appearsWithinMs = 5_000, stepMs = 500 }: Waits,
): Promise<TransactionState> {
  if ((await client.nonce(creator)) <= nonce) return 'free'
  const deadline = performance.now() + appearsWithinMs
  for (;;) {
    if ((await client.receipt(hash)) !== null) return 'mined'
    if (performance.now() >= deadline) break
    await delay(stepMs, undefined, { signal })
  }
  if ((await client.getView(address)).status !== 'none') return 'known'
  throw new ServiceError(
    'TOOLKIT_NONCE_TAKEN',
    `another transaction of ${creator} took the nonce ${nonce}, so ${hash} can never be in a block`,
    { remedy: 'Deploy or prepare it again: nothing was registered by it.' },
  )
}

/** Of a View that the chain knows: the hash where this transaction registered it, null where another one did. */
export async function ownHash(
  client: Pick<RegistryClient, 'receipt'>,
  hash: string | null,
): Promise<string | null> {
  if (hash === null) return null
  return (await client.receipt(hash))?.succeeded === true ? hash : null
}
