/** What the registry chain answers, as JSON: parsed on the main thread, so within bounds that keep that short. */
import { parseBoundedJson } from '../json-parts.ts'

/**
 * Values and brackets of an answer. A page of 500 Views has some 4,000, a transaction that acknowledges 30 Views some
 * 10,000; as many as this take some 20 ms.
 */
export const maxAnswerValues = 20_000

/** The value of a text. @throws RangeError where it has more values, SyntaxError where it is not JSON */
export function parseAnswerJson(text: string): unknown {
  return parseBoundedJson(text, maxAnswerValues)
}
