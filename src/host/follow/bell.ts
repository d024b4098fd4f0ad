/** Wakes one that waits; whoever rings before it waits has rung all the same. */

export interface Bell {
  ring(): void
  /** Resolves when it rings, or after so many milliseconds. */
  heard(maxMs: number): Promise<void>
}

export function createBell(): Bell {
  let hasRung = false
  let wake: (() => void) | null = null
  return {
    ring: () => {
      hasRung = true
      wake?.()
    },
    heard: async (maxMs) => {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, maxMs).unref()
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = null
      }
      hasRung = false
    },
  }
}
