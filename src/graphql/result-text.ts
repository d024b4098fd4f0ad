/**
 * The JSON text of an answer in pieces, so that neither turning it into bytes nor sending it holds
 * up the thread, however large it is.
 */
import type { GraphqlResult } from './graphql.ts'

/** No piece is longer: some 0.1 ms of work. */
const pieceLength = 64 * 1024

/** The answer's JSON, `data` first. */
export function* resultPieces({ data, errors }: GraphqlResult): Generator<string> {
  yield '{"data":'
  for (const text of data ?? ['null']) {
    for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength)
  }
  yield errors === undefined ? '}' : `,"errors":${JSON.stringify(errors)}}`
}

/** The same in one text. */
export function resultText(result: GraphqlResult): string {
  return [...resultPieces(result)].join('')
}
