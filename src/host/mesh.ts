/**
 * The Host's side of the mesh: the node, what arrives by gossip, what has to be pulled, and what is
 * served to others. Blocks pass through here as bytes on their way to the writer.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { openP2p, type P2p } from '../p2p/p2p.ts'
import type { OnMessage } from '../p2p/peers/verdict.ts'
import { type BlockSource, firstHeights } from '../p2p/range/range-server.ts'
import { openPeerFiles, type PeerFiles } from '../service/peer-files.ts'
import { createSealedBlocks } from '../store/sealed-blocks.ts'
import type { StoreReader } from '../store/store.ts'
import { createBranchPull } from './branch-pull.ts'
import type { HostSettings } from './config.ts'
import { createGossipJudge } from './gossip-judge.ts'
import { createIntake } from './intake.ts'
import type { HostMetrics } from './metrics.ts'
import type { Applier, Outcome } from './outcome.ts'
import type { Status } from './status.ts'
import { openSync, type Sync } from './sync.ts'

export interface MeshOptions {
  readonly settings: HostSettings
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly retainBlocks: number | null
  /** See `P2pOptions`. */
  readonly peerSeed: Uint8Array
}

export interface MeshParts {
  readonly log: Logger
  readonly registry: Registry
  readonly metrics: HostMetrics
  readonly status: Status
  readonly writer: Applier
  readonly reader: StoreReader
  /** Tells subscribers of a new block. */
  readonly notify: (height: number) => void
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface Mesh {
  readonly p2p: P2p
  close(): Promise<void>
}

/** Blocks that are asked of a peer at a time. */
const pieceBlocks = 64
/** Twelve slots without a block: long enough to believe that nobody continues the stored chain. */
const jumpAfterMs = 60_000

/** Connects to the mesh and begins to catch up. */
export async function openMesh(options: MeshOptions, parts: MeshParts): Promise<Mesh> {
  const { log, status } = parts
  const closing = new AbortController()
  const files = await openPeerFiles(options.settings, log)
  const take = createIntake({
    log,
    metrics: parts.metrics,
    apply: (bytes, mayFloat) => parts.writer.receive(bytes, mayFloat),
    onStored: (outcome) => tellStored(outcome, parts),
    onTooDeep: (height) => tellTooDeep(height, parts),
  })
  const completeBranch = createBranchPull({
    take,
    pull: (peer, from, to, signal) => p2p.pull(peer, from, to, signal),
  })
  const onBlock = createGossipJudge({
    take,
    completeBranch,
    signal: closing.signal,
    onFatal: parts.onFatal,
    onAhead: (peer, height) => p2p.judge(peer, { action: 'accept', height }),
  })
  const p2p = await openNode(options, parts, files, onBlock)
  status.parts.p2p = p2p
  files.follow(p2p)
  const sync: Sync = openSync(
    { retainBlocks: options.retainBlocks, pieceBlocks, jumpAfterMs },
    {
      log,
      metrics: parts.metrics,
      p2p,
      stored: status.stored,
      headSinceMs: status.headSinceMs,
      take,
      completeBranch,
      onFatal: parts.onFatal,
    },
  )
  return {
    p2p,
    close: async () => {
      closing.abort()
      files.close()
      await sync.close()
      status.parts.p2p = null
      await p2p.close()
    },
  }
}

async function openNode(
  { settings, network, peerSeed }: MeshOptions,
  { log, registry, reader }: MeshParts,
  files: PeerFiles,
  onBlock: OnMessage,
): Promise<P2p> {
  try {
    return await openP2p(
      {
        peerSeed,
        network,
        listen: [settings.p2pListen],
        announce: files.announce(),
        bootstrapPeers: files.bootstrapPeers(),
      },
      { log, registry, source: blockSource(reader), onBlock, answers: silent },
    )
  } catch (error) {
    files.close()
    throw error
  }
}

const silent = { identity: () => null, votes: () => null }

function blockSource(reader: StoreReader): BlockSource {
  return {
    range: () => reader.read((snapshot) => snapshot.range()),
    heights: (from, to, limit) =>
      reader.read((snapshot) => firstHeights(snapshot.heights(from, to, false), limit)),
    sealedBlock: createSealedBlocks(reader).sealedBlock,
  }
}

function tellStored(
  { bottom, top }: Extract<Outcome, { kind: 'stored' }>,
  { status, notify }: MeshParts,
): void {
  status.onStored()
  for (let height = bottom; height <= top; height++) notify(height)
}

/** Somebody has to decide which chain is the right one. */
function tellTooDeep(height: number, { log, status }: MeshParts): void {
  if (status.state().errors[0]?.code === 'HOST_FORK_TOO_DEEP') return
  const message =
    'peers are on a branch that leaves the stored one more than 64 blocks below its end'
  const remedy =
    'If theirs is the right chain, stop the Host and start it with an empty DB_STORE_PATH; else name other BOOTSTRAP_PEERS.'
  log.error({ height, code: 'HOST_FORK_TOO_DEEP', remedy }, message)
  status.setFork({ code: 'HOST_FORK_TOO_DEEP', message: `${message}. ${remedy}` })
}
