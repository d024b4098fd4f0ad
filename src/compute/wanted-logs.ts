/** Which logs a block has to have for a View to make a row of any: asked before the block is read for its lenses. */
import { invariant } from '../errors.ts'
import type { ViewHints } from '../views/view-hints.ts'
import { parseViewQuery, type ViewQuery } from '../views/view-query.ts'

/** So many lookups cost about as much as reading the block. */
const mostValues = 64

/**
 * The query of one such log; null where any log would do, or where hints name too many values. It is answered from the
 * documents and not from the index alone, so every Host finds the same.
 */
export function wantedLogs(hints: ViewHints | null, network: string): ViewQuery | null {
  const addresses = conditionOn(hints?.addresses ?? null, (list) => `address: {_in: ${list}}`)
  const topics = conditionOn(hints?.topics ?? null, (list) => `topics: {_any: {_in: ${list}}}`)
  const conditions = [addresses, topics].filter((condition) => condition !== null)
  if (conditions.length === 0) return null
  const query = parseViewQuery(`Log(filter: {${conditions.join(', ')}}) { logIndex }`, network)
  invariant(!('foreign' in query), 'a short name is of this chain')
  return query
}

function conditionOn(
  values: readonly string[] | null,
  toText: (list: string) => string,
): string | null {
  return values === null || values.length > mostValues ? null : toText(JSON.stringify(values))
}
