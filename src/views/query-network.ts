/** Which chain the query of a View is for. */
import { parseViewQuery } from './view-query.ts'

/** Stands for the chain where a query has short names alone: all chains have the same collections. */
export const defaultNetwork = 'Ethereum__Mainnet'

/**
 * The network of the collection which the query names in full, or else the default one.
 * @throws ServiceError `VIEWS_QUERY_INVALID`
 */
export function networkOfQuery(query: string): string {
  const parsed = parseViewQuery(query, defaultNetwork)
  if (!('foreign' in parsed)) return defaultNetwork
  return parsed.foreign.split('__').slice(0, 2).join('__')
}
