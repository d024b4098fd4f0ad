/**
 * What Hosts say themselves of the branch that is stored: up to which height they have it, and that what is above gave way.
 * The Host that feeds says so alone of what it wants to be removed, or to be built on.
 */
import type { ReportedHeights } from './reported-heights.ts'

export interface LeftBlocks {
  /** A Host does not have what is stored above a height, up to the highest that is stored now. */
  leave(host: string, above: number, head: number): void
  /** A Host has the block that is stored at a height, and so what is below, unless it names another block there. */
  have(host: string, number: number): void
  /** A Host has another block than the one that is stored at a height. */
  haveOther(host: string, number: number): void
  /** What was stored above a height is gone. */
  removed(above: number): void
  /** The height up to which a Host has what is stored; Infinity where it did not say that anything gave way. */
  leftAbove(host: string): number
  /** A Host begins again, and says once more what it does not have. */
  forget(host: string): void
}

interface Left {
  /** Stored blocks above this height, up to another, which a Host does not have. */
  readonly above: number
  readonly to: number
  /**
   * The lowest stored height at which it has another block; Infinity for none. That it has one that is stored above it
   * changes nothing: what that stands on is the word of the Host that fed it.
   */
  readonly other: number
}

const nothingLeft: Left = { above: Infinity, to: -1, other: Infinity }

/** `reported` gets the height up to which each Host has spoken of what is stored. */
export function createLeftBlocks(
  reported: Pick<ReportedHeights, 'raise' | 'lower' | 'removed'>,
): LeftBlocks {
  const hosts = new Map<string, Left>()
  const leftAbove = (host: string): number => {
    const { above, other } = hosts.get(host) ?? nothingLeft
    return Math.min(above, other - 1)
  }
  const change = (host: string, changed: (known: Left) => Partial<Left>): void => {
    const known = hosts.get(host) ?? nothingLeft
    const left = { ...known, ...changed(known) }
    const { to, other } = left
    const above = left.above < to ? left.above : Infinity
    if (Math.min(above, other) === Infinity) hosts.delete(host)
    else hosts.set(host, { above, to, other })
  }
  return {
    leave: (host, above, head) => {
      change(host, (known) => ({
        above: Math.min(above, known.above),
        to: Math.max(head, known.to),
        other: upTo(known.other, above),
      }))
      reported.lower(host, above)
    },
    have: (host, number) => {
      change(host, (known) => ({
        above: Math.max(number, known.above),
        other: known.other === number ? Infinity : known.other,
      }))
      reported.raise(host, Math.min(number, leftAbove(host)))
    },
    haveOther: (host, number) => {
      change(host, (known) => ({ other: Math.min(number, known.other) }))
      reported.lower(host, number - 1)
    },
    removed: (above) => {
      for (const host of [...hosts.keys()])
        change(host, ({ to, other }) => ({ to: Math.min(above, to), other: upTo(other, above) }))
      reported.removed(above)
    },
    leftAbove,
    forget: (host) => void hosts.delete(host),
  }
}

/** A height that is not above another one, or else Infinity. */
function upTo(height: number, top: number): number {
  return height <= top ? height : Infinity
}
