/**
 * Keeps the list of accepted signers: asks bootstrap peers who they are, reads the file of signers when it
 * changes, remembers what was proven, and tells the writer and the readers whose word counts.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { P2p } from '../../p2p/p2p.ts'
import type { FailureReport, TrustMode } from '../../service/contract.ts'
import type { LineFile } from '../../service/line-file.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import { type AcceptedList, type AcceptedSource, createAcceptedList } from './accepted-list.ts'
import { type PeerIdentity, provenIdentity } from './peer-identity.ts'

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
  readonly file: Pick<LineFile<string>, 'values' | 'problem'> | null
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
  /** The bootstrap peers, now and whenever they change. */
  setBootstrapPeers(peers: readonly string[]): void
  /** Asks the bootstrap peers of this node who they are, from now on. */
  follow(p2p: AskedNode): void
  close(): void
}

/** The part of a node that tells who its peers are. */
export type AskedNode = Pick<P2p, 'ask' | 'peers' | 'onPeer' | 'penalise'>

const pinsRecord = 'pins'
const firstRetryMs = 1_000
const maxRetryMs = 60_000

/** Begins with what was proven before. */
export function openTrust(options: TrustOptions, parts: TrustParts): Trust {
  const { mode, listed } = options
  const { log, writer, reader, file } = parts
  const list = createAcceptedList({ mode, listed, pins: readPins(reader) })
  list.setFile(file?.values() ?? [])
  const proven = new Map<string, PeerIdentity>()
  const closing = new AbortController()
  const asking = new Set<string>()
  let told: string | null = null
  let node: AskedNode | null = null

  const update = (): void => {
    const identities = list.sources().map(({ identity }) => identity)
    const text = identities.join()
    if (text === told) return
    told = text
    reader.showSealsOf(mode === 'anyone' ? null : new Set(identities))
    const accepted =
      mode === 'anyone' ? ({ kind: mode } as const) : ({ kind: 'listed', identities } as const)
    writer.setAccepted(accepted).catch(parts.onFatal)
    log.info({ trust: mode, signers: identities.length }, 'accepted signers')
  }
  const savePins = (): void => {
    const value = Buffer.from(JSON.stringify(list.pins()))
    writer.putRecord(pinsRecord, new Uint8Array(value)).catch(parts.onFatal)
  }

  const onProof = (peer: string, found: PeerIdentity): void => {
    proven.set(peer, found)
    if (found.role !== 'generator' || mode !== 'bootstrap') return
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
      asking.add(id)
      askUntilProven(id, options.network, p2p, closing.signal)
        .then((found) => found !== null && onProof(id, found))
        .finally(() => asking.delete(id))
        .catch(parts.onFatal)
    }
  }

  if (mode === 'anyone') log.warn(anyoneFailure.message)
  update()
  return {
    mode,
    sources: list.sources,
    identityOf: (peer) => proven.get(peer) ?? null,
    failures: () => failuresOf(mode, list, file),
    onFile: () => {
      list.setFile(file?.values() ?? [])
      update()
    },
    setBootstrapPeers: (addresses) => {
      const peers = addresses.map(peerOf)
      if (list.keepPeers(peers)) savePins()
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
        if (type === 'disconnected') proven.delete(peer)
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

function readPins(reader: StoreReader): Readonly<Record<string, string>> {
  const bytes = reader.read((snapshot) => snapshot.record(pinsRecord))
  return bytes === undefined ? {} : (JSON.parse(bytes.toString()) as Record<string, string>)
}

/** The peer ID at the end of an address. */
function peerOf(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1)
}

const anyoneFailure: FailureReport = {
  code: 'HOST_TRUSTS_ANYONE',
  message: 'HOST_TRUST is anyone: whoever signs a block decides what is stored and served.',
  remedy:
    'Leave HOST_TRUST out, or name signers in HOST_TRUSTED_SIGNERS; anyone is for experiments.',
}

function failuresOf(
  mode: TrustMode,
  list: AcceptedList,
  file: TrustParts['file'],
): readonly FailureReport[] {
  if (mode === 'anyone') return [anyoneFailure]
  const problem = file?.problem() ?? null
  return [
    ...(list.sources().length === 0 ? [noSignerFailure(mode)] : []),
    ...list.changed().map(changedFailure),
    ...(problem === null ? [] : [fileFailure(problem)]),
  ]
}

function noSignerFailure(mode: TrustMode): FailureReport {
  return {
    code: 'HOST_NO_SIGNER',
    message: `No signer is accepted, so no block is stored${mode === 'bootstrap' ? ': no bootstrap peer has proved to be a Generator yet' : ''}.`,
    remedy:
      'Name a Generator in BOOTSTRAP_PEERS, or the identities of Generators (identity in their /health) in HOST_TRUSTED_SIGNERS; behind another Host only the latter works.',
  }
}

function changedFailure({ peer, pinned, found }: AcceptedListChange): FailureReport {
  return {
    code: 'HOST_SIGNER_CHANGED',
    message: `The bootstrap peer ${peer} proves the identity ${found}; accepted of it is ${pinned}, and stays so.`,
    remedy:
      'Where that Generator was given a new key on purpose, take the peer off BOOTSTRAP_PEERS, let the Host see that, and name it again; else find out who has its keyring secret.',
  }
}

type AcceptedListChange = ReturnType<AcceptedList['changed']>[number]

function fileFailure(problem: string): FailureReport {
  return {
    code: 'HOST_SIGNERS_FILE_UNUSABLE',
    message: `HOST_TRUSTED_SIGNERS_FILE cannot be used (${problem}); the last good list stays.`,
    remedy: 'Write one identity a line; a file is taken over as a whole or not at all.',
  }
}
