/** Reads the request of a peer, who may have sent anything. */
import { ServiceError } from '../errors.ts'

/** Null for one that `decode` refuses. */
export function readRequest<T>(
  decode: (question: Uint8Array) => T,
  question: Uint8Array,
): T | null {
  try {
    return decode(question)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
