/** Sends a signed transaction; twice is as well as once. */
import type { Hex, PublicClient } from 'viem'

/** A signed transaction: its hash and all of it, as 0x and hex. */
export interface ReadyTransaction {
  readonly hash: string
  readonly raw: string
}

/** A node that has the transaction, or had it, refuses it: that is no failure. */
export async function sendOnce(
  client: PublicClient,
  { hash, raw }: ReadyTransaction,
): Promise<void> {
  try {
    await client.sendRawTransaction({ serializedTransaction: raw as Hex })
  } catch (error) {
    const known = await client.getTransaction({ hash: hash as Hex }).catch(() => null)
    if (known === null) throw error
  }
}
