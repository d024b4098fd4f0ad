/**
 * What Hosts say themselves of the branch that is stored: up to which height they have it, and that what is above gave way.
 * The Host that feeds says so alone of what it wants to be removed, or to be built on.
 */

export interface LeftBlocks {
  /** A Host does not have what is stored above a height, up to the highest that is stored now. */
  leave(host: string, above: number, head: number): void
  /** A Host has the block that is stored at a height, and so what is below. */
  have(host: string, number: number): void
  /** What was stored above a height is gone. */
  removed(above: number): void
  /** The height up to which a Host has what is stored; Infinity where it did not say that anything gave way. */
  leftAbove(host: string): number
  /** A Host begins anew, and says again what it does not have. */
  forget(host: string): void
}

/** Stored blocks above one height, up to another, which a Host does not have. */
interface Left {
  readonly above: number
  readonly to: number
}

export function createLeftBlocks(): LeftBlocks {
  const hosts = new Map<string, Left>()
  const note = (host: string, left: Left): void => {
    if (left.above < left.to) hosts.set(host, left)
    else hosts.delete(host)
  }
  return {
    leave: (host, above, head) => {
      const known = hosts.get(host) ?? { above, to: head }
      note(host, { above: Math.min(above, known.above), to: Math.max(head, known.to) })
    },
    have: (host, number) => {
      const known = hosts.get(host)
      if (known !== undefined) note(host, { ...known, above: Math.max(number, known.above) })
    },
    removed: (above) => {
      for (const [host, left] of hosts) note(host, { ...left, to: Math.min(above, left.to) })
    },
    leftAbove: (host) => hosts.get(host)?.above ?? Infinity,
    forget: (host) => void hosts.delete(host),
  }
}
