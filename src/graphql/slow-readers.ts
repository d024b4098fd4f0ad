/**
 * Cuts off clients that do not read what they asked for, as unread answers fill the memory that all
 * requests share. What counts is what waits: a stream on which nothing waits may be idle for ever.
 */
import type { ServerResponse } from 'node:http'

/** Responses that are watched. */
export interface SlowReaders {
  /** Watches a response until it is closed. */
  watch(response: ServerResponse): void
  /** Stops watching. */
  close(): void
}

/** Bytes that a client takes in a millisecond at least: 32 KiB in a second. */
const bytesPerMs = 32
/** How often in a period it is looked. */
const looks = 4

/** What was seen of a response when its period began. */
interface Period {
  readonly startedAt: number
  /** Bytes that its connection had taken. */
  readonly taken: number
}

/**
 * Nobody yet. A client is cut off that has taken less than 32 KiB a second over a whole period of
 * `periodMs` in which something waited for it all the time.
 */
export function createSlowReaders(periodMs: number, onCut: () => void): SlowReaders {
  const watched = new Map<ServerResponse, Period | null>()
  const look = (): void => {
    for (const [response, period] of watched) {
      const next = response.writableLength === 0 ? null : nextPeriod(period, response, periodMs)
      if (next !== 'cut') watched.set(response, next)
      else {
        watched.delete(response)
        onCut()
        response.req.socket.destroy()
      }
    }
  }
  const timer = setInterval(look, periodMs / looks).unref()
  return {
    watch(response) {
      watched.set(response, null)
      response.once('close', () => watched.delete(response))
    },
    close: () => clearInterval(timer),
  }
}

function nextPeriod(
  period: Period | null,
  response: ServerResponse,
  periodMs: number,
): Period | 'cut' {
  const now = performance.now()
  const { socket } = response.req
  const taken = socket.bytesWritten - socket.writableLength
  if (period === null) return { startedAt: now, taken }
  const elapsedMs = now - period.startedAt
  if (elapsedMs < periodMs) return period
  return taken - period.taken < bytesPerMs * elapsedMs ? 'cut' : { startedAt: now, taken }
}
