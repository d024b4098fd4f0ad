/**
 * Gossips heads, only the newest and before everything else, and each sealed block in order: whole near the
 * head of the chain, its seal alone further below, where peers that catch up pull the documents of many
 * blocks at a time. Blocks that wait too long are dropped: peers that miss one pull it by its height.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { SealedBlocks } from '../mesh/sealed-blocks.ts'
import type { P2p } from '../p2p/p2p.ts'

export interface PublisherParts {
  readonly p2p: Pick<P2p, 'publish' | 'publishHead' | 'maxGossipBytes'>
  readonly blocks: SealedBlocks
  /** Height of the execution node's head; null before it is known. */
  readonly sourceHead: () => number | null
  readonly log: Logger
  readonly registry: Registry
}

interface Publisher {
  /** Queues the sealed block at this height. */
  add(height: number): void
  /** Gossips this head next, replacing one that still waits. */
  addHead(bytes: Uint8Array): void
  /** Resolves when nothing is being published. */
  close(): Promise<void>
}

/** Most blocks in the queue; more accumulate only while catching up. */
const maxWaiting = 64
/** Distance from the node's head up to which blocks are sent whole; Hosts keep none that arrive earlier. */
const wholeBlocks = 16

export function createPublisher(parts: PublisherParts): Publisher {
  const { p2p, blocks, log, registry } = parts
  const published = new Counter({
    name: 'viewmesh_generator_published_total',
    help: 'Sealed blocks by how they were gossiped: whole, as seal alone, or left out for peers to pull.',
    labelNames: ['form'],
    registers: [registry],
  })
  const waiting: number[] = []
  let head: Uint8Array | null = null
  let isClosed = false
  let running: Promise<void> | null = null

  const wholeMessage = (height: number): Uint8Array | null => {
    if (height + wholeBlocks <= (parts.sourceHead() ?? height)) return null
    const message = blocks.sealedBlock(height)
    return message !== null && message.byteLength <= p2p.maxGossipBytes ? message : null
  }

  const publish = async (height: number): Promise<void> => {
    const whole = wholeMessage(height)
    const message = whole ?? blocks.sealsAlone(height)
    if (message === null) return
    await p2p.publish(message)
    published.inc({ form: whole === null ? 'seal' : 'whole' })
  }

  const publishHead = async (bytes: Uint8Array): Promise<void> => {
    head = null
    try {
      await p2p.publishHead(bytes)
    } catch (error) {
      log.debug({ err: error }, 'head not gossiped, the next one follows')
    }
  }

  const publishNext = async (height: number): Promise<void> => {
    waiting.shift()
    try {
      await publish(height)
    } catch (error) {
      log.warn({ err: error, height }, 'block not gossiped, peers have to pull it')
    }
  }

  const run = async (): Promise<void> => {
    for (;;) {
      const [height] = waiting
      if (head !== null) await publishHead(head)
      else if (height !== undefined) await publishNext(height)
      else break
      await nextTurn()
    }
    running = null
  }

  return {
    add(height) {
      if (isClosed) return
      waiting.push(height)
      if (waiting.length > maxWaiting) {
        waiting.shift()
        published.inc({ form: 'left out' })
      }
      running ??= run()
    },
    addHead(bytes) {
      if (isClosed) return
      head = bytes
      running ??= run()
    },
    async close() {
      isClosed = true
      head = null
      waiting.length = 0
      await running
    },
  }
}
