/**
 * Which registered Views a Host serves: there are fewer places than anybody may register Views. Allowed ones come first,
 * then those that are served already, then those with the lowest heights of registration. That served ones keep their
 * places protects them from a chain that lies about heights, which no ID vouches for. Among served ones those come
 * first that take no more than their share of the disk, so that a View that grows takes the place of none of them.
 */

export interface Candidate {
  readonly id: string
  readonly isAllowed: boolean
  readonly isServed: boolean
  /** Which of equal ones comes first: by arrival here where it is served, else the height of its registration. */
  readonly order: number
  /** What its rows take, or took when it lost its place. */
  readonly bytes: number
  /** Of its type; 0 where that was not read so far. */
  readonly fields: number
}

interface PlaceLimits {
  readonly places: number
  /** Of the rows of all registered Views that are served. */
  readonly maxBytes: number
  /** Of all their types. */
  readonly maxFields: number
}

/** Better before worse. */
function byRank(share: number): (a: Candidate, b: Candidate) => number {
  const classOf = ({ isAllowed, isServed, bytes }: Candidate): number =>
    (isAllowed ? 0 : 3) + (isServed ? Number(bytes > share) : 2)
  return (a, b) => classOf(a) - classOf(b) || a.order - b.order || (a.id < b.id ? -1 : 1)
}

/** Those that get a place, in their order. One that would need too much leaves its place to the next. */
export function givePlaces(
  candidates: readonly Candidate[],
  { places, maxBytes, maxFields }: PlaceLimits,
): readonly Candidate[] {
  let bytes = 0
  let fields = 0
  const given: Candidate[] = []
  for (const candidate of candidates.toSorted(byRank(maxBytes / places))) {
    if (given.length >= places) break
    if (bytes + candidate.bytes > maxBytes || fields + candidate.fields > maxFields) continue
    bytes += candidate.bytes
    fields += candidate.fields
    given.push(candidate)
  }
  return given
}
