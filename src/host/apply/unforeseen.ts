/** What is thrown while the bytes of a peer are checked is the fault of those bytes, whatever it is. */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'

/**
 * Logs what no check foresees; malformed messages are foreseen.
 * @throws what the store failed with.
 */
export function logUnforeseen(log: Logger, error: unknown): void {
  if (error instanceof ServiceError) {
    if (error.code === 'PRIMITIVES_MESSAGE_MALFORMED') return
    if (error.code.startsWith('STORE_')) throw error
  }
  log.error({ err: error }, 'a message could not be checked, it is refused')
}
