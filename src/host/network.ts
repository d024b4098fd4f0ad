/** Which chain and network a Host runs: what is configured, else what its Generator says. */
import type { Origin } from '../service/settings/setting.ts'

export interface ChainNames {
  readonly chain: string
  readonly network: string
  /** True when they were not configured: those of a store that exists are used instead. */
  readonly isGuess: boolean
}

/**
 * Configured names win over the fetched prefix (`Local__Devnet`); where there is neither, the
 * default names hold until something contradicts them.
 */
export function decideNames(
  settings: { readonly chainName: string; readonly chainNetwork: string },
  origins: { readonly chainName: Origin; readonly chainNetwork: Origin },
  fetchedNetwork: string | null,
): ChainNames {
  const isConfigured = origins.chainName !== 'default' || origins.chainNetwork !== 'default'
  const fetched = fetchedNetwork === null || isConfigured ? null : splitPrefix(fetchedNetwork)
  const { chainName: chain, chainNetwork: network } = settings
  return fetched ?? { chain, network, isGuess: !isConfigured }
}

/** The names in a prefix, null when it has no two parts. */
export function splitPrefix(prefix: string): ChainNames | null {
  const [chain, network] = prefix.split('__')
  return chain && network ? { chain, network, isGuess: false } : null
}
