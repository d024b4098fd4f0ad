/**
 * Names of public networks, and the chain IDs (EIP-155) that belong to them, as https://chainid.network lists them.
 * Whoever names his chain so means that one; names that are not here are anybody's.
 */

const chainIds: Readonly<Record<string, number>> = {
  Ethereum__Mainnet: 1,
  Ethereum__Sepolia: 11155111,
  Ethereum__Holesky: 17000,
  Ethereum__Hoodi: 560048,
  Arbitrum__Mainnet: 42161,
  Arbitrum__Sepolia: 421614,
  Base__Mainnet: 8453,
  Base__Sepolia: 84532,
  Gnosis__Mainnet: 100,
  Gnosis__Chiado: 10200,
  Optimism__Mainnet: 10,
  Optimism__Sepolia: 11155420,
  Polygon__Mainnet: 137,
  Polygon__Amoy: 80002,
}

/** Every network that is known, by its name as in `Ethereum__Mainnet`, with its chain ID. */
export const knownNetworks: readonly (readonly [network: string, chainId: number])[] =
  Object.entries(chainIds)

/** The chain ID that belongs to names, in whatever case they are written; null for names of nobody in particular. */
export function knownChainId(chain: string, network: string): number | null {
  const name = `${chain}__${network}`.toLowerCase()
  return knownNetworks.find(([known]) => known.toLowerCase() === name)?.[1] ?? null
}

/** What a chain ID is called, as in `Ethereum Mainnet`; null where it is not known. */
export function networkOfChainId(chainId: number): string | null {
  const found = knownNetworks.find(([, known]) => known === chainId)
  return found === undefined ? null : found[0].replace('__', ' ')
}
