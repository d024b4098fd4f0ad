/** Which chain a View is tested on. Pure. */
import { ServiceError } from '../../errors.ts'

/** A View of another chain than the blocks that it is to be tested on. */
export function otherChain(collection: string, network: string): ServiceError {
  return new ServiceError(
    'TOOLKIT_CHAIN_INCOMPATIBLE',
    `the query reads ${collection}, and these blocks are of ${network}`,
    { remedy: 'Use the short name of the collection, or blocks of that chain.' },
  )
}
