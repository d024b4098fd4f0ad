/** Which documents a block has to have for a View to make a row of any: asked before the block is read for its lenses. */
import { invariant } from '../errors.ts'
import { type HintKind, hintKinds, type ViewHints } from '../views/view-hints.ts'
import { parseViewQuery, type ViewQuery } from '../views/view-query.ts'

/** So many lookups cost about as much as reading the block. */
const mostValues = 64

const conditions: Readonly<Record<HintKind, (list: string) => string>> = {
  logAddress: (list) => `address: {_in: ${list}}`,
  topic: (list) => `topics: {_any: {_in: ${list}}}`,
  from: (list) => `from: {_in: ${list}}`,
  to: (list) => `to: {_in: ${list}}`,
}

/**
 * The query of one such document; null where any would do, or where hints name too many values. It is answered from the
 * documents and not from the index alone, so every Host finds the same.
 */
export function wantedDocuments(hints: ViewHints | null, network: string): ViewQuery | null {
  if (hints === null) return null
  const { collection, values } = hints
  const wanted = hintKinds.flatMap((kind) => {
    const some = values[kind]
    if (some === undefined || some.length > mostValues) return []
    return [conditions[kind](JSON.stringify(some))]
  })
  if (wanted.length === 0) return null
  const text = `${collection}(filter: {${wanted.join(', ')}}) { blockNumber }`
  const query = parseViewQuery(text, network)
  invariant(!('foreign' in query), 'a short name is of this chain')
  return query
}
