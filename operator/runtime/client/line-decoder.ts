/** Cuts a stream of bytes into lines of text, as watches send them: one JSON document in each. */
import { ServiceError } from '../../../src/errors.ts'

const newline = 0x0a

/**
 * The lines without their ends; blank ones are left out. Throws OPERATOR_API_ANSWER_TOO_LARGE for a line above
 * `maxBytes` and OPERATOR_API_ANSWER_MALFORMED where the stream ends within a line.
 */
export async function* decodeLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string, void, undefined> {
  let begun: Uint8Array[] = []
  let begunBytes = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, end)
      start = end + 1
      checkSize(begunBytes + rest.length, maxBytes)
      const line = Buffer.concat([...begun, rest]).toString('utf8')
      begun = []
      begunBytes = 0
      if (line.trim() !== '') yield line
    }
    const rest = chunk.subarray(start)
    if (rest.length > 0) begun.push(rest)
    begunBytes += rest.length
    checkSize(begunBytes, maxBytes)
  }
  if (begunBytes > 0) {
    throw new ServiceError('OPERATOR_API_ANSWER_MALFORMED', 'a watch ended within a line', {
      facts: { bytes: begunBytes },
      remedy: 'Nothing: the watch is opened again.',
    })
  }
}

function checkSize(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return
  throw new ServiceError(
    'OPERATOR_API_ANSWER_TOO_LARGE',
    `a line of a watch has more than ${maxBytes} bytes`,
    { facts: { maxBytes }, remedy: 'Look for an object of an unusual size.' },
  )
}
