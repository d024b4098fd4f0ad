/**
 * Every failure a user can meet: one class, one table of codes.
 *
 * A code says which room failed and why; the message says what happened with the facts of this
 * case; the remedy says what to do about it. README's error table is checked against `errorCodes`.
 */

/** Every code with its meaning, in one sentence. Rooms add theirs here and nowhere else. */
export const errorCodes = {
  CONFIG_INVALID: 'A setting is missing, mistyped, unknown or contradicts another one.',
} as const

export type ErrorCode = keyof typeof errorCodes

export type Fact = string | number | bigint | boolean | null

export interface ServiceErrorOptions {
  /** Machine-readable details of this case; never a secret. */
  readonly facts?: Readonly<Record<string, Fact>>
  /** What the reader should do, in one sentence. */
  readonly remedy?: string
  readonly cause?: unknown
}

/** A failure with a stable code, the facts of the case and a remedy. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, Fact>>
  readonly remedy: string | undefined

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.facts = options.facts ?? {}
    this.remedy = options.remedy
  }
}

/** Throws when our own reasoning is wrong; never for bad input. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}
