/** Bootstrap peers and announced addresses: those configured, and those in files that may change. */
import type { Logger } from 'pino'
import type { P2p } from '../p2p/p2p.ts'
import { type LineFile, openLineFile } from '../service/line-file.ts'
import { anyMultiaddr, peerMultiaddr } from '../service/multiaddr-kinds.ts'
import type { GeneratorSettings } from './config.ts'

/** The part of a node that takes new addresses over. */
export type AddressTaker = Pick<P2p, 'setBootstrapPeers' | 'setAnnounce'>

export interface PeerFiles {
  bootstrapPeers(): string[]
  announce(): string[]
  /** Hands changes of the files to this node from now on. */
  follow(node: AddressTaker): void
  close(): void
}

/** Reads the files that the settings name. */
export async function openPeerFiles(
  settings: Pick<
    GeneratorSettings,
    'bootstrapPeers' | 'bootstrapPeersFile' | 'p2pAnnounce' | 'p2pAnnounceFile'
  >,
  log: Logger,
): Promise<PeerFiles> {
  let node: AddressTaker | null = null
  const files: LineFile<string>[] = []

  const open = async (
    file: {
      readonly path: string | null
      readonly setting: string
      readonly kind: typeof anyMultiaddr
    },
    configured: readonly string[],
    apply: (node: AddressTaker, addresses: string[]) => void,
  ): Promise<() => string[]> => {
    const { path, ...rest } = file
    if (path === null) return () => [...configured]
    const onChange = (): void => {
      if (node !== null) apply(node, addresses())
    }
    const lines = await openLineFile({ ...rest, path }, { log, onChange })
    const addresses = (): string[] => [...new Set([...configured, ...lines.values()])]
    files.push(lines)
    return addresses
  }

  const bootstrapPeers = await open(
    { path: settings.bootstrapPeersFile, setting: 'BOOTSTRAP_PEERS_FILE', kind: peerMultiaddr },
    settings.bootstrapPeers,
    (taker, addresses) => taker.setBootstrapPeers(addresses),
  )
  const announce = await open(
    { path: settings.p2pAnnounceFile, setting: 'P2P_ANNOUNCE_FILE', kind: anyMultiaddr },
    settings.p2pAnnounce,
    (taker, addresses) => taker.setAnnounce(addresses),
  )
  return {
    bootstrapPeers,
    announce,
    follow(taker) {
      node = taker
    },
    close() {
      for (const file of files) file.close()
    },
  }
}
