/**
 * Keeps the list of accepted signers: asks bootstrap peers who they are, reads the file of signers when it
 * changes, remembers what was proven, and tells the writer and the readers whose word counts.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { P2p } from '../../p2p/p2p.ts'
import type { FailureReport, TrustMode } from '../../service/contract.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import { type AcceptedSource, createAcceptedList } from './accepted-list.ts'
import { openJsonRecord } from './json-record.ts'
import { type PeerIdentity, provenIdentity } from './peer-identity.ts'
import { rememberSigners, type SignersFile } from './signers-file.ts'
import { anyoneFailure, trustFailures } from './trust-failures.ts'

export interface TrustOptions {
  readonly mode: TrustMode
  /** The identities of HOST_TRUSTED_SIGNERS. */
  readonly listed: readonly string[]
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

export interface TrustParts {
  readonly log: Logger
  readonly writer: Pick<Writer, 'setAccepted' | 'putRecord'>
  readonly reader: StoreReader
  /** The file of signers; null without one. */
  readonly file: SignersFile | null
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface Trust {
  readonly mode: TrustMode
  /** Who is accepted by name. */
  sources(): readonly AcceptedSource[]
  /** Who a connected peer proved to be; null where it did not. */
  identityOf(peer: string): PeerIdentity | null
  /** What a person should look at. */
  failures(): readonly FailureReport[]
  /** The file of signers changed. */
  onFile(): void
  /**
   * The bootstrap peers, now and whenever they change. What others proved is forgotten where these are all of
   * them; where the file of peers could not be read it stays.
   */
  setBootstrapPeers(peers: readonly string[], areAll: boolean): void
  /** Asks the bootstrap peers of this node who they are, from now on. */
  follow(p2p: AskedNode): void
  close(): void
}

/** The part of a node that tells who its peers are. */
export type AskedNode = Pick<P2p, 'ask' | 'peers' | 'onPeer' | 'penalise'>

const firstRetryMs = 1_000
const maxRetryMs = 60_000

/** Begins with what was proven before. */
export function openTrust(options: TrustOptions, parts: TrustParts): Trust {
  const { mode, listed } = options
  const { log, writer, reader } = parts
  const file = rememberSigners(parts.file, parts)
  const pinned = openJsonRecord<Readonly<Record<string, string>>>('pins', parts)
  const list = createAcceptedList({ mode, listed, pins: pinned.read() ?? {} })
  list.setFile(file?.values() ?? [])
  const proven = new Map<string, PeerIdentity>()
  const closing = new AbortController()
  /** What ends the questions to a peer. */
  const asking = new Map<string, AbortController>()
  /** Bootstrap peers that proved to be Hosts. */
  const hosts = new Set<string>()
  let told: { readonly text: string; readonly awaited: number } | null = null
  let peers: readonly string[] = []
  let areAllPeers = false
  let node: AskedNode | null = null

  /** How many bootstrap peers may still prove to be Generators: no end while the list of them is not known. */
  const countAwaited = (): number => {
    if (mode !== 'bootstrap') return 0
    if (!areAllPeers) return Number.POSITIVE_INFINITY
    const pins = list.pins()
    return peers.filter((peer) => !hosts.has(peer) && pins[peer] === undefined).length
  }
  const update = (): void => {
    const identities = list.sources().map(({ identity }) => identity)
    const awaited = countAwaited()
    const text = identities.join()
    if (text === told?.text && awaited === told.awaited) return
    const isNews = text !== told?.text
    told = { text, awaited }
    reader.showSealsOf(mode === 'anyone' ? null : new Set(identities))
    const accepted =
      mode === 'anyone'
        ? ({ kind: mode } as const)
        : ({ kind: 'listed', identities, awaited } as const)
    writer.setAccepted(accepted).catch(parts.onFatal)
    if (isNews) log.info({ trust: mode, signers: identities.length }, 'accepted signers')
  }
  const savePins = (): void => pinned.put(list.pins())

  const onProof = (peer: string, found: PeerIdentity): void => {
    proven.set(peer, found)
    if (found.role !== 'generator') {
      hosts.add(peer)
      update()
      return
    }
    const isAccepted = list.sources().some(({ identity }) => identity === found.identity)
    if (mode === 'signers' && !isAccepted)
      log.warn(
        { peer, identity: found.identity },
        'bootstrap peer is a Generator that is not accepted',
      )
    if (mode !== 'bootstrap') return
    if (list.prove(peer, found.identity)) {
      log.info({ peer, signer: found.identity }, 'bootstrap peer proved a Generator’s identity')
      savePins()
      update()
    }
    for (const { pinned } of list.changed().filter((change) => change.peer === peer))
      log.error({ peer, pinned, found: found.identity }, 'bootstrap peer proves another identity')
  }

  /** Asks every connected bootstrap peer that has not proved anything. */
  const askAll = (p2p: AskedNode): void => {
    const peers = p2p.peers().filter(({ bootstrap, id }) => bootstrap && !asking.has(id))
    for (const { id } of peers.filter((peer) => !proven.has(peer.id))) {
      const leaving = new AbortController()
      asking.set(id, leaving)
      const signal = AbortSignal.any([closing.signal, leaving.signal])
      askUntilProven(id, options.network, p2p, signal)
        .then((found) => found !== null && onProof(id, found))
        .finally(() => {
          if (asking.get(id) === leaving) asking.delete(id)
        })
        .catch(parts.onFatal)
    }
  }

  if (mode === 'anyone') log.warn(anyoneFailure.message)
  update()
  return {
    mode,
    sources: list.sources,
    identityOf: (peer) => proven.get(peer) ?? null,
    failures: () => trustFailures({ mode, list, peers, proven, file }),
    onFile: () => {
      list.setFile(file?.values() ?? [])
      file?.save()
      update()
    },
    setBootstrapPeers: (addresses, areAll) => {
      peers = addresses.map(peerOf)
      areAllPeers = areAll
      if (areAll && list.keepPeers(peers)) savePins()
      for (const peer of peers) {
        const found = proven.get(peer)
        if (found !== undefined) onProof(peer, found)
      }
      update()
      if (node !== null) askAll(node)
    },
    follow: (p2p) => {
      node = p2p
      const stop = p2p.onPeer(({ type, peer }) => {
        if (type === 'disconnected') {
          proven.delete(peer)
          asking.get(peer)?.abort()
          asking.delete(peer)
        }
        if (type === 'connected') askAll(p2p)
      })
      closing.signal.addEventListener('abort', stop)
      askAll(p2p)
    },
    close: () => closing.abort(),
  }
}

/** Asks a bootstrap peer as long as it is connected; null when it left, or proves something else. */
async function askUntilProven(
  peer: string,
  network: string,
  p2p: AskedNode,
  signal: AbortSignal,
): Promise<PeerIdentity | null> {
  const isWanted = (): boolean => p2p.peers().some(({ id, bootstrap }) => id === peer && bootstrap)
  for (let retryMs = firstRetryMs; isWanted(); retryMs = Math.min(maxRetryMs, 2 * retryMs)) {
    try {
      const answer = await p2p.ask(peer, 'identity', new Uint8Array(), signal)
      const found = provenIdentity(answer, { network, peer })
      if (found === null) p2p.penalise(peer, 'a proof of identity that does not fit')
      return found
    } catch (error) {
      if (signal.aborted) return null
      if (!(error instanceof ServiceError)) throw error
    }
    await delay(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
  return null
}

/** The peer ID at the end of an address. */
function peerOf(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1)
}
