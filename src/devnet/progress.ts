/** Watches blocks flow from the node to the Host and logs the progress periodically. */
import type { Logger } from 'pino'
import { readHealth } from './health.ts'
import { callNode, type RpcAddress } from './rpc.ts'

interface Progress {
  close(): void
}

interface ProgressOptions {
  readonly node: RpcAddress
  /** Base URLs of the health servers. */
  readonly generatorUrl: string
  readonly hostUrl: string
}

/** The heads of the three programs at one poll; null where a program did not respond. */
interface Heads {
  readonly node: number | null
  readonly generator: number | null
  readonly host: number | null
  readonly peers: number
}

const pollIntervalMs = 1_000
/** Polls between two lines. */
const pollsPerLine = 10

/** Polls once a second and logs every tenth poll; calls `onFirstBlock` once the Host has a block. */
export function openProgress(
  options: ProgressOptions,
  parts: { readonly log: Logger; readonly onFirstBlock: () => void },
): Progress {
  let polls = 0
  let polling = false
  let hasBlock = false
  let reported: number | null = null
  const poll = async (): Promise<void> => {
    if (polling) return
    polling = true
    const heads = await readHeads(options)
    polling = false
    polls += 1
    if (!hasBlock && heads.host !== null) {
      hasBlock = true
      parts.onFirstBlock()
    }
    if (polls % pollsPerLine > 0) return
    const moved = heads.host !== null && heads.host !== reported
    parts.log.info({ ...heads }, moved ? 'blocks arrive at the Host' : 'no new block at the Host')
    reported = heads.host
  }
  const timer = setInterval(() => void poll(), pollIntervalMs)
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

async function readNodeHead(node: RpcAddress): Promise<number | null> {
  try {
    return Number(await callNode(node, { method: 'eth_blockNumber', params: [] }))
  } catch {
    return null
  }
}
