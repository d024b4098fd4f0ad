/** What whoever registers a View is told though it is accepted: as far as its texts and known lenses show it. Pure. */
import type { RegisteredView } from './registration.ts'
import { shippedLenses } from './shipped-lenses.ts'
import { selectedNames } from './view-query.ts'

/** Something that is allowed and probably not wanted. */
export interface ViewWarning {
  /** Stays the same from version to version. */
  readonly code: 'AGGREGATES_PER_BLOCK' | 'FIELDS_NEVER_FILLED'
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
/** Lenses that ship and pass documents on as they are, or not at all. */
const sifting: ReadonlySet<string> = new Set(['filter', 'filter_transaction'])

type WarnedView = Pick<RegisteredView, 'rowType' | 'lenses' | 'query'>

/** The warnings of a View; none as a rule. `ours` has the names of the lenses that ship, by their hashes. */
export function viewWarnings(
  view: WarnedView,
  ours: ReadonlyMap<string, string> = shippedLenses,
): readonly ViewWarning[] {
  const lenses = view.lenses.map(({ hash }) => ours.get(hash) ?? '')
  return [...perBlockWarnings(view, lenses), ...unfilledWarnings(view, lenses)]
}

/** Names of its lenses, empty for those of others. */
type LensNames = readonly string[]

function perBlockWarnings(
  { rowType: { materialized, feed } }: WarnedView,
  lenses: LensNames,
): ViewWarning[] {
  if (!materialized) return []
  const adding = lenses.findIndex((name) => summing.has(name))
  if (adding >= 0) return [perBlock(`lens ${adding + 1} adds up`)]
  if (feed === 'stream' && lenses.length > 0)
    return [perBlock('the type asks for "feed: stream", so that its lenses may add up')]
  return []
}

/** What other lenses make of a document only they know. */
function unfilledWarnings({ rowType, query }: WarnedView, lenses: LensNames): ViewWarning[] {
  if (query === null || !lenses.every((name) => sifting.has(name))) return []
  const selected = selectedNames(query)
  const names = rowType.fields.map(({ name }) => name).filter((name) => !selected.includes(name))
  if (names.length === 0) return []
  return [
    {
      code: 'FIELDS_NEVER_FILLED',
      message: `the query does not select ${names.join(', ')}, and no lens makes it: it is null in every row`,
      remedy:
        'Select it in the query, by an alias where it has another name there, or leave it out of the SDL.',
    },
  ]
}

function perBlock(what: string): ViewWarning {
  return {
    code: 'AGGREGATES_PER_BLOCK',
    message: `${what}: in stored rows the end of the stream is that of each block, so that sums are of one block, not of the chain`,
    remedy: perBlockRemedy,
  }
}
