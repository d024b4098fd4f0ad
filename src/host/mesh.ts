/**
 * The Host's side of the mesh: the node, what arrives by gossip, what has to be pulled, and what is
 * served to others. Blocks pass through here to the writer as bytes.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { DigestSigner } from '../identity/signature.ts'
import { createBlockSource } from '../mesh/block-source.ts'
import { proveIdentity } from '../mesh/identity-proof.ts'
import { createRowVoteResponder } from '../mesh/row-vote-responder.ts'
import { createVoteResponder } from '../mesh/vote-responder.ts'
import { openP2p, type P2p } from '../p2p/p2p.ts'
import { peerIdOf } from '../p2p/peers/peer-id.ts'
import type { RequestHandlers } from '../p2p/streams/requests.ts'
import { peerAtEnd } from '../service/settings/peer-at-end.ts'
import { openPeerFiles, type PeerFiles } from '../service/settings/peer-files.ts'
import type { StoreReader } from '../store/store.ts'
import type { FollowState, Stored } from './apply/outcome.ts'
import { storedHeads } from './apply/signer-heads.ts'
import type { Writer } from './apply/writer.ts'
import type { HostSettings } from './config.ts'
import type { Followers } from './follow/followers.ts'
import type { HostMetrics } from './metrics.ts'
import { storedHead } from './stored-range.ts'
import { createIntake, type Intake } from './sync/intake.ts'
import { openSync } from './sync/sync.ts'
import { openVoteSync } from './sync/vote-sync.ts'
import { voteWindow } from './sync/vote-window.ts'
import type { Trust } from './trust/trust.ts'

interface MeshOptions {
  readonly settings: HostSettings
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** See `P2pOptions`. */
  readonly peerSeed: Uint8Array
  /** See `VoteSyncOptions`. */
  readonly compareVotesMs?: number
  /** See `SyncOptions`. */
  readonly uselessMs?: number
}

interface MeshParts {
  readonly log: Logger
  readonly registry: Registry
  readonly metrics: HostMetrics
  /** Hears where this Host stands among its signers. */
  readonly onFollow: (state: FollowState) => void
  /** Blocks were stored. */
  readonly onStored: () => void
  readonly writer: Writer
  readonly reader: StoreReader
  readonly trust: Trust
  /** This Host's own key. */
  readonly signer: DigestSigner
  /** Serves applications that follow Views; without it there are none. */
  readonly followers?: Followers
  /** Notifies subscribers of a new block. */
  readonly notify: (height: number) => void
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface HostMesh {
  readonly p2p: P2p
  /** Peer IDs of the other replicas of this Host, its own perhaps among them. */
  siblings(): ReadonlySet<string>
  close(): Promise<void>
}

/** Connects to the mesh and begins to catch up. */
export async function openHostMesh(options: MeshOptions, parts: MeshParts): Promise<HostMesh> {
  const { trust } = parts
  const files = await openPeerFiles(options.settings, parts.log)
  const intake = createIntake(parts)
  const p2p = await openNode(options, parts, files, intake)
  const connect = (): void => p2p.setBootstrapPeers(peersOf(files))
  const updateTrust = (): void => {
    trust.setSiblings(files.siblings(), files.areSiblingsWhole())
    trust.setBootstrapPeers(files.bootstrapPeers(), files.isWhole())
  }
  updateTrust()
  trust.follow(p2p)
  files.follow({
    setAnnounce: p2p.setAnnounce,
    setBootstrapPeers: () => {
      connect()
      updateTrust()
    },
    setSiblings: () => {
      connect()
      updateTrust()
    },
  })
  const following = follow(p2p, intake, options, parts)
  return {
    p2p,
    siblings: () => new Set(files.siblings().map(peerAtEnd)),
    close: async () => {
      files.close()
      await parts.followers?.close()
      await following.close()
      await p2p.close()
    },
  }
}

/** Everybody to stay connected with. */
function peersOf(files: PeerFiles): string[] {
  return [...files.bootstrapPeers(), ...files.siblings()]
}

/** Pulls what the writer wants, and compares votes. */
function follow(
  p2p: P2p,
  intake: Intake,
  { settings, compareVotesMs: everyMs, uselessMs }: MeshOptions,
  parts: MeshParts,
): { close(): Promise<void> } {
  const { writer, trust, reader } = parts
  let state: FollowState | null = null
  const votes = openVoteSync(everyMs === undefined ? {} : { everyMs }, {
    ...parts,
    p2p,
    reader,
    signers: () => state?.signers.map(({ identity }) => identity) ?? [],
    isAnyone: trust.mode === 'anyone',
    hosts: () => trust.hosts().map(({ identity }) => identity),
    window: () => voteWindow(state, storedHead(reader)),
  })
  const sync = openSync(uselessMs === undefined ? {} : { uselessMs }, {
    ...parts,
    p2p,
    take: intake.take,
    signerOf: (peer) => generatorOf(trust, peer),
    headOf: (signer) =>
      state?.signers.find(({ identity }) => identity === signer)?.head?.number ?? null,
    wants: () => writer.wants(),
    onServedFrom: (servedFrom) => {
      parts.followers?.setChain({ servedFrom })
      writer.setServedFrom(servedFrom).catch(parts.onFatal)
    },
    onCaughtUp: votes.wake,
  })
  trust.onHosts(votes.wake)
  writer.onState((next) => {
    const known = new Set(state?.signers.map(({ identity }) => identity))
    const isNewcomer = next.signers.some(({ identity }) => !known.has(identity))
    state = next
    parts.onFollow(next)
    parts.followers?.setChain({ genesis: next.genesis, floor: next.floor })
    sync.setWants(next.wants)
    if (isNewcomer) votes.start()
  })
  writer.onStored((stored) => reportStored(stored, settings, parts))
  return {
    close: async () => {
      await Promise.all([votes.close(), sync.close()])
    },
  }
}

function generatorOf(trust: Trust, peer: string): string | null {
  const found = trust.identityOf(peer)
  return found?.role === 'generator' ? found.identity : null
}

async function openNode(
  { settings, network, peerSeed }: MeshOptions,
  { log, registry, reader, signer, followers }: MeshParts,
  files: PeerFiles,
  { onBlock, onHead }: Intake,
): Promise<P2p> {
  const peerId = await peerIdOf(peerSeed)
  const proof = proveIdentity(signer, { network, role: 'host', peerId })
  const channels = followers?.channels(proof) ?? {}
  const handlers: RequestHandlers = {
    identity: () => proof,
    votes: createVoteResponder({ reader, heads: (identities) => storedHeads(reader, identities) }),
    'row-votes': createRowVoteResponder({ reader }),
  }
  try {
    return await openP2p(
      {
        peerSeed,
        network,
        listen: [settings.p2pListen],
        announce: files.announce(),
        bootstrapPeers: peersOf(files),
      },
      { log, registry, source: createBlockSource(reader), onBlock, onHead, handlers, channels },
    )
  } catch (error) {
    files.close()
    throw error
  }
}

function reportStored(
  stored: Stored,
  { logBlocks }: HostSettings,
  { log, metrics, onStored, notify }: MeshParts,
): void {
  const { bottom, top, removed, taken } = stored
  metrics.stored(stored)
  onStored()
  const { blocks, transactions, logs } = taken
  const facts = { height: top, blocks, transactions, logs }
  log[logBlocks && blocks === 1 ? 'info' : 'debug'](facts, 'block stored')
  if (removed > 0) log.info({ height: top, removed, added: blocks }, 'reorganisation followed')
  for (let height = bottom; height <= top; height++) notify(height)
}
