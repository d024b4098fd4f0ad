/** Places of which only so many are taken at once; whoever comes later waits for a while, in order. */
import { ServiceError } from '../../errors.ts'

interface SlotOptions {
  readonly slots: number
  /** Those that wait at once; more are refused. */
  readonly maxWaiting: number
  readonly maxWaitMs: number
}

/** A place that was taken. */
interface Slot {
  /** From 0, and nobody else's meanwhile. */
  readonly number: number
  release(): void
}

export interface Slots {
  /** @throws ServiceError `HOST_VIEW_BUSY`; the reason of the signal. */
  take(signal: AbortSignal): Promise<Slot>
}

interface Waiting {
  readonly taken: PromiseWithResolvers<Slot>
}

/** All places are free. */
export function createStreamSlots(options: SlotOptions): Slots {
  const free = Array.from({ length: options.slots }, (_, number) => number)
  const waiting: Waiting[] = []
  const toSlot = (number: number): Slot => {
    let isReleased = false
    return {
      number,
      release() {
        if (isReleased) return
        isReleased = true
        const next = waiting.shift()
        if (next === undefined) free.push(number)
        else next.taken.resolve(toSlot(number))
      },
    }
  }
  return {
    async take(signal) {
      signal.throwIfAborted()
      // The one that was released last is still warm.
      const number = free.pop()
      if (number !== undefined) return toSlot(number)
      if (waiting.length >= options.maxWaiting) throw busy(options, `${waiting.length} others wait`)
      return await wait(options, waiting, signal)
    },
  }
}

async function wait(options: SlotOptions, waiting: Waiting[], signal: AbortSignal): Promise<Slot> {
  const own: Waiting = { taken: Promise.withResolvers() }
  const leave = (error: unknown): void => {
    const place = waiting.indexOf(own)
    // A slot that it has got already is released by whoever asked for it.
    if (place < 0) return
    waiting.splice(place, 1)
    own.taken.reject(error)
  }
  const onAbort = (): void => leave(signal.reason)
  const timer = setTimeout(
    () => leave(busy(options, `this one waited ${options.maxWaitMs} ms`)),
    options.maxWaitMs,
  )
  signal.addEventListener('abort', onAbort)
  waiting.push(own)
  try {
    return await own.taken.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

const busy = ({ slots }: SlotOptions, what: string): ServiceError =>
  new ServiceError(
    'HOST_VIEW_BUSY',
    `${slots} queries compute Views, as many as may at once, and ${what}`,
    {
      facts: { slots },
      remedy:
        'Ask again in a moment; rows of a View with @materialized(if: true) are there without computing.',
    },
  )
