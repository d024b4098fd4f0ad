/** Reading a part of what is stored in pieces. */
import { pieceBytes } from '../disk/layout.ts'

/** Returns a piece, perhaps with other bytes behind it; valid until the next call. */
export type ReadPiece = (piece: number) => Buffer

/** A copy of `length` bytes from `start` on. */
export function copyPieces(readPiece: ReadPiece, start: number, length: number): Buffer {
  const target = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; ) {
    const piece = Math.floor((start + at) / pieceBytes)
    const from = start + at - piece * pieceBytes
    const count = Math.min(pieceBytes - from, length - at)
    readPiece(piece).copy(target, at, from, from + count)
    at += count
  }
  return target
}
