/** Documents for a lens: what a query selects of the blocks that ship. */
import { ServiceError } from '../../errors.ts'
import { createViewSelector } from '../../graphql/selection/view-selection.ts'
import { asBuffer } from '../../primitives/cbor.ts'
import { defaultNetwork } from '../../views/query-network.ts'
import { parseViewQuery } from '../../views/view-query.ts'
import { sampleBlocks } from '../blocks/fixture.ts'
import { openTrialStore } from '../blocks/trial-store.ts'

/** All that lenses of logs read. */
export const defaultQuery =
  'Log { address topics data blockNumber logIndex transactionHash transaction { hash from to } block { number timestamp } }'

/**
 * The documents as compact JSON, at least one.
 * @throws ServiceError `VIEWS_QUERY_INVALID`; `TOOLKIT_FIXTURE_INVALID` where the query selects nothing of the samples.
 */
export async function sampleDocuments(query: string): Promise<string[]> {
  const parsed = parseViewQuery(query, defaultNetwork)
  if ('foreign' in parsed) throw noDocument(query)
  const selection = createViewSelector(defaultNetwork).compile(parsed)
  const store = await openTrialStore({ network: defaultNetwork, blocks: sampleBlocks() })
  const snapshot = store.reader.snapshot()
  try {
    const [from = 0, to = from] = [store.heights[0], store.heights.at(-1)]
    const texts: string[] = []
    for await (const batch of selection.documents(snapshot, { from, to }))
      texts.push(...batch.map(({ json }) => asBuffer(json).toString()))
    if (texts.length === 0) throw noDocument(query)
    return texts
  } finally {
    snapshot.release()
    await store.close()
  }
}

function noDocument(query: string): ServiceError {
  return new ServiceError(
    'TOOLKIT_FIXTURE_INVALID',
    `the samples have no document for ${query.slice(0, 200)}`,
    { remedy: 'Select logs or transactions under their short names, without a filter.' },
  )
}
