/**
 * Which Views of a list no event has announced: none of those that a former list had, whoever has forgotten them
 * meanwhile. Of each ID twelve digits are kept, so that half a million Views take some megabytes. Nothing goes through
 * all of them at once: they are compared as they come.
 */

interface MissedViews {
  /** An event announced the View of this ID. */
  announced(id: string): void
  /** A list begins; what it brings counts only once it has ended, and that of a list before no longer. */
  begin(): ListedIDs
}

interface ListedIDs {
  add(ids: readonly string[]): void
  /** The list was whole: how many of its Views neither an event nor the former whole list had. */
  end(): number
}

interface List {
  readonly digests: Set<number>
  /** How many of them were not seen. */
  missed: number
}

/** IDs that are remembered; a list has no more. */
const maxSeen = 500_000

/** Twelve digits of an ID are exact as a number. Where two IDs share them, one View is not counted as missed. */
const digestOf = (id: string): number => Number(`0x${id.slice(-12)}`)

const emptyList = (): List => ({ digests: new Set(), missed: 0 })

/** `most` bounds what is remembered; where there was more, nothing counts as missed. */
export function createMissedViews(most: number = maxSeen): MissedViews {
  let former: ReadonlySet<number> = new Set()
  /** Those of events between the two former whole lists: the later one may have been read too early for them. */
  let before: ReadonlySet<number> = new Set()
  /** Those of events since the former whole list ended. */
  let recent = new Set<number>()
  let isCut = false
  let current = emptyList()
  const isSeen = (digest: number): boolean =>
    former.has(digest) || before.has(digest) || recent.has(digest)
  return {
    announced(id) {
      const digest = digestOf(id)
      if (former.size + before.size + recent.size >= most) isCut = true
      else {
        if (current.digests.has(digest) && !isSeen(digest)) current.missed -= 1
        recent.add(digest)
      }
    },
    begin() {
      const list = emptyList()
      current = list
      return {
        add: (ids) => {
          for (const digest of ids.map(digestOf)) {
            if (!list.digests.has(digest) && !isSeen(digest)) list.missed += 1
            list.digests.add(digest)
          }
        },
        end: () => {
          const missed = isCut ? 0 : list.missed
          former = list.digests
          before = recent
          recent = new Set()
          isCut = false
          current = emptyList()
          return missed
        },
      }
    },
  }
}
