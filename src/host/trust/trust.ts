/**
 * Keeps the lists of accepted signers and Hosts: asks bootstrap peers who they are, reads the files of both when they
 * change, remembers what was proven, and reports who is accepted to the writer and the readers.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { type PeerIdentity, provenIdentity } from '../../mesh/peer-identity.ts'
import type { P2p } from '../../p2p/p2p.ts'
import { type Backoff, backoffMs } from '../../primitives/backoff.ts'
import type { FailureReport, TrustMode } from '../../service/contract.ts'
import { peerAtEnd } from '../../service/settings/peer-at-end.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import type { AcceptedList, AcceptedSource } from './accepted-list.ts'
import { openPinnedList } from './pinned-list.ts'
import { type RememberedFile, rememberSigners, type SignersFile } from './signers-file.ts'
import { anyoneFailure, trustFailures } from './trust-failures.ts'
import { type AcceptedHost, openTrustedHosts, type TrustedHosts } from './trusted-hosts.ts'

interface TrustOptions {
  readonly mode: TrustMode
  /** The identities of HOST_TRUSTED_SIGNERS. */
  readonly listed: readonly string[]
  /** The identities of HOST_TRUSTED_HOSTS. */
  readonly listedHosts: readonly string[]
  /** The identity of this Host, which is never one of those that are accepted. */
  readonly own: string
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

