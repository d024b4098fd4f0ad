/** What the parts that follow Hosts share: a link to each, and which of them feeds which View. */
import type { Logger } from 'pino'
import type { WelcomedView } from '../../follow/host-frames.ts'
import type { P2p } from '../../p2p/p2p.ts'
import type { RowFollower } from './follower.ts'
import type { StreamEnd, Welcome } from './host-stream.ts'
import type { Patience } from './patience.ts'

export interface LinkOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Peer IDs of the Hosts. */
  readonly peers: readonly string[]
  /** Long IDs of the Views. */
  readonly views: readonly string[]
  /** Hosts that have to agree on rows. */
  readonly minimumHosts: number
  readonly patience: Patience
}

export interface LinkParts {
  readonly p2p: Pick<P2p, 'openChannel' | 'penalise' | 'peers' | 'onPeer' | 'failures'>
  readonly follower: RowFollower
  readonly log: Logger
  /** How a Host stands changed. */
  readonly onChange: () => void
  /** The store failed. */
  readonly onFatal: (error: unknown) => void
}

/** A peer, and what is known of it as a Host. */
export interface Link {
  readonly peer: string
  identity: string | null
  isOpen: boolean
  head: number | null
  /** How it has the Views, as it said last. */
  views: ReadonlyMap<string, WelcomedView>
  error: string | null
  /** Whether it broke the protocol, which is more than that it cannot be reached. */
  isRefused: boolean
  /** Streams in a row that ended before anything of use came. */
  failures: number
  /** Whether anything of use came on its stream. */
  hadProgress: boolean
  /** The lowest height that it has, where it said that a cursor lies below. */
  floor: number
  /** Since when it has been followed, by streams of any role; null while it is away. */
  sinceMs: number | null
  /** When its stream was opened, and the Views of which it brings rows. */
  openedMs: number
  fed: ReadonlySet<string>
  /** Until when it does not feed a View again where another one can. */
  readonly avoidedUntilMs: Map<string, number>
  /** Blocks of a View a second that were stored while it fed and others were ahead, and when that was measured. */
  readonly rates: Map<string, { readonly rate: number; readonly atMs: number }>
  /** How often it was asked again for signatures, without an end to what lacks them. */
  unheardAsks: number
  /** Ends its stream, so that one of another role follows. */
  changingRole: AbortController
}

/** The Host that feeds a View. */
export interface Feeding {
  readonly link: Link
  /** Height up to which the View is stored, and since when. */
  stored: { readonly number: number; readonly sinceMs: number }
  /** Checks in a row at which what others had signed at the one before was not stored, and how it stood at the first. */
  late: { readonly checks: number; readonly from: number; readonly sinceMs: number } | null
  /** The height that enough others had signed at the last check. */
  due: number
}

export interface Links {
  readonly options: LinkOptions
  readonly parts: LinkParts
  readonly links: readonly Link[]
  readonly closing: AbortController
  /** By the long ID of the View. */
  readonly feeding: Map<string, Feeding>
  /** Views that nobody feeds until a time, since they held up what else their streams bring. */
  readonly paused: Map<string, number>
}

/** A link to a peer that was not reached yet. */
export function createLink(peer: string): Link {
  return {
    peer,
    identity: null,
    isOpen: false,
    head: null,
    views: new Map(),
    error: null,
    isRefused: false,
    failures: 0,
    hadProgress: false,
    floor: 0,
    sinceMs: null,
    openedMs: 0,
    fed: new Set(),
    avoidedUntilMs: new Map(),
    rates: new Map(),
    unheardAsks: 0,
    changingRole: new AbortController(),
  }
}

/** A Host said who it is, and how it has the Views. */
export function noteWelcome(link: Link, { identity, views }: Welcome): void {
  link.identity = identity
  link.isOpen = true
  link.openedMs = performance.now()
  link.sinceMs ??= link.openedMs
  link.error = null
  link.isRefused = false
  link.views = new Map(views.map((welcomed) => [welcomed.view, welcomed]))
  link.head = views.reduce<number | null>((top, { head }) => {
    return head === null ? top : Math.max(head, top ?? head)
  }, null)
}

/** What follows from the last word of a Host; true where a new stream may go well at once. */
export function noteEnd(link: Link, { error, tail }: StreamEnd): boolean {
  link.error = endTexts[error]
  const isPruned = error === 'pruned' && tail !== null && tail > link.floor
  const isSoon =
    (isPruned && (link.floor === 0 || link.hadProgress)) || (error === 'slow' && link.hadProgress)
  if (isPruned) link.floor = tail
  if (!isSoon) link.failures += 1
  return isSoon
}

const endTexts: Readonly<Record<StreamEnd['error'], string>> = {
  busy: 'The Host serves as many applications as it can.',
  unknown: 'The Host has none of the Views, or computes their rows for each query.',
  pruned: 'The Host no longer has what comes next; what it has is followed.',
  slow: 'The Host ended the stream, since this application read too slowly.',
  unavailable: 'The Host is stopping.',
}
