/** Blocks in memory, as fork choice sees them, and a plain way to draw them. */
import type { BlockRef, Foot, KnownBlocks } from '../../../src/host/fork-choice/block-ref.ts'

export interface BlockWorld extends KnownBlocks {
  /** Every block, stored or waiting, one with several documents as often as it has. */
  links(): BlockRef[]
  /** The block of a hash with each of its documents. */
  variants(hash: string): BlockRef[]
  /** The block of a hash, with the documents that count. */
  find(hash: string): BlockRef | undefined
  readonly chain: ReadonlyMap<number, BlockRef>
  store(link: BlockRef): void
  /** The block of a height waits again, as what is wanted can be had again. */
  unstore(height: number): void
  /** Adds a block that waits. */
  add(link: BlockRef): void
  /** A signer has one root of a hash, the smaller one. */
  seal(link: BlockRef, identity: string): void
  /** Keeps what is stored, and the seals. */
  forgetWaiting(): void
}

interface WorldOptions {
  /** Height at and below which blocks are roots. Default 0. */
  readonly rootBelow?: number
  /** How many signers are accepted. Default 1. */
  readonly accepted?: number
}

/** A world without blocks. */
export function createBlockWorld({ rootBelow = 0, accepted = 1 }: WorldOptions = {}): BlockWorld {
  const waiting = new Map<string, BlockRef[]>()
  const chain = new Map<number, BlockRef>()
  /** The root that each signer sealed of a hash. */
  const seals = new Map<string, Map<string, string>>()
  const feet = new Map<string, Foot>()
  const changed = (): void => feet.clear()
  const storedByHash = new Map<string, BlockRef>()
  const isStored = ({ hash, root }: BlockRef): boolean => storedByHash.get(hash)?.root === root
  const votes = (hash: string, root: string): number =>
    [...(seals.get(hash)?.values() ?? [])].filter((sealed) => sealed === root).length
  /** The roots of a hash, the one that is served first. */
  const ranked = (hash: string, roots: readonly string[]): string[] =>
    [...new Set(roots)].sort((a, b) => votes(hash, b) - votes(hash, a) || (a < b ? -1 : 1))
  const bestOf = (hash: string, links: readonly BlockRef[]): BlockRef | undefined => {
    const [root] = ranked(
      hash,
      links.map((own) => own.root),
    )
    return links.find((own) => own.root === root)
  }
  const variants = (hash: string): BlockRef[] => {
    const stored = storedByHash.get(hash)
    return [...(stored === undefined ? [] : [stored]), ...(waiting.get(hash) ?? [])]
  }
  const links = (): BlockRef[] => [...chain.values(), ...[...waiting.values()].flat()]
  const remove = ({ hash, root }: BlockRef): void => {
    const others = (waiting.get(hash) ?? []).filter((own) => own.root !== root)
    if (others.length === 0) waiting.delete(hash)
    else waiting.set(hash, others)
  }
  const add = (link: BlockRef): void => {
    if (!variants(link.hash).some(({ root }) => root === link.root))
      waiting.set(link.hash, [...(waiting.get(link.hash) ?? []), link])
    changed()
  }
  const waitingLink = (hash: string): BlockRef | undefined => {
    const best = bestOf(hash, variants(hash))
    return best === undefined || isStored(best) ? undefined : best
  }

  return {
    links,
    variants,
    find: (hash) => bestOf(hash, variants(hash)),
    chain,
    feet,
    stored: (height) => chain.get(height),
    isStoredThrough: (low, high) => {
      for (let height = low; height <= high; height++) if (!chain.has(height)) return false
      return true
    },
    waiting: waitingLink,
    isRoot: ({ number }) => number <= rootBelow,
    isMostSealed: ({ hash, root }) => 2 * votes(hash, root) > accepted,
    betterRoot: ({ hash, root }) => {
      const [best] = ranked(hash, [root, ...(seals.get(hash)?.values() ?? [])])
      return best === undefined || best === root ? null : best
    },
    sealedBy: (identity, most) =>
      links()
        .filter(({ number, hash }) => number <= most && seals.get(hash)?.has(identity))
        .filter((own) => isStored(own) || waitingLink(own.hash) === own)
        .sort((a, b) => b.number - a.number || Number(isStored(b)) - Number(isStored(a))),
    store: (link) => {
      remove(link)
      chain.set(link.number, link)
      storedByHash.set(link.hash, link)
      changed()
    },
    unstore: (height) => {
      const link = chain.get(height)
      if (link === undefined) return
      chain.delete(height)
      storedByHash.delete(link.hash)
      add(link)
    },
    add,
    forgetWaiting: () => {
      waiting.clear()
      changed()
    },
    seal: ({ hash, root }, identity) => {
      const own = seals.get(hash) ?? new Map<string, string>()
      const before = own.get(identity)
      own.set(identity, before !== undefined && before < root ? before : root)
      seals.set(hash, own)
      changed()
    },
  }
}

/** The block of a branch at a height, as in `5a`; its parent is the one below, or the given one. */
export function link(number: number, branch: string, parent?: string): BlockRef {
  const hash = `${number}${branch}`
  return { number, hash, parentHash: parent ?? `${number - 1}${branch}`, root: `root ${hash}` }
}

/** Blocks of a branch from one height to another; the first one's parent may be of another branch. */
export function branch(name: string, from: number, to: number, parent?: string): BlockRef[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) =>
    link(from + index, name, index === 0 ? parent : undefined),
  )
}
