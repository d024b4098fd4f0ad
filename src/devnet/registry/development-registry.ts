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
import { openEvmNode } from './evm-node.ts'
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

/** Opens the stand-in. Where that fails, nothing of it stays open. */
export async function openDevelopmentRegistry(
  options: RegistryOptions = {},
  parts: RegistryParts = {},
): Promise<DevelopmentRegistry> {
  const closing = createClosing()
  try {
    return await openParts(options, parts, closing)
  } catch (error) {
    await closing.close()
    throw error
  }
}

async function openParts(
  options: RegistryOptions,
  parts: RegistryParts,
  { own, close }: Closing,
): Promise<DevelopmentRegistry> {
  const { folder = null, chainId = registryChainIds.local, signingChainId = chainId } = options
  const directory = folder ?? mkdtempSync(join(tmpdir(), 'viewmesh-registry-'))
  if (folder === null) own({ close: () => rmSync(directory, { recursive: true, force: true }) })
  makeDirectory(directory, 0o700)
  const children = parts.children ?? own(openChildren({ onFailure: () => undefined }))
  const signal = parts.signal ?? new AbortController().signal
  const node = own(await openEvmNode({ directory, chainId: signingChainId }, { children, signal }))
  const journal = own(openJournal(folder))
  const ledger = createLedger()
  const chain = await openRegistryChain({ node, ledger, journal, chainId: signingChainId })
  const { rpcPort = 0, lcdPort = 0, cometPort = 0 } = options
  const rpc = own(await openRpcFace(rpcPort, { node, chain, chainId }))
  const lcd = own(await openLcdFace(lcdPort, ledger))
  const height = (): Promise<number> => chain.height()
  const comet = own(await openCometFace(cometPort, { ledger, chainId, height }))
  own(acknowledge(options, ledger, chain))
  return {
    ...{ rpcUrl: rpc.url, lcdUrl: lcd.url, cometUrl: comet.url },
    chainId,
    accounts,
    register: (sender, wire) => chain.register(sender, wire),
    settle: (settlement) => chain.settle(settlement),
    openChannel: () => chain.openChannel(),
    plant: (view) => chain.plant(view),
    close,
  }
}

interface Closing {
  /** Takes over what has to be closed. */
  own<T extends { close(): unknown }>(part: T): T
  /** Closes all parts, the last one first. */
  close(): Promise<void>
}

function createClosing(): Closing {
  const parts: { close(): unknown }[] = []
  return {
    own(part) {
      parts.push(part)
      return part
    },
    async close() {
      for (let last = parts.pop(); last !== undefined; last = parts.pop()) await last.close()
    },
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
