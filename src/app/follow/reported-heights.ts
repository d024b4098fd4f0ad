/**
 * Up to which height each Host has said itself what it has, however much was stored since on the word of others: above
 * it the Host is asked once more when it comes back. Kept, so that a restart leaves nothing out.
 */
import { encodeJsonRecord, readJsonRecord } from '../../store/json-record.ts'
import type { StoreWriter } from '../../store/store.ts'

/** What a Host said of what is stored. */
interface Reported {
  /** The identity that the peer proved to have. */
  readonly host: string
  /** The height up to which it said what it has; -1 for none. */
  readonly to: number
}

export interface ReportedHeights {
  /** A peer proved to be a Host, while blocks up to a height are stored. */
  prove(peer: string, host: string, head: number): void
  /** The Host that a peer proved to be, and the height above which it is to be asked; undefined where it is not known. */
  of(peer: string): Reported | undefined
  raise(host: string, to: number): void
  lower(host: string, to: number): void
  /** What was stored above a height is gone, or is about to be. */
  removed(above: number): void
  /** Writes what was not written yet. */
  save(): void
}

/** Newest blocks of which a Host is asked that was never heard. */
export const unheardBlocks = 8_192

/** Existing stores hold it under this name. */
const recordName = 'app/told'
/** Peers that are remembered, among them those that are no longer followed. */
const maxPeers = 64
/** A height that goes up is written once in so many blocks; one that goes down at once, before what was there is removed. */
const savedEvery = 256

/** Begins with what was kept; null keeps nothing. */
export function openReportedHeights(
  store: Pick<StoreWriter, 'putRecord' | 'reader'> | null,
): ReportedHeights {
  const kept = store?.reader.read((snapshot) =>
    readJsonRecord<Readonly<Record<string, Reported>>>(snapshot, recordName),
  )
  const peers = new Map(Object.entries(kept ?? {}))
  let saved = new Map(peers)
  const save = (): void => {
    const isSame = [...peers].every(([peer, reported]) => saved.get(peer) === reported)
    if (store === null || isSame) return
    saved = new Map(peers)
    // Where the store cannot be written, its next write says so.
    store.putRecord(recordName, encodeJsonRecord(Object.fromEntries(peers))).catch(() => undefined)
  }
  const put = (peer: string, reported: Reported): void => {
    peers.set(peer, reported)
    const { to } = saved.get(peer) ?? { to: Infinity }
    if (reported.to < to || reported.to >= to + savedEvery) save()
  }
  const lowerWhere = (isMeant: (reported: Reported) => boolean, to: number): void => {
    for (const [peer, reported] of peers)
      if (reported.to > to && isMeant(reported)) put(peer, { ...reported, to })
  }
  return {
    prove: (peer, host, head) => {
      if (peers.get(peer)?.host === host) return
      peers.delete(peer)
      const [oldest] = peers.keys()
      if (peers.size >= maxPeers && oldest !== undefined) peers.delete(oldest)
      put(peer, { host, to: Math.max(-1, head - unheardBlocks) })
    },
    of: (peer) => peers.get(peer),
    raise: (host, to) => {
      for (const [peer, reported] of peers)
        if (reported.host === host && to > reported.to) put(peer, { ...reported, to })
    },
    lower: (host, to) => lowerWhere((reported) => reported.host === host, to),
    removed: (above) => lowerWhere(() => true, above),
    save,
  }
}
