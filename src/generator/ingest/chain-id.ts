/** Which chain the execution node is of, by its chain ID (EIP-155): compared before the first block is stored or sealed. */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { networkOfChainId } from '../../service/known-networks.ts'
import type { BlockFeed } from '../read/block-feed.ts'

/** The chain ID that the execution node has to have. */
export interface RequiredChainId {
  readonly id: number
  /** The known network that it follows from; null where CHAIN_ID says it. */
  readonly network: string | null
}

interface ChainIdParts {
  readonly feed: Pick<BlockFeed, 'chainId'>
  readonly log: Logger
  /** Called with what the node says, also where that is refused. */
  readonly onChainId: (id: number) => void
}

/**
 * Asks the node, for as long as that takes. A node that does not say it is taken for the right one unless CHAIN_ID
 * is set. Throws GENERATOR_CHAIN_MISMATCH, and the signal's reason.
 */
export async function requireChainId(
  required: RequiredChainId | null,
  { feed, log, onChainId }: ChainIdParts,
  signal: AbortSignal,
): Promise<void> {
  const found = await feed.chainId(signal)
  if (found !== null) onChainId(found)
  if (required === null || required.id === found) return
  if (found !== null || required.network === null) throw chainMismatch(required, found)
  const { id, network } = required
  log.warn({ required: id, network }, 'execution node does not say its chain ID, goes on without')
}

function chainMismatch({ id, network }: RequiredChainId, found: number | null): ServiceError {
  const known = found === null ? null : networkOfChainId(found)
  const is = known === null ? '' : ` (${known})`
  const node = found === null ? 'does not say its chain ID' : `has chain ID ${found}${is}`
  const wanted = network === null ? `chain.id (CHAIN_ID) is ${id}` : `${network} has ${id}`
  const rename =
    'Give that chain names of its own in CHAIN_NAME and CHAIN_NETWORK, such as Local and Devnet, and an empty directory in DB_STORE_PATH'
  return new ServiceError(
    'GENERATOR_CHAIN_MISMATCH',
    `The execution node ${node}, and ${wanted}; nothing of it was stored.`,
    {
      facts: { chainId: found, required: id, network },
      remedy:
        network === null
          ? 'Correct CHAIN_ID, or set NODE_RPC_URL to a node of that chain that answers eth_chainId.'
          : `${rename}; or set NODE_RPC_URL to a node of ${network}.`,
    },
  )
}
