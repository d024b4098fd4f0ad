/**
 * The memory that all requests hold together, in bytes: their bodies, what is kept to answer them, and
 * unread answers. One request gets no more than it leaves free, so that however large some are, there
 * is room for small ones beside them.
 */
import { operatorSets, type QueryLimits, refusal } from './limits.ts'

/** What all requests of an engine hold. */
export interface MemoryPool {
  heldBytes(): number
  /** Opens the account of one request; the caller closes it. */
  openAccount(): MemoryAccount
}

/** What one request holds. */
export interface MemoryAccount {
  /**
   * Throws GRAPHQL_SIZE_LIMIT for more than one request can ever get, and GRAPHQL_BUSY for more than
   * is free now. Nothing is taken once it is closed.
   */
  reserve(bytes: number): void
  release(bytes: number): void
  /** Releases everything; harmless when repeated. */
  close(): void
}

type PoolLimits = Pick<QueryLimits, 'maxHeldBytes' | 'settings'>

/** A pool of which nothing is held yet; `onBusy` is called for everything that does not fit. */
export function createMemoryPool(
  limits: PoolLimits,
  onBusy: () => void = () => undefined,
): MemoryPool {
  const { maxHeldBytes: maxBytes } = limits
  let held = 0
  return {
    heldBytes: () => held,
    openAccount() {
      let own = 0
      let isClosed = false
      return {
        reserve(bytes) {
          if (isClosed) return
          if (2 * (own + bytes) > maxBytes) throw tooMuch(limits)
          if (held + own + 2 * bytes > maxBytes) {
            onBusy()
            throw busy(held, limits)
          }
          own += bytes
          held += bytes
        },
        release(bytes) {
          const given = Math.min(bytes, own)
          own -= given
          held -= given
        },
        close() {
          isClosed = true
          held -= own
          own = 0
        },
      }
    },
  }
}

function tooMuch({ maxHeldBytes, settings }: PoolLimits): Error {
  const half =
    settings === undefined
      ? ''
      : `; this is half of ${settings.maxHeldBytes}, which the operator sets`
  return refusal(
    'GRAPHQL_SIZE_LIMIT',
    `The request, what is kept to answer it and its answer take more than ${Math.floor(maxHeldBytes / 2)} bytes.`,
    `Narrow the range of blocks, select or group by fewer fields, or set a smaller \`limit\`${half}.`,
  )
}

const busy = (held: number, limits: PoolLimits): Error =>
  refusal(
    'GRAPHQL_BUSY',
    `Requests hold ${held} of ${limits.maxHeldBytes} bytes, and this one asks for more than it would leave free.`,
    `Ask again in a moment, or for less at once, and read answers without pausing${operatorSets(limits, 'maxHeldBytes')}`,
  )
