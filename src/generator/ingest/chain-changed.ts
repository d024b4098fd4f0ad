/** The error that ends ingest where the node follows another chain than the stored one. */
import { ServiceError } from '../../errors.ts'

/** What is stored, and the genesis hashes that were compared. */
interface ChainComparison {
  /** Lowest and highest stored height; null in an empty store. */
  readonly stored: { readonly tail: number; readonly head: number } | null
  /** Hash of block 0 of the stored chain; null where the store does not know it. */
  readonly genesisHash: string | null
  /** Hash of the node's block 0; null where it was not read. */
  readonly nodeGenesisHash: string | null
}

/** GENERATOR_CHAIN_CHANGED, with the facts and what to do. */
export function chainChanged(comparison: ChainComparison): ServiceError {
  const { stored, genesisHash, nodeGenesisHash } = comparison
  return new ServiceError(
    'GENERATOR_CHAIN_CHANGED',
    `Genesis changed: ${difference(comparison)}, so it follows another chain.`,
    {
      facts: {
        tail: stored?.tail ?? null,
        head: stored?.head ?? null,
        genesis: genesisHash,
        nodeGenesis: nodeGenesisHash,
      },
      remedy:
        'Set NODE_RPC_URL to a node of the chain that the store was made from, or begin with an empty directory in DB_STORE_PATH.',
    },
  )
}

function difference({ stored, genesisHash, nodeGenesisHash }: ChainComparison): string {
  const what = stored === null ? 'chain' : `blocks ${stored.tail} to ${stored.head}`
  if (nodeGenesisHash === null) return `the execution node has none of the stored ${what}`
  return `block 0 of the execution node is ${nodeGenesisHash}, that of the stored ${what} is ${genesisHash}`
}
