/** Blocks that were handed to the store and are not on the disk yet, as if they were. */

/** Heights that a write removes, both ends included. */
export interface Removal {
  readonly from: number
  readonly to: number
}

export interface PendingWrites<B> {
  at(height: number): B | undefined
  /** True when what the store shows at this height is about to be removed. */
  isRemoved(height: number): boolean
  /** Highest pending height, -1 without any. */
  head(): number
  /** Lowest height that changes, infinity without any. */
  floor(): number
  /**
   * Adds blocks until they are written, in the place of those of `removal` unless it is null. Resolves when
   * they are written. Throws what the write threw.
   */
  add(blocks: readonly B[], removal: Removal | null, written: Promise<unknown>): Promise<void>
  /** Resolves when fewer writes than this are in flight. Throws what a write threw. */
  below(writes: number): Promise<void>
  /** Resolves when everything so far is on the disk. Throws what the first write that failed threw. */
  drain(): Promise<void>
}

/** Nothing pending. */
export function createPendingWrites<B extends { readonly number: number }>(): PendingWrites<B> {
  const blocks = new Map<number, B>()
  const removals = new Set<Removal>()
  const inFlight = new Set<Promise<void>>()
  let all: Promise<void> = Promise.resolve()

  const remove = ({ from, to }: Removal): void => {
    for (const height of [...blocks.keys()])
      if (height >= from && height <= to) blocks.delete(height)
  }

  const finish = (added: readonly B[], removal: Removal | null): void => {
    for (const block of added) if (blocks.get(block.number) === block) blocks.delete(block.number)
    if (removal !== null) removals.delete(removal)
  }

  return {
    at: (height) => blocks.get(height),
    isRemoved: (height) => [...removals].some(({ from, to }) => height >= from && height <= to),
    head: () => Math.max(-1, ...blocks.keys()),
    floor: () => Math.min(...blocks.keys(), ...[...removals].map(({ from }) => from)),
    add: (added, removal, written) => {
      if (removal !== null) {
        remove(removal)
        removals.add(removal)
      }
      for (const block of added) blocks.set(block.number, block)
      const finished = written.then(() => {
        finish(added, removal)
        inFlight.delete(finished)
      })
      inFlight.add(finished)
      all = Promise.all([all, finished]).then(() => undefined)
      all.catch(() => undefined)
      return finished
    },
    below: async (writes) => {
      while (inFlight.size >= writes) await inFlight.values().next().value
    },
    drain: () => all,
  }
}
