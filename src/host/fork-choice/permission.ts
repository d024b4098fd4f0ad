/** Whether stored blocks may give way to a branch that most counted signers follow. Times are milliseconds. */

export interface ReplacementFacts {
  /** Stored blocks that would go. */
  readonly depth: number
  /** How many signers are accepted, and how many of them count. */
  readonly accepted: number
  readonly counted: number
  /** How long the branch has been the canonical one. */
  readonly canonicalForMs: number
  /** How long more than half of all accepted signers, silent ones included, have stood on it; null where they do not. */
  readonly majorityForMs: number | null
  /** Blocks that were replaced within the last hour. */
  readonly replacedLately: number
}

export type Permission =
  | { readonly kind: 'now' }
  /** Not yet; to be asked again after so long. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** Deeper than these signers may decide. */
  | { readonly kind: 'too-deep' }

/** Stored blocks that may be replaced at once, and in one transaction. */
export const maxReorgDepth = 64
/** How long a branch must stay canonical where three or more signers are accepted. */
const steadyMs = 5_000
/** How long most of all signers must have stood on a branch that leaves more blocks behind. */
const deepMs = 60_000
/** How long replaced blocks are remembered. */
export const replacedForMs = 3_600_000

/** Decision 5 of the design: at once up to 64 blocks, deeper only with most of all signers for a minute. */
export function mayReplace(facts: ReplacementFacts): Permission {
  const { depth, accepted, counted, canonicalForMs, majorityForMs, replacedLately } = facts
  const isMinority = 2 * counted <= accepted
  if (depth + (isMinority ? replacedLately : 0) > maxReorgDepth) {
    if (majorityForMs === null) return { kind: 'too-deep' }
    return majorityForMs >= deepMs
      ? { kind: 'now' }
      : { kind: 'wait', forMs: deepMs - majorityForMs }
  }
  if (accepted < 3 || canonicalForMs >= steadyMs) return { kind: 'now' }
  return { kind: 'wait', forMs: steadyMs - canonicalForMs }
}
