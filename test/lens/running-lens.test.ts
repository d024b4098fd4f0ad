import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareProgram } from '../../src/lens/program/program.ts'
import {
  createRunningLens,
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

test('a thread shows the block that it was told last, and none with the next job', () => {
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
