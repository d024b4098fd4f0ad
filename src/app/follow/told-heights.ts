/**
 * Up to which height each Host has said itself what it has, however much was stored since on the word of others: above
 * it the Host is asked once more when it comes back. Kept, so that a restart leaves nothing out.
 */
import { encodeJsonRecord, readJsonRecord } from '../../store/json-record.ts'
import type { StoreWriter } from '../../store/store.ts'

/** What a Host said of what is stored. */
interface Told {
  /** The identity that the peer proved to have. */
  readonly host: string
  /** The height up to which it said what it has; -1 for none. */
  readonly to: number
}

export interface ToldHeights {
  /** A peer proved to be a Host, while blocks up to a height are stored. */
  prove(peer: string, host: string, head: number): void
  /** The Host that a peer proved to be, and the height above which it is to be asked; undefined where it is not known. */
  of(peer: string): Told | undefined
  raise(host: string, to: number): void
  lower(host: string, to: number): void
  /** What was stored above a height is gone, or is about to be. */
  removed(above: number): void
  /** Writes what was not written yet. */
  save(): void
}

/** Newest blocks of which a Host is asked that was never heard. */
export const unheardBlocks = 8_192

const recordName = 'app/told'
/** Peers that are remembered, among them those that are no longer followed. */
const maxPeers = 64
/** A height that goes up is written once in so many blocks; one that goes down at once, before what was there is removed. */
const savedEvery = 256

/** Begins with what was kept; null keeps nothing. */
export function openToldHeights(
  store: Pick<StoreWriter, 'putRecord' | 'reader'> | null,
): ToldHeights {
  const kept = store?.reader.read((snapshot) =>
    readJsonRecord<Readonly<Record<string, Told>>>(snapshot, recordName),
  )
  const peers = new Map(Object.entries(kept ?? {}))
  let saved = new Map(peers)
  const save = (): void => {
    const isSame = [...peers].every(([peer, told]) => saved.get(peer) === told)
    if (store === null || isSame) return
    saved = new Map(peers)
    // Where the store cannot be written, its next write says so.
    store.putRecord(recordName, encodeJsonRecord(Object.fromEntries(peers))).catch(() => undefined)
  }
  const put = (peer: string, told: Told): void => {
    peers.set(peer, told)
    const { to } = saved.get(peer) ?? { to: Infinity }
    if (told.to < to || told.to >= to + savedEvery) save()
  }
  const lowerWhere = (isMeant: (told: Told) => boolean, to: number): void => {
    for (const [peer, told] of peers) if (told.to > to && isMeant(told)) put(peer, { ...told, to })
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
      for (const [peer, told] of peers)
        if (told.host === host && to > told.to) put(peer, { ...told, to })
    },
    lower: (host, to) => lowerWhere((told) => told.host === host, to),
    removed: (above) => lowerWhere(() => true, above),
    save,
  }
}