interface TrustParts {
  readonly log: Logger
  readonly writer: Pick<Writer, 'setAccepted' | 'setAcceptedHosts' | 'putRecord'>
  readonly reader: StoreReader
  /** The file of signers; null without one. */
  readonly file: SignersFile | null
  /** The file of Hosts; null without one. */
  readonly hostsFile: SignersFile | null
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface Trust {
  readonly mode: TrustMode
  /** The identities that are accepted by name. */
  sources(): readonly AcceptedSource[]
  /** The other Hosts whose word about rows counts. */
  hosts(): readonly AcceptedHost[]
  /** Calls the listener whenever other Hosts are accepted from now on. */
  onHosts(listener: () => void): void
  /** Who a connected bootstrap peer proved to be; null where it did not, and for siblings. */
  identityOf(peer: string): PeerIdentity | null
  /** What an operator should check. */
  failures(): readonly FailureReport[]
  /** The file of signers changed. */
  onFile(): void
  /** The file of Hosts changed. */
  onHostsFile(): void
  /**
   * The bootstrap peers, now and whenever they change. What others proved is forgotten where these are all of
   * them; where the file of peers could not be read it stays.
   */
  setBootstrapPeers(peers: readonly string[], areAll: boolean): void
  /**
   * The other replicas of this Host that are no bootstrap peers, now and whenever they change, as `setBootstrapPeers`
   * has it. They are accepted as Hosts once they prove to be, and as signers never.
   */
  setSiblings(addresses: readonly string[], areAll: boolean): void
  /** Asks the bootstrap peers and siblings of this node who they are, from now on. */
  follow(p2p: AskedNode): void
  close(): void
}

/** The part of a node that knows who its peers are. */
interface AskedNode extends Pick<P2p, 'request' | 'onPeer' | 'penalise'> {
  peers(): readonly { readonly id: string }[]
}

const retry: Backoff = { minMs: 1_000, maxMs: 60_000 }

interface State {
  readonly options: TrustOptions
  readonly parts: TrustParts
  /** The file of signers with its memory; null without one. */
  readonly file: RememberedFile | null
  readonly list: AcceptedList
  readonly trustedHosts: TrustedHosts
  /** Who connected bootstrap peers and siblings proved to be. */
  readonly proven: Map<string, PeerIdentity>
  /** What ends the requests to a peer. */
  readonly asking: Map<string, AbortController>
  /** Bootstrap peers that proved to be Hosts. */
  readonly hosts: Set<string>
  readonly closing: AbortController
  /** The list that the writer was given last. */
  reported: { readonly text: string; readonly awaited: number } | null
  peers: readonly string[]
  siblings: readonly string[]
  areAllPeers: boolean
  node: AskedNode | null
}

/** Begins with what was proven before. */
export function openTrust(options: TrustOptions, parts: TrustParts): Trust {
  const { mode, listed, listedHosts, own } = options
  const state: State = {
    options,
    parts,
    file: rememberSigners('signers-file', parts.file, parts),
    list: openPinnedList('pins', { mode, listed }, parts),
    trustedHosts: openTrustedHosts(
      { listed: listedHosts, own },
      { ...parts, file: parts.hostsFile },
    ),
    proven: new Map(),
    asking: new Map(),
    hosts: new Set(),
    closing: new AbortController(),
    reported: null,
    peers: [],
    siblings: [],
    areAllPeers: false,
    node: null,
  }
  const { list, file, trustedHosts } = state
  list.setFile(file?.values() ?? [])
  if (mode === 'anyone') parts.log.warn(anyoneFailure.message)
  update(state)
  return {
    mode,
    sources: list.sources,
    hosts: trustedHosts.sources,
    onHosts: trustedHosts.onChange,
    identityOf: (peer) => (state.siblings.includes(peer) ? null : (state.proven.get(peer) ?? null)),
    failures: () => {
      const { peers, proven } = state
      const failures = trustFailures({ mode, list, peers, proven, file })
      return [...failures, ...trustedHosts.failures()]
    },
    onFile: () => {
      list.setFile(file?.values() ?? [])
      file?.save()
      update(state)
    },
    onHostsFile: trustedHosts.onFile,
    setBootstrapPeers: (addresses, areAll) => setBootstrapPeers(state, addresses, areAll),
    setSiblings: (addresses, areAll) => setSiblings(state, addresses, areAll),
    follow: (p2p) => follow(state, p2p),
    close: () => state.closing.abort(),
  }
}

/** How many bootstrap peers may still prove to be Generators: no end while the list of them is not known. */
function countAwaited({ options, areAllPeers, list, peers, hosts }: State): number {
  if (options.mode !== 'bootstrap') return 0
  if (!areAllPeers) return Number.POSITIVE_INFINITY
  const pins = list.pins()
  return peers.filter((peer) => !hosts.has(peer) && pins[peer] === undefined).length
}

/** Reports the list to the writer and the readers where it changed. */
function update(state: State): void {
  const { mode } = state.options
  const { log, writer, reader, onFatal } = state.parts
  const identities = state.list.sources().map(({ identity }) => identity)
  const awaited = countAwaited(state)
  const text = identities.join()
  const before = state.reported
  if (text === before?.text && awaited === before.awaited) return
  state.reported = { text, awaited }
  reader.showSealsOf(mode === 'anyone' ? null : new Set(identities))
  const accepted =
    mode === 'anyone'
      ? ({ kind: mode } as const)
      : ({ kind: 'listed', identities, awaited } as const)
  writer.setAccepted(accepted).catch(onFatal)
  if (text !== before?.text)
    log.info({ trust: mode, signers: identities.length }, 'accepted signers')
}

function onProof(state: State, peer: string, { role, identity: found }: PeerIdentity): void {
  const { list, hosts, proven, options, parts } = state
  const { log } = parts
  proven.set(peer, { role, identity: found })
  if (state.siblings.includes(peer)) {
    if (role === 'host') state.trustedHosts.proveSibling(peer, found)
    else log.warn({ peer, identity: found }, 'sibling proves to be a Generator, and is no signer')
    return
  }
  if (role !== 'generator') {
    hosts.add(peer)
    state.trustedHosts.prove(peer, found)
    update(state)
    return
  }
  const isAccepted = list.sources().some(({ identity }) => identity === found)
  if (options.mode === 'signers' && !isAccepted)
    log.warn({ peer, identity: found }, 'bootstrap peer is a Generator that is not accepted')
  if (options.mode !== 'bootstrap') return
  if (list.prove(peer, found)) {
    log.info({ peer, signer: found }, 'bootstrap peer proved a Generator’s identity')
    update(state)
  }
  for (const { pinned } of list.changed().filter((change) => change.peer === peer))
    log.error({ peer, pinned, found }, 'bootstrap peer proves another identity')
}

function setBootstrapPeers(state: State, addresses: readonly string[], areAll: boolean): void {
  const { list, proven, trustedHosts } = state
  state.peers = addresses.map(peerAtEnd)
  state.areAllPeers = areAll
  if (areAll) {
    trustedHosts.keepPeers(state.peers)
    list.keepPeers(state.peers)
  }
  for (const peer of state.peers) {
    const found = proven.get(peer)
    if (found !== undefined) onProof(state, peer, found)
  }
  update(state)
  if (state.node !== null) askAll(state, state.node)
}

function setSiblings(state: State, addresses: readonly string[], areAll: boolean): void {
  const { proven, trustedHosts } = state
  const before = new Set(state.siblings)
  state.siblings = addresses.map(peerAtEnd)
  if (areAll) trustedHosts.keepSiblings(state.siblings)
  for (const peer of state.siblings) {
    const found = before.has(peer) ? undefined : proven.get(peer)
    if (found !== undefined) onProof(state, peer, found)
  }
  if (state.node !== null) askAll(state, state.node)
}

function isAsked({ peers, siblings }: Pick<State, 'peers' | 'siblings'>, peer: string): boolean {
  return peers.includes(peer) || siblings.includes(peer)
}

function follow(state: State, p2p: AskedNode): void {
  const { proven, asking, closing } = state
  state.node = p2p
  const stop = p2p.onPeer(({ type, peer }) => {
    if (type === 'disconnected') {
      proven.delete(peer)
      asking.get(peer)?.abort()
      asking.delete(peer)
    }
    if (type === 'connected') askAll(state, p2p)
  })
  closing.signal.addEventListener('abort', stop)
  askAll(state, p2p)
}

/** Asks every connected bootstrap peer and sibling that has not proved anything. */
function askAll(state: State, p2p: AskedNode): void {
  const { proven, asking, closing, parts } = state
  const peers = p2p.peers().filter(({ id }) => isAsked(state, id) && !asking.has(id))
  for (const { id } of peers.filter((peer) => !proven.has(peer.id))) {
    const disconnected = new AbortController()
    asking.set(id, disconnected)
    const signal = AbortSignal.any([closing.signal, disconnected.signal])
    askUntilProven(id, state, p2p, signal)
      .then((found) => found !== null && onProof(state, id, found))
      .finally(() => {
        if (asking.get(id) === disconnected) asking.delete(id)
      })
      .catch(parts.onFatal)
  }
}

/** Asks a peer as long as it is connected; null when it disconnected, or proves something else. */
async function askUntilProven(
  peer: string,
  state: Pick<State, 'options' | 'peers' | 'siblings'>,
  p2p: AskedNode,
  signal: AbortSignal,
): Promise<PeerIdentity | null> {
  const { network } = state.options
  const isWanted = (): boolean => isAsked(state, peer) && p2p.peers().some(({ id }) => id === peer)
  for (let failures = 1; isWanted(); failures += 1) {
    try {
      const answer = await p2p.request(peer, 'identity', new Uint8Array(), signal)
      const found = provenIdentity(answer, { network, peer })
      if (found === null) p2p.penalise(peer, 'a proof of identity that does not fit')
      return found
    } catch (error) {
      if (signal.aborted) return null
      if (!(error instanceof ServiceError)) throw error
    }
    const waitMs = backoffMs(retry, failures, Math.random())
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
  return null
}
