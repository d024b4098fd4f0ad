/**
 * Which registered Views a Host serves: there are fewer places than anybody may register Views. Allowed ones come first,
 * then those that are served already, then those with the lowest heights of registration. That served ones keep their
 * places protects them from a chain that lies about heights, which no ID vouches for.
 */

export interface Candidate {
  readonly id: string
  readonly isAllowed: boolean
  readonly isServed: boolean
  readonly registeredAt: number
  /** What its rows take, or took when it lost its place. */
  readonly bytes: number
}

interface PlaceLimits {
  readonly places: number
  /** Of the rows of all registered Views that are served. */
  readonly maxBytes: number
}

/** Better before worse. */
function byRank(a: Candidate, b: Candidate): number {
  if (a.isAllowed !== b.isAllowed) return a.isAllowed ? -1 : 1
  if (a.isServed !== b.isServed) return a.isServed ? -1 : 1
  if (a.registeredAt !== b.registeredAt) return a.registeredAt - b.registeredAt
  return a.id < b.id ? -1 : 1
}

/** Those that get a place, in their order. One that would need too much of the disk leaves its place to the next. */
export function givePlaces(
  candidates: readonly Candidate[],
  { places, maxBytes }: PlaceLimits,
): readonly Candidate[] {
  let bytes = 0
  const given: Candidate[] = []
  for (const candidate of candidates.toSorted(byRank)) {
    if (given.length >= places) break
    if (bytes + candidate.bytes > maxBytes) continue
    bytes += candidate.bytes
    given.push(candidate)
  }
  return given
}
