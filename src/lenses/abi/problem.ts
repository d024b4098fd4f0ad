/** What is wrong with an ABI: the first problem that was found, for the error that the lens answers. */
import { beginError, endError, putByte, putText } from '../sdk/output'
import { Span } from '../sdk/span'

/** How much of what was given is shown. */
const MOST: usize = 80

let text = ''
let detail: Span = new Span(0, 0)

/** True where one was found since `clearProblem`. */
export let hasProblem = false

export function clearProblem(): void {
  hasProblem = false
}

/** Notes a problem with the bytes that it is about, unless there is one already. */
export function noteProblem(what: string, about: Span): void {
  if (hasProblem) return
  hasProblem = true
  text = what
  detail = about
}

/** The error to answer. */
export function problemItem(): usize {
  beginError(text)
  const length = min(detail.length, MOST)
  for (let index: usize = 0; index < length; index++) {
    const byte = load<u8>(detail.at + index)
    putByte(byte >= 0x20 && byte < 0x7f ? byte : 0x3f)
  }
  if (length < detail.length) putText('...')
  return endError()
}
