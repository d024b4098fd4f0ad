/** Bounds on numbers from outside; every decoder checks them before the numbers are used. */

/** Heights, indexes and counts of documents are GraphQL Ints (GraphQL specification, 3.5.1): 32 bits with a sign. */
export const maxInt: number = 2 ** 31 - 1

/** Seconds since 1970 that a block's time may be: what six bytes hold. */
export const maxTimestamp: number = 2 ** 48 - 1

/** Whether a number can be a height, an index or another Int. */
export function isInt(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= maxInt
}
