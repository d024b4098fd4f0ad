/**
 * Which Views of a list no event has announced: none of those that a former list had, whoever has forgotten them
 * meanwhile. Of each ID twelve digits are kept, so that half a million Views take some megabytes.
 */

interface MissedViews {
  /** An event announced the View of this ID. */
  announced(id: string): void
  /** A list begins; what it brings counts only once it has ended. */
  begin(): ListedIDs
}

interface ListedIDs {
  add(ids: readonly string[]): void
  /** The list was whole: how many of its Views neither an event nor the former whole list had. */
  end(): number
}

/** IDs that are remembered; a list has no more. */
const maxSeen = 500_000

/** Twelve digits of an ID are exact as a number. Where two IDs share them, one View is not counted as missed. */
const digestOf = (id: string): number => Number.parseInt(id.slice(-12), 16)

/** `most` bounds what is remembered; where there was more, nothing counts as missed. */
export function createMissedViews(most: number = maxSeen): MissedViews {
  let seen = new Set<number>()
  let isCut = false
  /** Those of events since the former whole list ended: a list may have been read too early for them. */
  let recent = new Set<number>()
  return {
    announced(id) {
      if (seen.size >= most || recent.size >= most) isCut = true
      else for (const set of [seen, recent]) set.add(digestOf(id))
    },
    begin() {
      const listed = new Set<number>()
      return {
        add: (ids) => {
          for (const id of ids) listed.add(digestOf(id))
        },
        end: () => {
          const missed = isCut ? 0 : [...listed].filter((digest) => !seen.has(digest)).length
          seen = new Set([...listed, ...recent])
          recent = new Set()
          isCut = false
          return missed
        },
      }
    },
  }
}
