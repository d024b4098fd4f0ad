/**
 * From a block's encoded documents to the input of the store: the half of the processing that the writer
 * thread does.
 */
import { openEncodedBody } from '../../primitives/body/body.ts'
import { cidBytes } from '../../primitives/cid.ts'
import { indexTerms } from '../../primitives/index-terms.ts'
import { sealRoot } from '../../primitives/seal.ts'
import type { BlockToStore } from '../../store/store.ts'
import type { EncodedBlock } from '../read/encode-block.ts'

/** Adds the root over the documents and their index terms. */
export function prepareBlock({ header, body, raw, cids: flat }: EncodedBlock): BlockToStore {
  const cids = Array.from({ length: flat.length / cidBytes }, (_, index) =>
    flat.subarray(index * cidBytes, (index + 1) * cidBytes),
  )
  const { root, count } = sealRoot(cids)
  return {
    header: { ...header, root, count, bodyBytes: body.length },
    body,
    terms: indexTerms(openEncodedBody({ body, raw }), cids),
  }
}
