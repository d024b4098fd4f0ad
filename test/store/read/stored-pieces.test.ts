import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pieceBytes } from '../../../src/store/disk/layout.ts'
import { copyPieces } from '../../../src/store/read/stored-pieces.ts'

const pieces = 3
const whole = Uint8Array.from({ length: pieces * pieceBytes }, (_, at) => at % 251)

test('a part of what is stored in pieces is copied, of those pieces alone that it lies in', () => {
  const read: number[] = []
  // As of a store: one memory for all pieces, with bytes of something else behind the last.
  const shared = Buffer.alloc(pieceBytes + 100)
  const readPiece = (piece: number): Buffer => {
    read.push(piece)
    shared.fill(0xff)
    shared.set(whole.subarray(piece * pieceBytes, (piece + 1) * pieceBytes))
    return shared
  }
  for (const [start, length, places] of [
    [0, 0, []],
    [0, 1, [0]],
    [0, pieceBytes, [0]],
    [0, pieceBytes + 1, [0, 1]],
    [pieceBytes - 1, 2, [0, 1]],
    [pieceBytes, 7, [1]],
    [pieceBytes, pieceBytes, [1]],
    [5, 3 * pieceBytes - 5, [0, 1, 2]],
  ] as const) {
    read.length = 0
    const copy = copyPieces(readPiece, start, length)
    assert.deepEqual(copy, Buffer.from(whole.subarray(start, start + length)), `from ${start}`)
    assert.deepEqual(read, places)
  }
})
