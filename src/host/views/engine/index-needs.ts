/**
 * What the index of a block has to hold for a View to have rows of it. The index names every value of the block's
 * documents, so that every Host finds the same without reading them. Pure.
 */
import type { ViewSelection } from '../../../graphql/selection/view-selection.ts'
import type { TermKind } from '../../../primitives/index-terms.ts'
import type { NeededTerms } from '../../../store/needed-terms.ts'
import { hasNothingOfNothing, hintKinds, hintsOf } from '../../../views/view-hints.ts'
import type { HostedView } from '../hosted-view.ts'

/** Values beyond are as much work as a job. */
const mostValues = 64

type Hint = ViewSelection['hint']

/**
 * Null where a View may have rows of any block: its query and its lenses ask for nothing that is in the index, or a lens is
 * not ours and may make rows out of nothing. `selection` is its compiled query.
 */
export function indexNeeds(
  { query, lenses }: Pick<HostedView, 'query' | 'lenses'>,
  { hint }: Pick<ViewSelection, 'hint'>,
): NeededTerms | null {
  if (!hasNothingOfNothing(lenses)) return null
  const hints = hintsOf(lenses, query)
  const needed: Hint = {
    type: 'and',
    parts: [hint, ...hintKinds.map((kind) => anyOf(kind, hints?.values[kind]))],
  }
  const counted = { values: 0 }
  const needs = needsOf(needed, counted)
  return needs === always || counted.values > mostValues ? null : needs
}

function anyOf(kind: TermKind, values: readonly string[] | undefined): Hint {
  if (values === undefined) return { type: 'all' }
  return {
    type: 'or',
    parts: values.map((value) => ({
      type: 'term',
      kind,
      value: Buffer.from(value.slice(2), 'hex'),
    })),
  }
}

const always: NeededTerms = { type: 'all', parts: [] }
const never: NeededTerms = { type: 'any', parts: [] }

function needsOf(hint: Hint, counted: { values: number }): NeededTerms {
  switch (hint.type) {
    case 'none':
      return never
    case 'term':
    case 'unique': {
      counted.values += 1
      const { kind, value } = hint
      // Another thread gets a copy of the whole buffer that bytes lie in.
      return { type: 'term', term: { kind, value: new Uint8Array(value) } }
    }
    case 'linked':
      return needsOf(hint.part, counted)
    case 'and':
      return allOf(hint.parts.map((part) => needsOf(part, counted)))
    case 'or':
      return someOf(hint.parts.map((part) => needsOf(part, counted)))
    default:
      return always
  }
}

function allOf(parts: readonly NeededTerms[]): NeededTerms {
  if (parts.includes(never)) return never
  const real = parts.filter((part) => part !== always)
  const [first, ...others] = real
  if (first === undefined) return always
  return others.length === 0 ? first : { type: 'all', parts: real }
}

function someOf(parts: readonly NeededTerms[]): NeededTerms {
  if (parts.includes(always)) return always
  const real = parts.filter((part) => part !== never)
  const [first, ...others] = real
  if (first === undefined) return never
  return others.length === 0 ? first : { type: 'any', parts: real }
}
