/**
 * Where the blocks come from, and the folder that belongs to them: our own node, resumed or new,
 * or a node the user gave. A Generator's data is only used with a node that still has its last
 * sealed block; otherwise that is said and a new folder begins.
 */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import { networkName } from '../primitives/names.ts'
import { makeDirectory } from '../store/make-directory.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { prepareState } from './anvil-state.ts'
import {
  chainFolderName,
  countChainFolders,
  newestOwnChain,
  nodeFolder,
  programFolder,
} from './chain-folder.ts'
import type { Children } from './children.ts'
import type { DevnetSettings } from './config.ts'
import { lastSealedBlock, type SealedBlock } from './last-sealed.ts'
import { callNode, type NodeAddress } from './rpc.ts'

export interface ChainSource {
  /** First and second part of the type names. */
  readonly chain: string
  readonly network: string
  readonly genesisHash: string
  /** Folder of this chain's data. */
  readonly folder: string
  readonly node: NodeAddress
  /** What the Generator is told of the node. */
  readonly rpcUrls: readonly string[]
  readonly wsUrl: string | null
  /** `GENERATOR_START_HEIGHT` unless the user says otherwise. */
  readonly startHeight: string
  /** False for a node the user gave. */
  readonly isOwn: boolean
}

export interface SourceParts {
  readonly children: Children
  readonly signal: AbortSignal
  readonly say: (text: string) => void
  readonly log: Logger
}

const nodeStopMs = 2_000

/** Opens the own chain, or the node that `NODE_RPC_URL` names. */
export async function openChainSource(
  settings: DevnetSettings,
  parts: SourceParts,
): Promise<ChainSource> {
  const [rpcUrl] = settings.rpcUrls
  return rpcUrl === undefined
    ? await openOwnChain(settings, parts)
    : await openGivenNode(settings, rpcUrl, parts)
}

async function openGivenNode(
  settings: DevnetSettings,
  rpcUrl: string,
  parts: SourceParts,
): Promise<ChainSource> {
  const { apiKey, apiKeyType } = settings
  const chain = settings.chainName ?? 'Ethereum'
  const network = settings.chainNetwork ?? 'Mainnet'
  const node = { rpcUrl, ...(apiKey !== null && { headers: { [apiKeyType]: apiKey } }) }
  const genesisHash = await readGenesisHash(node)
  const count = Math.max(1, countChainFolders(settings.path, genesisHash))
  let folder = join(settings.path, chainFolderName(genesisHash, count))
  const lost = await lostBlock(folder, networkName(chain, network), node, parts)
  if (lost !== null) {
    const next = join(settings.path, chainFolderName(genesisHash, count + 1))
    parts.say(`${lostText(folder, lost)} A new folder begins: ${next}`)
    folder = next
  }
  return {
    chain,
    network,
    rpcUrls: settings.rpcUrls,
    wsUrl: settings.wsUrl,
    startHeight: 'latest',
    genesisHash,
    folder,
    node,
    isOwn: false,
  }
}

async function openOwnChain(settings: DevnetSettings, parts: SourceParts): Promise<ChainSource> {
  const found = newestOwnChain(settings.path)
  if (found === null) return await beginOwnChain(settings, parts)
  if (!prepareState(nodeFolder(found))) {
    parts.say(
      `The chain that ${found} belongs to is gone or damaged (node/state.json). A new one begins.`,
    )
    return await beginOwnChain(settings, parts)
  }
  const anvil = await startAnvil({ port: settings.nodePort, directory: nodeFolder(found) }, parts)
  const { chain, network } = ownNames(settings)
  const lost = await lostBlock(found, networkName(chain, network), anvil.node, parts)
  if (lost === null) return ownChain(settings, anvil, found, await readGenesisHash(anvil.node))
  parts.say(`${lostText(found, lost)} A new chain begins.`)
  await anvil.child.stop(nodeStopMs)
  return await beginOwnChain(settings, parts)
}

/** The folder's name needs the genesis hash, so the first start happens in a folder without one. */
async function beginOwnChain(settings: DevnetSettings, parts: SourceParts): Promise<ChainSource> {
  const unnamed = join(settings.path, 'unnamed')
  rmSync(unnamed, { recursive: true, force: true })
  makeDirectory(nodeFolder(unnamed), 0o700)
  const first = await startAnvil({ port: settings.nodePort, directory: nodeFolder(unnamed) }, parts)
  const genesisHash = await readGenesisHash(first.node)
  await first.child.stop(nodeStopMs)
  const count = countChainFolders(settings.path, genesisHash)
  const folder = join(settings.path, chainFolderName(genesisHash, count + 1))
  renameSync(unnamed, folder)
  const anvil = await startAnvil({ port: settings.nodePort, directory: nodeFolder(folder) }, parts)
  return ownChain(settings, anvil, folder, genesisHash)
}

function ownChain(
  settings: DevnetSettings,
  anvil: Anvil,
  folder: string,
  genesisHash: string,
): ChainSource {
  return {
    ...ownNames(settings),
    rpcUrls: [anvil.node.rpcUrl],
    wsUrl: anvil.wsUrl,
    startHeight: '-200',
    genesisHash,
    folder,
    node: anvil.node,
    isOwn: true,
  }
}

function ownNames(settings: DevnetSettings): { chain: string; network: string } {
  return { chain: settings.chainName ?? 'Local', network: settings.chainNetwork ?? 'Devnet' }
}

/** The Generator's last sealed block if the node does not have it any more, on whatever branch. */
async function lostBlock(
  folder: string,
  network: string,
  node: NodeAddress,
  parts: SourceParts,
): Promise<SealedBlock | null> {
  const { storePath } = programFolder(folder, 'generator')
  const sealed = await lastSealedBlock({ storePath, network }, parts)
  if (sealed === null) return null
  const block = await callNode(node, { method: 'eth_getBlockByHash', params: [sealed.hash, false] })
  return block === null ? sealed : null
}

function lostText(folder: string, sealed: SealedBlock): string {
  return `The node does not have block ${sealed.number} (${sealed.hash}) any more, the last that the Generator in ${folder} sealed.`
}

async function readGenesisHash(node: NodeAddress): Promise<string> {
  const block = await callNode(node, { method: 'eth_getBlockByNumber', params: ['0x0', false] })
  const hash = typeof block === 'object' && block !== null && 'hash' in block ? block.hash : null
  if (typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash)) return hash
  throw new ServiceError('DEVNET_NODE_UNREACHABLE', 'the node has no block 0', {
    remedy: 'Give an Ethereum execution node in NODE_RPC_URL.',
  })
}
