/**
 * An error as plain data and back: what crosses a thread or a process, and what a log line shows. A ServiceError
 * keeps code, facts, remedy and its chain of causes; everything else keeps name, message and stack.
 */
import { type ErrorCode, errorCodes, type Fact, ServiceError } from './errors.ts'

/** Structured-cloneable form of an error. */
export interface PlainError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly facts?: Readonly<Record<string, Fact>>
  readonly remedy?: string
  readonly stack?: string
  readonly cause?: PlainError
}

const maxCauses = 8

/** Anything that was thrown, as data; at most eight causes deep. */
export function toPlainError(error: unknown, depth = 0): PlainError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const code: unknown = 'code' in error ? error.code : undefined
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(error instanceof ServiceError && { facts: error.facts }),
    ...(error instanceof ServiceError && error.remedy !== undefined && { remedy: error.remedy }),
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(error.cause !== undefined &&
      depth < maxCauses && { cause: toPlainError(error.cause, depth + 1) }),
  }
}

/** The error that `toPlainError` took apart. */
export function fromPlainError(plain: PlainError): Error {
  const cause = plain.cause === undefined ? undefined : fromPlainError(plain.cause)
  const error = isErrorCode(plain.code)
    ? new ServiceError(plain.code, plain.message, {
        ...(plain.facts !== undefined && { facts: plain.facts }),
        ...(plain.remedy !== undefined && { remedy: plain.remedy }),
        ...(cause !== undefined && { cause }),
      })
    : Object.assign(new Error(plain.message, cause === undefined ? undefined : { cause }), {
        name: plain.name,
        ...(plain.code !== undefined && { code: plain.code }),
      })
  if (plain.stack !== undefined) error.stack = plain.stack
  return error
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(errorCodes, code)
}
