/** Which chain a View is tested on. Pure. */
import { ServiceError } from '../../errors.ts'
import { parseViewQuery } from '../../views/view-query.ts'

const defaultNetwork = 'Ethereum__Mainnet'

/**
 * The network of blocks that name none: that of the collection which the query names in full, or else that of Ethereum's
 * mainnet.
 * @throws ServiceError `VIEWS_QUERY_INVALID`
 */
export function networkOfQuery(query: string): string {
  const parsed = parseViewQuery(query, defaultNetwork)
  if (!('foreign' in parsed)) return defaultNetwork
  return parsed.foreign.split('__').slice(0, 2).join('__')
}

/** A View of another chain than the blocks that it is to be tested on. */
export function otherChain(collection: string, network: string): ServiceError {
  return new ServiceError(
    'TOOLKIT_CHAIN_INCOMPATIBLE',
    `the query reads ${collection}, and these blocks are of ${network}`,
    { remedy: 'Use the short name of the collection, or blocks of that chain.' },
  )
}
