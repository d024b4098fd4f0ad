/** Blocks in memory, as fork choice sees them, and a plain way to draw them. */
import type { Foot, KnownBlocks, Link } from '../../../src/host/fork-choice/link.ts'

export interface BlockWorld extends KnownBlocks {
  /** Every block by its hash, stored or waiting. */
  readonly all: ReadonlyMap<string, Link>
  readonly chain: ReadonlyMap<number, Link>
  store(link: Link): void
  unstore(height: number): void
  /** Adds a block that waits. */
  add(link: Link): void
  seal(hash: string, identity: string): void
  /** Keeps what is stored, and the seals. */
  forgetWaiting(): void
  /** What was found out of these blocks is found out anew: something changed. */
  changed(): void
}

/** A world without blocks; `rootBelow` is the height at and below which blocks are roots. */
export function createBlockWorld(rootBelow: () => number = () => 0): BlockWorld {
  const all = new Map<string, Link>()
  const chain = new Map<number, Link>()
  const seals = new Map<string, Set<string>>()
  const feet = new Map<string, Foot>()
  const changed = (): void => feet.clear()
  const isStored = ({ number, hash }: Link): boolean => chain.get(number)?.hash === hash

  return {
    all,
    chain,
    feet,
    changed,
    stored: (height) => chain.get(height),
    isStoredThrough: (low, high) => {
      for (let height = low; height <= high; height++) if (!chain.has(height)) return false
      return true
    },
    waiting: (hash) => {
      const link = all.get(hash)
      return link === undefined || isStored(link) ? undefined : link
    },
    isRoot: ({ number }) => number <= rootBelow(),
    isMostSealed: () => true,
    sealedBy: (identity, most) =>
      [...all.values()]
        .filter(({ number, hash }) => number <= most && seals.get(hash)?.has(identity))
        .sort((a, b) => b.number - a.number || Number(isStored(b)) - Number(isStored(a))),
    store: (link) => {
      all.set(link.hash, link)
      chain.set(link.number, link)
      changed()
    },
    unstore: (height) => {
      chain.delete(height)
      changed()
    },
    add: (link) => {
      all.set(link.hash, link)
      changed()
    },
    forgetWaiting: () => {
      for (const each of [...all.values()]) if (!isStored(each)) all.delete(each.hash)
      changed()
    },
    seal: (hash, identity) => {
      seals.set(hash, (seals.get(hash) ?? new Set()).add(identity))
      changed()
    },
  }
}

/** The block of a branch at a height, as in `5a`; its parent is the one below, or the given one. */
export function link(number: number, branch: string, parent?: string): Link {
  const hash = `${number}${branch}`
  return { number, hash, parentHash: parent ?? `${number - 1}${branch}`, root: `root ${hash}` }
}

/** Blocks of a branch from one height to another; the first one's parent may be of another branch. */
export function branch(name: string, from: number, to: number, parent?: string): Link[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) =>
    link(from + index, name, index === 0 ? parent : undefined),
  )
}
