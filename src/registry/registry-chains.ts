/** Which chains are registry chains. */

/** Their chain IDs (EIP-155), the one on a single machine last. */
export const registryChainIds = {
  testnet: 91_273_001,
  devnet: 91_273_002,
  local: 91_273_003,
} as const
