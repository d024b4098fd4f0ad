/** What is stored of a block at which a View failed, in the place of its rows. */

/** Why it failed. */
export interface StoredFailure {
  readonly code: string
  readonly message: string
  readonly remedy: string | null
  /** How often it was tried; what depends on time and memory is tried again later. */
  readonly attempts: number
}

export function encodeFailure(failure: StoredFailure): Uint8Array {
  return Buffer.from(JSON.stringify(failure))
}

/** What `encodeFailure` wrote. */
export function decodeFailure(bytes: Uint8Array): StoredFailure {
  return JSON.parse(Buffer.from(bytes).toString())
}
