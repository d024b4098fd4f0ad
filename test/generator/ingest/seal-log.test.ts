import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareBlock } from '../../../src/generator/ingest/prepare-block.ts'
import { createSealLog } from '../../../src/generator/ingest/seal-log.ts'
import { encodeBlock } from '../../../src/generator/read/encode-block.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'

const headers = createChain({ count: 4 }).map(
  (block) => prepareBlock(encodeBlock(testNetwork, block)).header,
)

function linesOf(logBlocks: boolean, intervalMs: number): [string, unknown][] {
  const { log, lines } = captureLog()
  let nowMs = 0
  const sealed = createSealLog({ logBlocks }, log, () => (nowMs += intervalMs))
  for (const header of headers) sealed(header, 9)
  return lines.map(({ level, height }) => [level, height])
}

test('each sealed block has a line of level info, or one a second while there are many', () => {
  const each = [1, 2, 3, 4].map((height) => ['info', height])
  assert.deepEqual(linesOf(true, 1_000), each)
  assert.deepEqual(linesOf(true, 400), [
    ['info', 1],
    ['debug', 2],
    ['debug', 3],
    ['info', 4],
  ])
})

test('with LOG_BLOCKS=false the lines of sealed blocks are of level debug', () => {
  const each = [1, 2, 3, 4].map((height) => ['debug', height])
  assert.deepEqual(linesOf(false, 1_000), each)
})

test('a line says how far the block is behind, and how many were sealed since the last one', () => {
  const { log, lines } = captureLog()
  const times = [0, 0, 999, 1_000, 1_000]
  const sealed = createSealLog({ logBlocks: true }, log, () => times.shift() ?? 0)
  for (const [index, head] of [9, null, 1].entries()) {
    const header = headers[index]
    if (header !== undefined) sealed(header, head)
  }
  const facts = lines.map(({ level, height, behind, blocks }) => [level, height, behind, blocks])
  assert.deepEqual(facts, [
    ['info', 1, 8, 1],
    ['debug', 2, 0, undefined],
    ['info', 3, 0, 2],
  ])
})
