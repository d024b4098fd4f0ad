/**
 * The query dialect's spellings. Users have queries written for several generations of it, so every
 * spelling is accepted; introspection shows the first as the one to write and the others as
 * deprecated, so that tools do not offer them.
 */

/** Operators that have other spellings, by the one that introspection shows. */
export const operatorSpellings: Readonly<Record<string, readonly string[]>> = {
  _neq: ['_ne'],
  _geq: ['_ge', '_gte'],
  _leq: ['_le', '_lte'],
}

/** What folds a list into one value. */
export type Fold = 'COUNT' | 'SUM' | 'AVG' | 'MIN' | 'MAX'

/** Each aggregate's other spelling. */
export const foldSpellings: Readonly<Record<Fold, string>> = {
  COUNT: '_count',
  SUM: '_sum',
  AVG: '_avg',
  MIN: '_min',
  MAX: '_max',
}

/** The aggregates in the order in which they are listed. */
export const folds: readonly Fold[] = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX']

/** The field of a group that lists its members, and its other spelling. */
export const groupField = 'GROUP'
export const groupFieldOther = '_group'

const canonicalOperators: ReadonlyMap<string, string> = new Map(
  Object.entries(operatorSpellings).flatMap(([name, others]) => others.map((one) => [one, name])),
)

const canonicalFolds: ReadonlyMap<string, Fold> = new Map(
  folds.flatMap((fold) => [
    [fold, fold],
    [foldSpellings[fold], fold],
  ]),
)

/** `_ge` and `_gte` become `_geq`; what has one spelling stays. */
export function canonicalOperator(name: string): string {
  return canonicalOperators.get(name) ?? name
}

/** The aggregate a field name means, or undefined when it means none. */
export function foldOf(name: string): Fold | undefined {
  return canonicalFolds.get(name)
}

/** True for both spellings of the group member list. */
export function isGroupField(name: string): boolean {
  return name === groupField || name === groupFieldOther
}

/** What introspection says about a spelling that is not the first one. */
export function otherSpelling(of: string): string {
  return `Another spelling of ${of}; both are accepted.`
}
