/**
 * Which peers share a budget. A configured peer has one of its own. A stranger's identity costs nothing, so
 * strangers share what their address may use, and all of them together what strangers may use.
 */

/** Whose budget something is taken from. */
export interface Remote {
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

/** For somebody with a budget of its own, whatever it is known by. */
export function asRemote(key: string): Remote {
  return { key, isConfigured: true }
}

/** The same for each. */
export function ofEach(amount: number): Shares {
  return { configured: amount, address: amount, strangers: amount }
}

/** Keys of the budgets that a remote uses, each with its size. */
export function sharesOf(
  remote: Remote,
  shares: Shares,
): readonly { readonly key: string; readonly size: number }[] {
  if (remote.isConfigured) return [{ key: remote.key, size: shares.configured }]
  return [
    { key: remote.key, size: shares.address },
    { key: 'all strangers', size: shares.strangers },
  ]
}
