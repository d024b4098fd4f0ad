/**
 * A stand-in for the registry chain, for development and tests: what Hosts and the toolkit ask of that chain is answered as
 * the real one answers it, by programs of this machine. It proves nothing and nobody else sees it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registryChainIds } from '../../registry/registry-chains.ts'
import { makeDirectory } from '../../store/disk/make-directory.ts'
import { type Children, openChildren } from '../children.ts'
import { openCometFace } from './comet-face.ts'
import { type EvmNode, openEvmNode } from './evm-node.ts'
import type { HttpFace } from './http-face.ts'
import { openJournal } from './journal.ts'
import { openLcdFace } from './lcd-face.ts'
import { type ChainView, createLedger, type Ledger } from './ledger.ts'
import { openRegistryChain, type RegistryChain, type Settlement } from './registry-chain.ts'
import { openRpcFace } from './rpc-face.ts'

interface RegistryOptions {
  /** Keeps the chain over restarts; made when missing. Without it all is gone at the end. */
  readonly folder?: string
  /** Ports that are not given are any free ones. */
  readonly rpcPort?: number
  readonly lcdPort?: number
  readonly cometPort?: number
  /** Milliseconds until a pending View is registered; null: until `settle`. Default 1,000. */
  readonly acknowledgeMs?: number | null
  /** What `eth_chainId` answers. */
  readonly chainId?: number
  /** What signatures need, where that is another one. */
  readonly signingChainId?: number
}

/** The running stand-in. */
export interface DevelopmentRegistry {
  /** JSON-RPC of the EVM. */
  readonly rpcUrl: string
  readonly lcdUrl: string
  /** CometBFT over HTTP; the WebSocket is at `/websocket`. */
  readonly cometUrl: string
  readonly chainId: number
  /** Private keys of accounts with 10,000 coins each; everybody knows them. */
  readonly accounts: readonly string[]
  /** Registers wire bytes as `sender`, pending; returns the View's address. */
  register(sender: string, wire: Uint8Array): Promise<string>
  /** Ends the waiting of pending Views, by address, all in one transaction. */
  settle(settlement: Settlement): Promise<void>
  /** Opens the channel that a time-out closed. */
  openChannel(): Promise<void>
  /** Serves a registered View as given, whether or not it could be registered. */
  plant(view: ChainView): Promise<void>
  close(): Promise<void>
}

const defaultAcknowledgeMs = 1_000

/** The first accounts of the mnemonic `test test test test test test test test test test test junk`. */
const accounts: readonly string[] = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
]

interface RegistryParts {
  /** Runs the node; default: the stand-in's own. */
  readonly children?: Children
  readonly signal?: AbortSignal
}

/** Opens the stand-in. */
export async function openDevelopmentRegistry(
  options: RegistryOptions = {},
  parts: RegistryParts = {},
): Promise<DevelopmentRegistry> {
  const { folder = null, chainId = registryChainIds.local, signingChainId = chainId } = options
  const directory = folder ?? mkdtempSync(join(tmpdir(), 'viewmesh-registry-'))
  makeDirectory(directory, 0o700)
  const children = parts.children ?? openChildren({ onFailure: () => undefined })
  const signal = parts.signal ?? new AbortController().signal
  const node = await openEvmNode({ directory, chainId: signingChainId }, { children, signal })
  const journal = openJournal(folder)
  const ledger = createLedger()
  const chain = await openRegistryChain({ node, ledger, journal, chainId: signingChainId })
  const faces = await openFaces(options, { node, chain, ledger, chainId })
  const acknowledging = acknowledge(options, ledger, chain)
  return {
    rpcUrl: faces.rpc.url,
    lcdUrl: faces.lcd.url,
    cometUrl: faces.comet.url,
    chainId,
    accounts,
    register: (sender, wire) => chain.register(sender, wire),
    settle: (settlement) => chain.settle(settlement),
    openChannel: () => chain.openChannel(),
    plant: (view) => chain.plant(view),
    async close() {
      await acknowledging.close()
      await Promise.all(Object.values(faces).map((face) => face.close()))
      await node.close()
      if (parts.children === undefined) await children.close()
      journal.close()
      if (folder === null) rmSync(directory, { recursive: true, force: true })
    },
  }
}

interface Faces {
  readonly rpc: HttpFace
  readonly lcd: HttpFace
  readonly comet: HttpFace
}

async function openFaces(
  { rpcPort = 0, lcdPort = 0, cometPort = 0 }: RegistryOptions,
  parts: {
    readonly node: EvmNode
    readonly chain: RegistryChain
    readonly ledger: Ledger
    readonly chainId: number
  },
): Promise<Faces & Readonly<Record<string, HttpFace>>> {
  const { node, chain, ledger, chainId } = parts
  return {
    rpc: await openRpcFace(rpcPort, { node, chain, chainId }),
    lcd: await openLcdFace(lcdPort, ledger),
    comet: await openCometFace(cometPort, { ledger, chainId, height: () => chain.height() }),
  }
}

/** Registers pending Views by and by, several at a time as on the real chain. */
function acknowledge(
  { acknowledgeMs = defaultAcknowledgeMs }: RegistryOptions,
  ledger: Ledger,
  chain: RegistryChain,
): { close(): Promise<void> } {
  if (acknowledgeMs === null) return { close: async () => undefined }
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> = Promise.resolve()
  let isClosed = false
  const schedule = (): void => {
    if (timer !== null || ledger.pending().length === 0) return
    timer = setTimeout(() => {
      timer = null
      const registered = ledger.pending().map(({ address }) => address)
      // A node that is gone is reported where its process is watched.
      running = chain.settle({ registered }).catch(() => {
        if (!isClosed) schedule()
      })
    }, acknowledgeMs)
  }
  const stop = ledger.onTransaction(schedule)
  schedule()
  return {
    async close() {
      isClosed = true
      stop()
      if (timer !== null) clearTimeout(timer)
      await running
    },
  }
}
