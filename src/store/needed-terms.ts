/** What a block has to hold to be of use to somebody, said in values of its index. Plain data, for other threads too. */
import type { Term } from '../primitives/index-terms.ts'

/** A value that documents of a block may have. */
export type NeededTerm = Pick<Term, 'kind' | 'value'>

/** A value, or several of which all or any are needed: `all` of none always holds, `any` of none never does. */
export type NeededTerms<T = NeededTerm> =
  | { readonly type: 'term'; readonly term: T }
  | { readonly type: 'all' | 'any'; readonly parts: readonly NeededTerms<T>[] }

/** Whether a block has what is needed, given which values it may hold. */
export function hasNeeded<T>(needed: NeededTerms<T>, holds: (term: T) => boolean): boolean {
  switch (needed.type) {
    case 'term':
      return holds(needed.term)
    case 'all':
      return needed.parts.every((part) => hasNeeded(part, holds))
    case 'any':
      return needed.parts.some((part) => hasNeeded(part, holds))
  }
}

/** The same with its values in another form. */
export function mapNeeded<T, U>(needed: NeededTerms<T>, map: (term: T) => U): NeededTerms<U> {
  if (needed.type === 'term') return { type: 'term', term: map(needed.term) }
  return { type: needed.type, parts: needed.parts.map((part) => mapNeeded(part, map)) }
}
