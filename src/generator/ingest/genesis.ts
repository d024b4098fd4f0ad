/**
 * Block 0 of the stored chain: read from the node until it is known, kept in the store, and compared
 * with the node's at each start.
 */
import type { StoreWriter } from '../../store/store.ts'
import type { BlockFeed } from '../read/block-feed.ts'
import { chainChanged } from './chain-changed.ts'

export interface GenesisParts {
  readonly feed: Pick<BlockFeed, 'genesis'>
  readonly store: Pick<StoreWriter, 'genesisHash' | 'adoptGenesis' | 'reader'>
  /** Called with the hash as soon as the store has it. */
  readonly onGenesis: (hash: string) => void
  readonly onFailure: (error: unknown) => void
}

export interface Genesis {
  /**
   * Reads it from the node, for as long as that takes. Throws GENERATOR_CHAIN_CHANGED where the store has another
   * block 0, and the signal's reason.
   */
  fetch(signal: AbortSignal): Promise<void>
  /** The stored blocks are of the node's chain; a store that does not know its block 0 adopts the node's. */
  confirm(): void
}

/** Reports a hash that the store already has at once. */
export function createGenesis({ feed, store, onGenesis, onFailure }: GenesisParts): Genesis {
  const known = store.genesisHash()
  let nodeHash: string | null = null
  let isConfirmed = false
  if (known !== null) onGenesis(known)

  const adopt = async (): Promise<void> => {
    if (nodeHash === null || !isConfirmed || store.genesisHash() !== null) return
    await store.adoptGenesis(nodeHash)
    onGenesis(nodeHash)
  }

  return {
    async fetch(signal) {
      nodeHash = (await feed.genesis(signal)).hash
      if (known !== null && known !== nodeHash) {
        const stored = store.reader.read((snapshot) => snapshot.range())
        throw chainChanged({ stored, genesisHash: known, nodeGenesisHash: nodeHash })
      }
      await adopt()
    },
    confirm() {
      if (isConfirmed) return
      isConfirmed = true
      adopt().catch(onFailure)
    },
  }
}
