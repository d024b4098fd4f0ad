import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createPieceGate,
  createPieceSink,
  notePieceTaken,
  stopPieces,
} from '../../../src/lens/child/piece-gate.ts'

const piece = Uint8Array.of(1)
const stopped = { name: 'AbortError', message: 'the job was stopped' }

test('four pieces may be on their way, and each that is taken lets another one go', () => {
  const gate = createPieceGate()
  let posted = 0
  const sink = createPieceSink(gate, () => {
    posted += 1
  })
  for (let count = 0; count < 4; count++) sink.put(piece)
  for (let count = 0; count < 3; count++) {
    notePieceTaken(gate)
    sink.put(piece)
  }
  assert.equal(posted, 7)
})

test('a job that is stopped hands over nothing more, however few pieces are on their way', () => {
  const gate = createPieceGate()
  const sink = createPieceSink(gate, () => assert.fail('nobody waits for it'))
  sink.throwIfStopped()
  stopPieces(gate)
  assert.throws(() => sink.throwIfStopped(), stopped)
  assert.throws(() => sink.put(piece), stopped)
})

test('a job whose result comes whole is never stopped, and hands over no piece', () => {
  const sink = createPieceSink(null, () => assert.fail('nobody asked for it'))
  sink.throwIfStopped()
  assert.throws(() => sink.put(piece), /a job that hands over pieces was asked for them/)
})
