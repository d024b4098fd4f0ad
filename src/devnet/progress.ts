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

/** Looks once a second and tells every tenth time; `onFirstBlock` once the Host has a block. */
export function openProgress(
  options: ProgressOptions,
  parts: { readonly log: Logger; readonly onFirstBlock: () => void },
): Progress {
  let looks = 0
  let looking = false
  let answered = false
  let told: number | null = null
  const look = async (): Promise<void> => {
    if (looking) return
    looking = true
    const heads = await readHeads(options)
    looking = false
    looks += 1
    if (!answered && heads.host !== null) {
      answered = true
      parts.onFirstBlock()
    }
    if (looks % looksPerLine > 0) return
    const moved = heads.host !== null && heads.host !== told
    parts.log.info({ ...heads }, moved ? 'blocks arrive at the Host' : 'no new block at the Host')
    told = heads.host
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
