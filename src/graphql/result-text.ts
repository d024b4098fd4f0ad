/**
 * The JSON text of an answer in pieces, so that turning a large answer into text neither holds up
 * the thread nor needs a second copy of all of it.
 */
import type { Json } from './commit-view.ts'
import type { GraphqlResult } from './graphql.ts'

/** About this much text is made at once: some 0.2 ms of work. */
const pieceLength = 64 * 1024

/** The answer's JSON, `data` first. Joined, the pieces are what `JSON.stringify` would give. */
export function* resultPieces({ data, errors }: GraphqlResult): Generator<string> {
  if (data === null) {
    yield '{"data":null'
  } else {
    let before = '{"data":{'
    for (const [key, value] of Object.entries(data)) {
      yield `${before}${JSON.stringify(key)}:`
      yield* valuePieces(value)
      before = ','
    }
    yield before === ',' ? '}' : '{"data":{}'
  }
  yield errors === undefined ? '}' : `,"errors":${JSON.stringify(errors)}}`
}

/** What rows have taken so far tells how many of the next ones make a piece. */
function* valuePieces(value: Json): Generator<string> {
  if (!Array.isArray(value) || value.length === 0) {
    yield JSON.stringify(value)
    return
  }
  let before = '['
  let count = 1
  for (let from = 0; from < value.length; ) {
    const rows = value.slice(from, from + count)
    const text = JSON.stringify(rows)
    yield before + text.slice(1, -1)
    before = ','
    from += count
    const fitting = Math.floor((pieceLength * rows.length) / text.length)
    count = Math.max(1, Math.min(count * 4, fitting))
  }
  yield ']'
}
