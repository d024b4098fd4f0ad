/** The argument `unmatched`: what becomes of what the ABI has no entry for. */
import { argument, argumentEnd, findArgument } from '../sdk/arguments'
import { isKey } from '../sdk/json-text'
import { errorItem } from '../sdk/output'

/** True where it is dropped. */
export let dropsUnmatched = false

/**
 * Reads the argument, which may be missing: `keep` or `drop`.
 * @returns 0, or the address of the error to answer.
 */
export function takeUnmatched(item: usize): usize {
  dropsUnmatched = false
  if (!findArgument(item, 'unmatched') || isKey(argument, argumentEnd, 'keep')) return 0
  dropsUnmatched = isKey(argument, argumentEnd, 'drop')
  return dropsUnmatched ? 0 : errorItem("the argument 'unmatched' is neither keep nor drop")
}
