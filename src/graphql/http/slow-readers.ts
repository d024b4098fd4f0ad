/**
 * Disconnects clients that do not read their answers, as unread answers fill the memory that all
 * requests share. Only waiting bytes count: a stream on which nothing waits may be idle for ever.
 */
import type { ServerResponse } from 'node:http'

/** Responses that are watched. */
export interface SlowReaders {
  /** Watches a response until it is closed. */
  watch(response: ServerResponse): void
  /** Stops watching. */
  close(): void
}

/** Bytes that a client has to read in a millisecond: 32 KiB in a second. */
const bytesPerMs = 32
/** How often each response is checked in a period. */
const checksPerPeriod = 4

/** What was seen of a response when its period began. */
interface Period {
  readonly startedAt: number
  /** Bytes that its connection had taken. */
  readonly taken: number
}

/**
 * Watches no response yet. A client is disconnected that has read less than 32 KiB a second over a
 * whole period of `periodMs` in which something waited for it all the time.
 */
export function createSlowReaders(periodMs: number, onCut: () => void): SlowReaders {
  const watched = new Map<ServerResponse, Period | null>()
  const check = (): void => {
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
  const timer = setInterval(check, periodMs / checksPerPeriod).unref()
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
