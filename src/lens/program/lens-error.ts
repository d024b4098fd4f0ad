/** What goes wrong in a lens, as errors that name its place in the View. */
import { type ErrorCode, type Fact, ServiceError } from '../../errors.ts'
import { abiRemedy } from '../module-reader.ts'

/** A failure of the lens at `place`, 1 being the first. */
export function lensError(
  code: ErrorCode,
  place: number,
  what: string,
  remedy: string,
  facts: Readonly<Record<string, Fact>> = {},
): ServiceError {
  const all = { lens: place, ...facts }
  return new ServiceError(code, `lens ${place} ${what}`, { facts: all, remedy })
}

/** What runs while an instance is made, as the fact `during` of `LENS_TRAPPED`. */
export const startSection = 'its start section'

const mend = 'Correct the lens, and register the View with it again.'

/** A lens that does not keep to the ABI. */
export function abiError(place: number, what: string): ServiceError {
  return lensError('LENS_OUTPUT_INVALID', place, what, mend)
}

/** A lens that does not export what it has to, which is the fact `export`. */
export function exportMissing(
  place: number,
  kind: 'function' | 'memory',
  name: string,
): ServiceError {
  const what = kind === 'memory' ? 'exports no memory' : `exports no function ${name}`
  return lensError('LENS_OUTPUT_INVALID', place, what, abiRemedy, { export: name })
}

/**
 * What is thrown out of WebAssembly: traps and exhausted call stacks become `LENS_TRAPPED` with the fact `during`. All else is
 * not the lens's doing and returned as it is, what the source of documents threw for instance.
 */
export function thrownError(place: number, during: string, error: unknown): unknown {
  if (error instanceof WebAssembly.RuntimeError || isStackOverflow(error))
    return lensError('LENS_TRAPPED', place, `trapped in ${during}: ${error.message}`, mend, {
      during,
    })
  return error
}

function isStackOverflow(error: unknown): error is RangeError {
  return error instanceof RangeError && error.message.startsWith('Maximum call stack size')
}
