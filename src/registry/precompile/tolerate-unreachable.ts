/** Patience with a node that is not reached for a while: what was sent goes its way without it. */
import { ServiceError } from '../../errors.ts'

/**
 * Asks; null where the node was not reached and it is not yet `deadline`, by `performance.now()`.
 * @throws every other failure, and that of not reaching it after the deadline.
 */
export async function tolerateUnreachable<T>(
  deadline: number,
  ask: () => Promise<T>,
): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    const isUnreachable = error instanceof ServiceError && error.code === 'REGISTRY_UNREACHABLE'
    if (!isUnreachable || performance.now() > deadline) throw error
    return null
  }
}
