/**
 * Where the blocks come from, and the folder that belongs to them: our own node, resumed or new,
 * or a node the user gave. A Generator's data is only used under the names of the chain that it was made for, and with a
 * node that still has its last sealed block; otherwise that is said and a new folder begins.
 */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import { networkName } from '../primitives/names.ts'
import { makeDirectory } from '../store/disk/make-directory.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { prepareState } from './anvil-state.ts'
import {
  chainFolders,
  localChains,
  nextChainFolder,
  nodeFolder,
  prepareRoot,
  programFolder,
} from './chain-folder.ts'
import type { Children } from './children.ts'
import type { DevnetSettings } from './config.ts'
import { type LastSealed, lastSealedBlock } from './last-sealed.ts'
import { callNode, type RpcAddress } from './rpc.ts'

export interface ChainSource {
  /** First and second part of the type names. */
  readonly chain: string
  readonly network: string
  readonly genesisHash: string
  /** Folder of this chain's data. */
  readonly folder: string
  readonly node: RpcAddress
  /** The URLs of the node that the Generator is configured with. */
  readonly rpcUrls: readonly string[]
  readonly wsUrl: string | null
  /** `GENERATOR_START_HEIGHT` unless the user says otherwise. */
  readonly startHeight: string
  /** False for a node the user gave. */
  readonly isLocal: boolean
}

interface SourceParts {
  readonly children: Children
  readonly signal: AbortSignal
  readonly say: (text: string) => void
  readonly log: Logger
}

const nodeStopMs = 2_000

/** Opens the local chain, or the node that `NODE_RPC_URL` names, in a directory that is made where it is missing. */
export async function openChainSource(
  settings: DevnetSettings,
  parts: SourceParts,
): Promise<ChainSource> {
  prepareRoot(settings.path)
  const [rpcUrl] = settings.rpcUrls
  return rpcUrl === undefined
    ? await openLocalChain(settings, parts)
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
  const folders = chainFolders(settings.path, genesisHash)
  const kept = await keptChain(folders, networkName(chain, network), parts)
  const reason = kept === null ? null : await reasonAgainst(kept, node)
  const isKept = kept !== null && reason === null
  const folder = isKept ? kept.folder : nextChainFolder(settings.path, genesisHash)
  if (!isKept && folders.length > 0)
    parts.say(
      `${reason ?? otherNames(settings.path, chain, network)} A new folder begins: ${folder}`,
    )
  return {
    chain,
    network,
    rpcUrls: settings.rpcUrls,
    wsUrl: settings.wsUrl,
    startHeight: 'latest',
    genesisHash,
    folder,
    node,
    isLocal: false,
  }
}

async function openLocalChain(settings: DevnetSettings, parts: SourceParts): Promise<ChainSource> {
  const { chain, network } = localNames(settings)
  const folders = localChains(settings.path)
  const kept = await keptChain(folders, networkName(chain, network), parts)
  if (kept === null) {
    if (folders.length > 0)
      parts.say(`${otherNames(settings.path, chain, network)} A new chain begins.`)
    return await createLocalChain(settings, parts)
  }
  const { folder } = kept
  if (!prepareState(nodeFolder(folder))) {
    parts.say(
      `The chain that ${folder} belongs to is gone or damaged (node/state.json). A new one begins.`,
    )
    return await createLocalChain(settings, parts)
  }
  const anvil = await startAnvil({ port: settings.nodePort, directory: nodeFolder(folder) }, parts)
  const reason = await reasonAgainst(kept, anvil.node)
  if (reason === null) return localChain(settings, anvil, folder, await readGenesisHash(anvil.node))
  parts.say(`${reason} A new chain begins.`)
  await anvil.child.stop(nodeStopMs)
  return await createLocalChain(settings, parts)
}

/** The folder's name needs the genesis hash, so the first start happens in a folder without one. */
async function createLocalChain(
  settings: DevnetSettings,
  parts: SourceParts,
): Promise<ChainSource> {
  const unnamed = join(settings.path, 'unnamed')
  rmSync(unnamed, { recursive: true, force: true })
  makeDirectory(nodeFolder(unnamed), 0o700)
  const first = await startAnvil({ port: settings.nodePort, directory: nodeFolder(unnamed) }, parts)
  const genesisHash = await readGenesisHash(first.node)
  await first.child.stop(nodeStopMs)
  const folder = nextChainFolder(settings.path, genesisHash)
  renameSync(unnamed, folder)
  const anvil = await startAnvil({ port: settings.nodePort, directory: nodeFolder(folder) }, parts)
  return localChain(settings, anvil, folder, genesisHash)
}

function localChain(
  settings: DevnetSettings,
  anvil: Anvil,
  folder: string,
  genesisHash: string,
): ChainSource {
  return {
    ...localNames(settings),
    rpcUrls: [anvil.node.rpcUrl],
    wsUrl: anvil.wsUrl,
    startHeight: '-200',
    genesisHash,
    folder,
    node: anvil.node,
    isLocal: true,
  }
}

function localNames(settings: DevnetSettings): { chain: string; network: string } {
  return { chain: settings.chainName ?? 'Local', network: settings.chainNetwork ?? 'Devnet' }
}

/** A folder whose Generator seals under the names of now, and its last sealed block; null before the first. */
interface KeptChain {
  readonly folder: string
  readonly sealed: LastSealed | null
}

/** The first of these folders that is for this network; null without one. */
async function keptChain(
  folders: readonly string[],
  network: string,
  parts: SourceParts,
): Promise<KeptChain | null> {
  for (const folder of folders) {
    const { storePath } = programFolder(folder, 'generator')
    try {
      return { folder, sealed: await lastSealedBlock({ storePath, network }, parts) }
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'STORE_FOREIGN') throw error
    }
  }
  return null
}

function otherNames(path: string, chain: string, network: string): string {
  return `What ${path} holds is not for ${networkName(chain, network)}, as CHAIN_NAME and CHAIN_NETWORK say.`
}

/** Why the Generator of a folder cannot go on, where the node no longer has its last sealed block on any branch. */
async function reasonAgainst(
  { folder, sealed }: KeptChain,
  node: RpcAddress,
): Promise<string | null> {
  if (sealed === null) return null
  const block = await callNode(node, { method: 'eth_getBlockByHash', params: [sealed.hash, false] })
  return block === null
    ? `The node does not have block ${sealed.number} (${sealed.hash}) any more, the last that the Generator in ${folder} sealed.`
    : null
}

async function readGenesisHash(node: RpcAddress): Promise<string> {
  const block = await callNode(node, { method: 'eth_getBlockByNumber', params: ['0x0', false] })
  const hash = typeof block === 'object' && block !== null && 'hash' in block ? block.hash : null
  if (typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash)) return hash
  throw new ServiceError('DEVNET_NODE_UNREACHABLE', 'the node has no block 0', {
    remedy: 'Give an Ethereum execution node in NODE_RPC_URL.',
  })
}
