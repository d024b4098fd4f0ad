/** What whoever registers a View is told though it is accepted: as far as its texts and known lenses show it. Pure. */
import type { RegisteredView } from './registration.ts'
import { shippedLenses } from './shipped-lenses.ts'

/** Something that is allowed and probably not wanted. */
export interface ViewWarning {
  /** Stays the same from version to version. */
  readonly code: 'AGGREGATES_PER_BLOCK'
  /** What is probably not wanted. */
  readonly message: string
  /** What to do. */
  readonly remedy: string
}

/** What to do where lenses add up and rows are stored. */
export const perBlockRemedy: string =
  'Store the single steps as rows, and add them up in GraphQL: SUM and COUNT go over any number of blocks.'

/** Lenses that ship and write their rows at the end of the stream. */
const summing: ReadonlySet<string> = new Set(['erc20_balances'])

/** The warnings of a View; none as a rule. */
export function viewWarnings({
  rowType: { materialized, feed },
  lenses,
}: Pick<RegisteredView, 'rowType' | 'lenses'>): readonly ViewWarning[] {
  if (!materialized) return []
  const adding = lenses.findIndex(({ hash }) => summing.has(shippedLenses.get(hash) ?? ''))
  if (adding >= 0) return [perBlock(`lens ${adding + 1} adds up`)]
  if (feed === 'stream' && lenses.length > 0)
    return [perBlock('the type asks for "feed: stream", so that its lenses may add up')]
  return []
}

function perBlock(what: string): ViewWarning {
  return {
    code: 'AGGREGATES_PER_BLOCK',
    message: `${what}: in stored rows the end of the stream is that of each block, so that sums are of one block, not of the chain`,
    remedy: perBlockRemedy,
  }
}
