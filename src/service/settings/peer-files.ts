/**
 * Peers and announced addresses: those configured, and those of files, reloaded whenever they change. Siblings, the
 * other replicas of a Host, are named apart: it stays connected with them too, and accepts them as no signers.
 */
import type { Logger } from 'pino'
import { environment } from '../contract.ts'
import type { CommonSettings } from './common-settings.ts'
import { type LineFile, openLineFile } from './line-file.ts'
import { anyMultiaddr, peerMultiaddr } from './multiaddr-kinds.ts'
import { peerAtEnd } from './peer-at-end.ts'

/** The part of a node that accepts new addresses. */
interface AddressTaker {
  setBootstrapPeers(addresses: string[]): void
  setAnnounce(addresses: string[]): void
  setSiblings?(addresses: string[]): void
}

export interface PeerFiles {
  /** Configured peers and those of the file. */
  bootstrapPeers(): string[]
  /** Those of the file of siblings, without those that are bootstrap peers as well. */
  siblings(): string[]
  announce(): string[]
  /** Whether the file of peers is valid, so that a peer that is not in it was removed. */
  isWhole(): boolean
  /** Whether the file of siblings can be read, or there is none to read. */
  areSiblingsWhole(): boolean
  /** Applies changes to this node from now on. */
  follow(node: AddressTaker): void
  close(): void
}

/** The settings that name addresses and files of them. */
type PeerSettings = Pick<
  CommonSettings,
  'bootstrapPeers' | 'bootstrapPeersFile' | 'p2pAnnounce' | 'p2pAnnounceFile'
> & { readonly siblingsFile?: string | null }

/** Reads the files that the settings name. Addresses that a node refuses later are logged. */
export async function openPeerFiles(settings: PeerSettings, log: Logger): Promise<PeerFiles> {
  let node: AddressTaker | null = null
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
  const siblingsFile = await open(
    settings.siblingsFile ?? null,
    environment.siblingsFile,
    peerMultiaddr,
    () => node?.setSiblings?.(siblings()),
  )
  const bootstrapPeers = (): string[] => merged(settings.bootstrapPeers, peerFile)
  const announce = (): string[] => merged(settings.p2pAnnounce, announceFile)
  const siblings = (): string[] => {
    const others = new Set(bootstrapPeers().map(peerAtEnd))
    return merged([], siblingsFile).filter((address) => !others.has(peerAtEnd(address)))
  }
  return {
    bootstrapPeers,
    siblings,
    announce,
    isWhole: () => peerFile === null || peerFile.problem() === null,
    areSiblingsWhole: () => siblingsFile === null || siblingsFile.problem() === null,
    follow: (taker) => {
      node = taker
    },
    close: () => {
      peerFile?.close()
      siblingsFile?.close()
      announceFile?.close()
    },
  }
}

function merged(configured: readonly string[], file: LineFile<string> | null): string[] {
  return [...new Set([...configured, ...(file?.values() ?? [])])]
}
