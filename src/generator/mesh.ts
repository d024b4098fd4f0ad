/**
 * The Generator among its peers: proves its identity, serves its seals and its newest head, gossips heads
 * and blocks, and searches for newer heads of its own.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { DigestSigner } from '../identity/signature.ts'
import { createBlockSource } from '../mesh/block-source.ts'
import { proveIdentity } from '../mesh/identity-proof.ts'
import { createVoteResponder } from '../mesh/vote-responder.ts'
import { openP2p, type P2p } from '../p2p/p2p.ts'
import { peerIdOf } from '../p2p/peers/peer-id.ts'
import type { RequestHandlers } from '../p2p/streams/requests.ts'
import type { Head } from '../primitives/head.ts'
import type { Running } from '../service/run.ts'
import { openPeerFiles } from '../service/settings/peer-files.ts'
import type { StoreReader } from '../store/store.ts'
import type { GeneratorSettings } from './config.ts'
import { createNewestHead } from './head/newest-head.ts'
import { openOwnHeadSearch } from './head/own-head-search.ts'
import type { HeadMessage } from './head/stored-head.ts'
import type { HeadTiming } from './head/timing.ts'
import { createPublisher } from './publisher.ts'

interface GeneratorMeshOptions {
  readonly settings: GeneratorSettings
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly peerSeed: Uint8Array
  readonly timing: HeadTiming
}

interface GeneratorMeshParts {
  readonly running: Pick<Running, 'own'>
  readonly signer: DigestSigner
  readonly reader: StoreReader
  /** Height of the execution node's head; null before it is known. */
  readonly sourceHead: () => number | null
  /** A peer has a head of ours that is newer. */
  readonly onFoundHead: (head: Head) => void
  readonly log: Logger
  readonly registry: Registry
}

interface GeneratorMesh {
  readonly p2p: P2p
  /** A block and its seal are on the disk. */
  addBlock(height: number): void
  /** A head was signed and is on the disk. */
  addHead(head: HeadMessage): void
}

/** Connects to peers. Each part that is open is owned by `running`. */
export async function openMesh(
  options: GeneratorMeshOptions,
  parts: GeneratorMeshParts,
): Promise<GeneratorMesh> {
  const { settings, network, timing } = options
  const { running, signer, reader, sourceHead, log, registry } = parts
  const { identity } = signer
  const blocks = createBlockSource(reader)
  const newest = createNewestHead(identity, timing)
  const peerId = await peerIdOf(options.peerSeed)
  const proof = proveIdentity(signer, { network, role: 'generator', peerId })
  const handlers: RequestHandlers = {
    identity: () => proof,
    votes: createVoteResponder({ reader, heads: newest.among }),
  }
  const files = running.own('peer files', await openPeerFiles(settings, log))
  const p2p = running.own(
    'p2p',
    await openP2p(
      {
        peerSeed: options.peerSeed,
        network,
        listen: [settings.p2pListen],
        announce: files.announce(),
        bootstrapPeers: files.bootstrapPeers(),
      },
      { log, registry, source: blocks, handlers },
    ),
  )
  files.follow(p2p)
  const publisher = running.own(
    'publisher',
    createPublisher({ p2p, blocks, sourceHead, log, registry }),
  )
  const search = running.own(
    'search for own heads',
    openOwnHeadSearch(
      { network, identity, askPeersMs: timing.askPeersMs },
      { p2p, log, onFound: parts.onFoundHead },
    ),
  )
  return {
    p2p,
    addBlock: publisher.add,
    addHead(head) {
      newest.set(head.bytes)
      search.addOwn(head.sequence)
      publisher.addHead(head.bytes)
    },
  }
}
