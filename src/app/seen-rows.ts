/** When subscribers hear of rows: once their block has the attestations that the application asks for. */

interface SeenParts {
  readonly isAttested: (height: number) => boolean
  /** Names of the Views, of each of which a block may have rows. */
  readonly names: () => readonly string[]
  /** Notifies subscribers of the rows of a View at a height. */
  readonly notify: (name: string, height: number) => void
}

interface SeenRows {
  /** Rows of a View at a height were stored. */
  onStored(name: string, height: number): void
  /** The block that is stored at a height got further seals. */
  onSealed(height: number): void
  /** What was stored above a height is gone. */
  onRemoved(above: number): void
}

/** Blocks without their attestations of which subscribers are notified later; the oldest ones go. */
const maxUnseen = 4_096

export function createSeenRows({ isAttested, names, notify }: SeenParts): SeenRows {
  const unseen = new Set<number>()
  return {
    onStored: (name, height) => {
      if (isAttested(height)) return notify(name, height)
      unseen.add(height)
      const [oldest = height] = unseen
      if (unseen.size > maxUnseen) unseen.delete(oldest)
    },
    onSealed: (height) => {
      if (!unseen.has(height) || !isAttested(height)) return
      unseen.delete(height)
      for (const name of names()) notify(name, height)
    },
    onRemoved: (above) => {
      for (const height of unseen) if (height > above) unseen.delete(height)
    },
  }
}
