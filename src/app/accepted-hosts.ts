/**
 * Whose word about rows counts: the Hosts that the application names, or else those that its peers prove to be. What a
 * peer proved is kept, so that it cannot be several Hosts one after the other.
 */
import { encodeJsonRecord, readJsonRecord } from '../store/json-record.ts'
import type { StoreWriter } from '../store/store.ts'

interface AcceptedOptions {
  /** Identities; null for those that the peers prove. */
  readonly listed: readonly string[] | null
  /** Peer IDs of the configured peers. */
  readonly peers: readonly string[]
}

export interface AcceptedHosts {
  isAccepted(identity: string): boolean
  list(): ReadonlySet<string>
  /** Peers that have not proven yet who they are, and will count then. */
  awaited(): number
  /**
   * A peer proved to be a Host. False where it is another one than before; where others are accepted by name, nothing
   * is kept of it.
   */
  prove(peer: string, identity: string): boolean
}

const recordName = 'app/hosts'

/** Begins with what was proven before by peers that are still configured. */
export function openAcceptedHosts(
  { listed, peers }: AcceptedOptions,
  {
    store,
    onChange,
  }: {
    readonly store: Pick<StoreWriter, 'putRecord' | 'reader'>
    /** Called with all that are accepted, at once and after each change. */
    readonly onChange: (hosts: ReadonlySet<string>) => void
  },
): AcceptedHosts {
  const kept = store.reader.read((snapshot) =>
    readJsonRecord<Readonly<Record<string, string>>>(snapshot, recordName),
  )
  const pins = new Map(Object.entries(kept ?? {}))
  for (const peer of pins.keys()) if (!peers.includes(peer)) pins.delete(peer)
  let accepted: ReadonlySet<string> = new Set(listed ?? pins.values())
  onChange(accepted)
  return {
    isAccepted: (identity) => accepted.has(identity),
    list: () => accepted,
    awaited: () => (listed === null ? peers.filter((peer) => !pins.has(peer)).length : 0),
    prove: (peer, identity) => {
      if (listed !== null) return true
      const pinned = pins.get(peer)
      if (pinned !== undefined) return pinned === identity
      pins.set(peer, identity)
      // Where the store cannot be written, its next write says so.
      store.putRecord(recordName, encodeJsonRecord(Object.fromEntries(pins))).catch(() => undefined)
      accepted = new Set(pins.values())
      onChange(accepted)
      return true
    },
  }
}
