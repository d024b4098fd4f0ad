/**
 * Verified blocks that do not fit what is stored, kept for a while in case the rest of their chain
 * arrives. Bounded in number and bytes; the one that came first goes first.
 */
import type { HeldBlocks, Link } from '../fork-choice/fork-choice.ts'

/** A held block knows the memory it takes. */
export interface Holdable extends Link {
  readonly bytes: number
}

export interface HeldBlockStore<B extends Holdable> extends HeldBlocks<B> {
  /** Adds a block, or takes the place of the one with the same hash. */
  put(block: B): void
  remove(hash: string): void
  size(): number
}

export interface HeldBlockLimits {
  /** Default 160: a reorganisation of the deepest kind and the blocks that arrive meanwhile. */
  readonly maxBlocks: number
  /** Default 64 MiB. */
  readonly maxBytes: number
}

const defaultLimits: HeldBlockLimits = { maxBlocks: 160, maxBytes: 64 * 1024 * 1024 }

/** An empty set of held blocks. */
export function createHeldBlocks<B extends Holdable>(
  limits: HeldBlockLimits = defaultLimits,
): HeldBlockStore<B> {
  const blocks = new Map<string, B>()
  const children = new Map<string, Set<string>>()
  let bytes = 0

  const remove = (hash: string): void => {
    const block = blocks.get(hash)
    if (block === undefined) return
    blocks.delete(hash)
    bytes -= block.bytes
    const siblings = children.get(block.parentHash)
    siblings?.delete(hash)
    if (siblings?.size === 0) children.delete(block.parentHash)
  }

  const put = (block: B): void => {
    remove(block.hash)
    blocks.set(block.hash, block)
    bytes += block.bytes
    const siblings = children.get(block.parentHash) ?? new Set()
    children.set(block.parentHash, siblings.add(block.hash))
    for (const oldest of blocks.keys()) {
      if (blocks.size <= limits.maxBlocks && bytes <= limits.maxBytes) break
      remove(oldest)
    }
  }

  return {
    put,
    remove,
    size: () => blocks.size,
    get: (hash) => blocks.get(hash),
    childrenOf: (hash) =>
      [...(children.get(hash) ?? [])].flatMap((child) => blocks.get(child) ?? []),
  }
}
