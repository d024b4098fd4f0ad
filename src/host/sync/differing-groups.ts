/** Which groups of heights have to be fetched of a peer, by its digests and ours. */
import type { Heights } from '../../mesh/vote-groups.ts'
import { type GroupDigest, groupHeights, groupOf } from '../../primitives/vote-exchange.ts'

interface ComparedDigests {
  readonly heights: Heights
  readonly identities: readonly string[]
  readonly ours: readonly GroupDigest[]
  /** As the peer says. */
  readonly theirs: readonly GroupDigest[]
}

/** A group in which a peer has something else of an identity than we have. */
interface DifferingGroup {
  readonly identity: string
  /** Those of the group that are compared. */
  readonly heights: Heights
}

/** The groups in which a peer has other things of these identities than we have, or any that we lack, each once. */
export function differingGroups({
  heights,
  identities,
  ours,
  theirs,
}: ComparedDigests): DifferingGroup[] {
  const key = ({ identity, group, digest }: GroupDigest): string => `${identity} ${group} ${digest}`
  const wanted = new Set(identities)
  const known = new Set(ours.map(key))
  const differing = theirs.filter(
    (digest) =>
      wanted.has(digest.identity) &&
      digest.group >= groupOf(heights.from) &&
      digest.group <= groupOf(heights.to) &&
      !known.has(key(digest)),
  )
  const once = new Map(differing.map((each) => [`${each.identity} ${each.group}`, each]))
  return Array.from(once.values(), ({ identity, group }) => ({
    identity,
    heights: clip(heights, group),
  }))
}

function clip({ from, to }: Heights, group: number): Heights {
  const first = group * groupHeights
  return { from: Math.max(from, first), to: Math.min(to, first + groupHeights - 1) }
}
