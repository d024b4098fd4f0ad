/**
 * Digests over what is stored of identities, by groups of heights: that is much to read, so it is read a group at a time
 * within a share of the thread's time.
 */
import { type GroupDigest, groupHeights, groupOf } from '../primitives/vote-exchange.ts'
import type { ShareOfTime } from '../share-of-time.ts'

/** What is read of a store, and how much time reading it may take. */
export interface StoredPlaces<View> {
  readonly reader: { read<T>(use: (snapshot: View) => T): T }
  readonly time: ShareOfTime
}

/** Heights, both ends included. */
export interface Heights {
  readonly from: number
  readonly to: number
}

/** Something that an identity signed at a height. */
interface SignedPlace {
  readonly height: number
  readonly identity: string
}

interface Digesting<P extends SignedPlace, View> {
  readonly heights: Heights
  readonly identities: readonly string[]
  /** What there is at heights `from` to `to`, in ascending order. */
  readonly placesOf: (snapshot: View, from: number, to: number) => Iterable<P>
  /** Over the places of one identity in one group. */
  readonly digestOf: (places: readonly P[]) => string
}

/** A digest for each of the identities and each group of the heights in which it has something. */
export async function digestsByGroup<P extends SignedPlace, View>(
  { reader, time }: StoredPlaces<View>,
  { heights, identities, placesOf, digestOf }: Digesting<P, View>,
): Promise<GroupDigest[]> {
  const wanted = new Set(identities)
  const digests: GroupDigest[] = []
  const digestsAt = (view: View, { from, to }: Heights): GroupDigest[] => {
    const places = [...placesOf(view, from, to)].filter(({ identity }) => wanted.has(identity))
    return Array.from(
      Map.groupBy(places, ({ identity }) => identity),
      ([identity, own]) => ({ identity, group: groupOf(from), digest: digestOf(own) }),
    )
  }
  for (const group of groupsOf(heights))
    digests.push(...(await time.run(() => reader.read((view) => digestsAt(view, group)))))
  return digests
}

/** A range cut at the bounds of groups, so that a piece of work is small. */
export function groupsOf({ from, to }: Heights): Heights[] {
  const first = groupOf(from)
  return Array.from({ length: groupOf(to) - first + 1 }, (_, index) => {
    const start = (first + index) * groupHeights
    return { from: Math.max(from, start), to: Math.min(to, start + groupHeights - 1) }
  })
}
