/** Something that is read again and again, where no event says that it has changed. */

interface Polling {
  /** Reads now, unless a reading is under way. */
  poll(): void
  /** Resolves when no reading is under way; none begins any more. */
  close(): Promise<void>
}

/** Reads after each interval, one reading at a time. `read` does not throw. */
export function openPolling(intervalMs: number, read: () => Promise<void>): Polling {
  let underWay: Promise<void> | null = null
  const poll = (): void => {
    underWay ??= read().finally(() => {
      underWay = null
    })
  }
  const timer = setInterval(poll, intervalMs)
  timer.unref()
  return {
    poll,
    async close() {
      clearInterval(timer)
      await underWay
    },
  }
}
