/** Where an application stands, for progress bars and for people. */
import type { HeightRanges } from '../primitives/height-ranges.ts'
import type { StoreReader } from '../store/store.ts'
import type { AppState, ViewReport } from './contract.ts'
import type { RowFollower } from './follow/follower.ts'
import type { HostLinks } from './follow/host-links.ts'
import type { FollowedViews } from './followed-views.ts'

interface StateParts {
  /** Hosts that have to name a height before it is believed. */
  readonly minimumHosts: number
  readonly isAccepted: (identity: string) => boolean
  readonly reader: StoreReader
  readonly views: FollowedViews
  readonly follower: Pick<RowFollower, 'progress'>
  readonly links: Pick<HostLinks, 'reports' | 'isFed'>
  readonly failure: () => string | null
}

const maxRanges = 100

/** Returns the function that says how everything stands now. */
export function createStateReport({
  reader,
  views,
  follower,
  links,
  minimumHosts,
  isAccepted,
  failure,
}: StateParts): () => AppState {
  return () => {
    const hosts = links.reports()
    const heads = hosts
      .filter(({ role, identity }) => role !== 'away' && identity !== null && isAccepted(identity))
      .flatMap(({ head }) => head ?? [])
      .sort((a, b) => b - a)
    const head = heads[Math.min(minimumHosts, heads.length) - 1] ?? null
    const parts = { reader, views, follower }
    const reports = views.ids.map((id) => reportOf(id, parts, head, links.isFed(id)))
    return { views: reports, hosts, bytes: reader.usedBytes(), failure: failure() }
  }
}

function reportOf(
  id: string,
  { reader, views, follower }: Pick<StateParts, 'reader' | 'views' | 'follower'>,
  head: number | null,
  isFed: boolean,
): ViewReport {
  const view = views.find(id)
  const { done, failed, size } = reader.read((snapshot) => {
    if (view === undefined) return { done: [], failed: [], size: { rows: 0, bytes: 0 } }
    const { slot } = view
    return {
      done: snapshot.viewRanges(slot),
      failed: snapshot.viewFailures(slot),
      size: snapshot.viewSize(slot),
    }
  })
  const top = Math.max(topOf(done), topOf(failed))
  const isLive = isFed && head !== null && top >= head
  const following = isFed && view !== undefined ? 'catching-up' : 'waiting'
  return {
    id,
    name: view?.name ?? null,
    state: isLive ? 'live' : following,
    done: done.slice(-maxRanges).map(([from, to]) => ({ from, to })),
    ...size,
    head: head === null ? null : Math.max(head, top),
    blocksPending: follower.progress(id).pending,
    blocksFailed: failed.reduce((sum, [from, to]) => sum + to - from + 1, 0),
  }
}

function topOf(ranges: HeightRanges): number {
  return ranges.at(-1)?.[1] ?? -1
}
