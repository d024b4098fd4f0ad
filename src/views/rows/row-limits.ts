/**
 * How large the rows of a View may be. What is beyond fails the block on every Host, so these follow from no setting,
 * and another value is another version of the runtime.
 */
import { ServiceError } from '../../errors.ts'

interface RowLimits {
  /** Bytes of a row as it is stored, before compression: a query reads a row without yielding. */
  readonly rowBytes: number
  /** Items of lists, and items and properties of `JSON` values, in one row; those inside others count as well. */
  readonly rowItems: number
  /** Bytes of all rows of a block before compression, with their values of `@index` fields a second time. */
  readonly blockBytes: number
  /** Values of `@index` fields in all rows of a block; one counts once in each chunk of 64 rows that has it. */
  readonly blockTerms: number
}

/** Those of runtime version 1. */
export const rowLimits: RowLimits = {
  rowBytes: 256 * 1024,
  rowItems: 10_000,
  blockBytes: 12 * 1024 * 1024,
  blockTerms: 20_000,
}

/** What the rows of a View are refused with; `what` says which limit they are beyond. */
export function rowLimitError(what: string, remedy: string): ServiceError {
  return new ServiceError('LENS_OUTPUT_LIMIT', what, { remedy })
}
