/** Message IDs of the last minutes, so that each message is checked once. */

interface SeenIds {
  has(id: string): boolean
  add(id: string): void
}

/** Remembers each ID for `keepMs`. `now` is a clock in ms. */
export function createSeenIds(
  keepMs: number,
  now: () => number = () => performance.now(),
): SeenIds {
  const until = new Map<string, number>()

  const forget = (): void => {
    const time = now()
    for (const [id, end] of until) {
      if (end > time) return
      until.delete(id)
    }
  }

  return {
    has: (id) => {
      forget()
      return until.has(id)
    },
    add: (id) => {
      forget()
      if (!until.has(id)) until.set(id, now() + keepMs)
    },
  }
}
