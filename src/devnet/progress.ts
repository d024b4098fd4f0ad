/** Watches blocks flow from the node to the Host and tells of it now and then. */
import type { Logger } from 'pino'
import { readHealth } from './health.ts'
import { callNode, type NodeAddress } from './rpc.ts'

export interface Progress {
  close(): void
}

export interface ProgressOptions {
  readonly node: NodeAddress
  /** Base URLs of the health servers. */
  readonly generatorUrl: string
  readonly hostUrl: string
}

/** What one look at the three programs showed; null where a program did not answer. */
interface Heads {
  readonly node: number | null
  readonly generator: number | null
  readonly host: number | null
  readonly peers: number
}

const everyMs = 1_000
/** Looks between two lines. */
const looksPerLine = 10

/** Looks once a second, tells every tenth time; `onFirstBlock` when the Host has its first block. */
export function openProgress(
  options: ProgressOptions,
  parts: { readonly log: Logger; readonly onFirstBlock: () => void },
): Progress {
  let looks = 0
  let arrived = false
  let looking = false
  const look = async (): Promise<void> => {
    if (looking) return
    looking = true
    const heads = await readHeads(options)
    looking = false
    looks += 1
    if (!arrived && heads.host !== null) {
      arrived = true
      looks = 0
      parts.onFirstBlock()
    }
    if (looks % looksPerLine === 0) {
      parts.log.info(
        { ...heads },
        arrived ? 'blocks arrive at the Host' : 'no block at the Host yet',
      )
    }
  }
  const timer = setInterval(() => void look(), everyMs)
  return { close: () => clearInterval(timer) }
}

async function readHeads(options: ProgressOptions): Promise<Heads> {
  const [node, generator, host] = await Promise.all([
    readNodeHead(options.node),
    readHealth(options.generatorUrl),
    readHealth(options.hostUrl),
  ])
  return {
    node,
    generator: generator?.head ?? null,
    host: host?.head ?? null,
    peers: host?.p2p.peers.length ?? 0,
  }
}

async function readNodeHead(node: NodeAddress): Promise<number | null> {
  try {
    return Number(await callNode(node, { method: 'eth_blockNumber', params: [] }))
  } catch {
    return null
  }
}
