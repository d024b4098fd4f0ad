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
import { makeDirectory } from '../store/disk/make-directory.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { prepareState } from './anvil-state.ts'
import {
  chainFolderName,
  countChainFolders,
  newestLocalChain,
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
    isLocal: false,
  }
}

async function openLocalChain(settings: DevnetSettings, parts: SourceParts): Promise<ChainSource> {
  const found = newestLocalChain(settings.path)
  if (found === null) return await createLocalChain(settings, parts)
  if (!prepareState(nodeFolder(found))) {
    parts.say(
      `The chain that ${found} belongs to is gone or damaged (node/state.json). A new one begins.`,
    )
    return await createLocalChain(settings, parts)
  }
  const anvil = await startAnvil({ port: settings.nodePort, directory: nodeFolder(found) }, parts)
  const { chain, network } = localNames(settings)
  const lost = await lostBlock(found, networkName(chain, network), anvil.node, parts)
  if (lost === null) return localChain(settings, anvil, found, await readGenesisHash(anvil.node))
  parts.say(`${lostText(found, lost)} A new chain begins.`)
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
  const count = countChainFolders(settings.path, genesisHash)
  const folder = join(settings.path, chainFolderName(genesisHash, count + 1))
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

/** The Generator's last sealed block if the node no longer has it on any branch. */
async function lostBlock(
  folder: string,
  network: string,
  node: RpcAddress,
  parts: SourceParts,
): Promise<LastSealed | null> {
  const { storePath } = programFolder(folder, 'generator')
  const sealed = await lastSealedBlock({ storePath, network }, parts)
  if (sealed === null) return null
  const block = await callNode(node, { method: 'eth_getBlockByHash', params: [sealed.hash, false] })
  return block === null ? sealed : null
}

function lostText(folder: string, sealed: LastSealed): string {
  return `The node does not have block ${sealed.number} (${sealed.hash}) any more, the last that the Generator in ${folder} sealed.`
}

async function readGenesisHash(node: RpcAddress): Promise<string> {
  const block = await callNode(node, { method: 'eth_getBlockByNumber', params: ['0x0', false] })
  const hash = typeof block === 'object' && block !== null && 'hash' in block ? block.hash : null
  if (typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash)) return hash
  throw new ServiceError('DEVNET_NODE_UNREACHABLE', 'the node has no block 0', {
    remedy: 'Give an Ethereum execution node in NODE_RPC_URL.',
  })
}
