import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareProgram } from '../../src/lens/program/program.ts'
import {
  createRunningLens,
  enterLens,
  nowhere,
  readRunningLens,
  showBlock,
  showRunningLens,
} from '../../src/lens/running-lens.ts'
import { buildLens, op } from './support/lens.ts'

test('a thread is in no lens while documents are read, outputs taken and after a trap', () => {
  const running = createRunningLens()
  showRunningLens(running)
  const seen: (number | null)[] = []
  const note = (): void => void seen.push(readRunningLens(running).lens)
  function* documents(): Generator<string> {
    note()
    yield '{}'
    note()
  }
  const identity = { wasm: buildLens(), args: '' }
  prepareProgram([identity, identity], null).run(documents(), note)
  assert.deepEqual(seen, [null, null, null])
  const trap = { wasm: buildLens({ transform: op.unreachable }), args: '' }
  assert.throws(() => prepareProgram([identity, trap], null).run(['{}'], note))
  assert.deepEqual(readRunningLens(running), nowhere)
})

test('a thread shows the block that it was given last, and none with the next job', () => {
  const running = createRunningLens()
  showRunningLens(running)
  for (const block of [0, 2 ** 48 - 2, null]) {
    showBlock(block)
    assert.deepEqual(readRunningLens(running), { lens: null, block })
  }
  showBlock(7)
  const next = createRunningLens()
  showRunningLens(next)
  assert.deepEqual(readRunningLens(next), nowhere)
})

test('a lens that takes documents of another one is shown again once that is left', () => {
  const running = createRunningLens()
  showRunningLens(running)
  const outside = enterLens(2)
  const taking = enterLens(1)
  assert.equal(readRunningLens(running).lens, 1)
  enterLens(taking)
  assert.equal(readRunningLens(running).lens, 2)
  enterLens(outside)
  assert.deepEqual(readRunningLens(running), nowhere)
})
