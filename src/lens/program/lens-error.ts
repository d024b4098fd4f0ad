/** What goes wrong in a lens, as errors that name its place in the View. */
import { type ErrorCode, ServiceError } from '../../errors.ts'

/** A failure of the lens at `place`, 1 being the first. */
export function lensError(
  code: ErrorCode,
  place: number,
  what: string,
  remedy: string,
): ServiceError {
  return new ServiceError(code, `lens ${place} ${what}`, { facts: { lens: place }, remedy })
}

const mend = 'Mend the lens, and register the View with it again.'

/** A lens that does not keep to the ABI. */
export function abiError(place: number, what: string): ServiceError {
  return lensError('LENS_OUTPUT_INVALID', place, what, mend)
}

/**
 * What is thrown out of WebAssembly: traps and exhausted call stacks become `LENS_TRAPPED`. All else is not the
 * lens's doing and returned as it is, what the source of documents threw for instance.
 */
export function thrownError(place: number, during: string, error: unknown): unknown {
  if (error instanceof WebAssembly.RuntimeError || isStackOverflow(error))
    return lensError('LENS_TRAPPED', place, `trapped in ${during}: ${error.message}`, mend)
  // A result of the wrong type that `lens.next` is declared with.
  if (error instanceof TypeError && /BigInt/.test(error.message))
    return abiError(place, `declares lens.next with another type than () -> i32`)
  return error
}

function isStackOverflow(error: unknown): error is RangeError {
  return error instanceof RangeError && error.message.startsWith('Maximum call stack size')
}

const maxErrorCharacters = 500

/** A text out of a lens on one line, cut where it is long. */
export function onOneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > maxErrorCharacters ? `${line.slice(0, maxErrorCharacters)}…` : line
}
