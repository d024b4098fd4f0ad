/**
 * What the index of a block has to hold for a View to have rows of it. The index names every value of the block's
 * documents, so that every Host finds the same without reading them. Pure.
 */
import type { ViewSelection } from '../../graphql/selection/view-selection.ts'
import type { TermKind } from '../../primitives/index-terms.ts'
import { hasNothingOfNothing, hintsOf } from '../../views/view-hints.ts'
import type { HostedView } from './hosted-view.ts'

/** A value that documents of a block may have. */
export interface NeededValue {
  readonly kind: TermKind
  readonly value: Uint8Array
  /** The same for the same kind and value. */
  readonly key: string
}

/** Whether a block may have rows, given which values it may hold. */
export type IndexNeeds = (holds: (value: NeededValue) => boolean) => boolean

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
): IndexNeeds | null {
  if (!hasNothingOfNothing(lenses)) return null
  const hints = hintsOf(lenses, query)
  const needed: Hint = {
    type: 'and',
    parts: [
      hint,
      anyOf('logAddress', hints?.addresses ?? null),
      anyOf('topic', hints?.topics ?? null),
    ],
  }
  const counted = { values: 0 }
  const needs = needsOf(needed, counted)
  return needs === always || counted.values > mostValues ? null : needs
}

function anyOf(kind: TermKind, values: readonly string[] | null): Hint {
  if (values === null) return { type: 'all' }
  return {
    type: 'or',
    parts: values.map((value) => ({
      type: 'term',
      kind,
      value: Buffer.from(value.slice(2), 'hex'),
    })),
  }
}

const always: IndexNeeds = () => true
const never: IndexNeeds = () => false

function needsOf(hint: Hint, counted: { values: number }): IndexNeeds {
  switch (hint.type) {
    case 'none':
      return never
    case 'term':
    case 'unique': {
      counted.values += 1
      const { kind, value } = hint
      const indexed = { kind, value, key: `${kind} ${Buffer.from(value).toString('hex')}` }
      return (holds) => holds(indexed)
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

function allOf(parts: readonly IndexNeeds[]): IndexNeeds {
  if (parts.includes(never)) return never
  const real = parts.filter((part) => part !== always)
  const [first, ...others] = real
  if (first === undefined) return always
  return others.length === 0 ? first : (holds) => real.every((part) => part(holds))
}

function someOf(parts: readonly IndexNeeds[]): IndexNeeds {
  if (parts.includes(always)) return always
  const real = parts.filter((part) => part !== never)
  const [first, ...others] = real
  if (first === undefined) return never
  return others.length === 0 ? first : (holds) => real.some((part) => part(holds))
}
