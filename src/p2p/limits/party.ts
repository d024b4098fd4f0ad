/**
 * Who shares a budget. A configured peer has one of its own. A stranger's identity costs nothing, so
 * strangers share what their address may use, and all of them together what strangers may use.
 */

/** Who pays for something. */
export interface Party {
  /** The peer ID of a configured peer, else the address: of IPv4 all of it, of IPv6 the first 64 bits. */
  readonly key: string
  readonly isConfigured: boolean
}

/** How much of something may be used, a second or at a time. */
export interface Shares {
  /** By each configured peer. */
  readonly configured: number
  /** By the strangers of one address together. */
  readonly address: number
  /** By all strangers together. */
  readonly strangers: number
}

/** Keys of the budgets that a party uses, each with its size. */
export function budgetsOf(
  party: Party,
  shares: Shares,
): readonly { readonly key: string; readonly size: number }[] {
  if (party.isConfigured) return [{ key: party.key, size: shares.configured }]
  return [
    { key: party.key, size: shares.address },
    { key: 'all strangers', size: shares.strangers },
  ]
}
