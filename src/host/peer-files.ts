/** Peers and own addresses that come from files, read again whenever the files change. */
import type { Logger } from 'pino'
import type { P2p } from '../p2p/p2p.ts'
import { type LineFile, openLineFile } from '../service/line-file.ts'
import { anyMultiaddr, peerMultiaddr } from '../service/multiaddr-kinds.ts'
import type { HostSettings } from './config.ts'

export interface PeerFiles {
  /** Configured peers and those of the file. */
  bootstrapPeers(): readonly string[]
  announce(): readonly string[]
  /** From now on changes reach this node. */
  follow(p2p: Pick<P2p, 'setBootstrapPeers' | 'setAnnounce'>): void
  close(): void
}

/** Reads the files that the settings name. */
export async function openPeerFiles(settings: HostSettings, log: Logger): Promise<PeerFiles> {
  let node: Pick<P2p, 'setBootstrapPeers' | 'setAnnounce'> | null = null
  const open = async (
    path: string | null,
    setting: string,
    kind: typeof peerMultiaddr,
    apply: () => void,
  ): Promise<LineFile<string> | null> => {
    if (path === null) return null
    const onChange = (): void => {
      try {
        apply()
      } catch (error) {
        log.warn({ err: error, setting, path }, 'addresses of a file not taken over')
      }
    }
    return await openLineFile({ path, setting, kind }, { log, onChange })
  }
  const peerFile = await open(
    settings.bootstrapPeersFile,
    'BOOTSTRAP_PEERS_FILE',
    peerMultiaddr,
    () => node?.setBootstrapPeers(bootstrapPeers()),
  )
  const announceFile = await open(settings.p2pAnnounceFile, 'P2P_ANNOUNCE_FILE', anyMultiaddr, () =>
    node?.setAnnounce(announce()),
  )
  const bootstrapPeers = (): string[] => merged(settings.bootstrapPeers, peerFile)
  const announce = (): string[] => merged(settings.p2pAnnounce, announceFile)
  return {
    bootstrapPeers,
    announce,
    follow: (p2p) => {
      node = p2p
    },
    close: () => {
      peerFile?.close()
      announceFile?.close()
    },
  }
}

function merged(configured: readonly string[], file: LineFile<string> | null): string[] {
  return [...new Set([...configured, ...(file?.values() ?? [])])]
}
