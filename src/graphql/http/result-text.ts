/**
 * The JSON text of an answer in pieces, so that neither encoding nor sending it blocks the thread,
 * however large it is.
 */
import type { GraphqlResult } from '../graphql.ts'

/** No piece is longer: some 0.1 ms of work. */
const pieceLength = 64 * 1024

/**
 * The answer's JSON, `data` first. Pieces that were read are no longer held here; `onTaken` is called
 * with the length of each.
 */
export function resultPieces(
  { data, extensions, errors }: GraphqlResult,
  onTaken: (length: number) => void = () => undefined,
): Generator<string> {
  const rest = `${member('extensions', extensions)}${member('errors', errors)}}`
  return piecesOf(['{"data":', ...(data ?? ['null']), rest].reverse(), onTaken)
}

const member = (name: string, value: unknown): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`

/** The pieces of texts, the last of them first. */
function* piecesOf(texts: string[], onTaken: (length: number) => void): Generator<string> {
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    for (let at = 0; at < text.length; at += pieceLength) {
      const piece = text.slice(at, at + pieceLength)
      yield piece
      onTaken(piece.length)
    }
  }
}

/** The same in one text. */
export function resultText(result: GraphqlResult): string {
  return [...resultPieces(result)].join('')
}
