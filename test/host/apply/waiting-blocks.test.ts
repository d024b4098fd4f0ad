/** What waits beside the chain: how much, and whose goes first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWaitingBlocks, type WaitingBlocks } from '../../../src/host/apply/waiting-blocks.ts'
import { verifyBody } from '../../../src/primitives/body.ts'
import { createChain } from '../../support/block-factory.ts'
import {
  sealBlock,
  type TestSealedBlock,
  testNetwork,
  testSigner,
} from '../../support/sealed-blocks.ts'

const signer = testSigner('alice')
const blocks = createChain({ count: 40, from: 1 }).map((block) => sealBlock(block, signer))
const [size = 0] = blocks.map(({ body }) => body.length).sort((a, b) => b - a)

function put(waiting: WaitingBlocks, block: TestSealedBlock, ...signers: string[]): void {
  const documents = verifyBody(testNetwork, block.body)
  const { number, hash, parentHash, root } = documents
  waiting.put({ number, hash, parentHash, root, body: block.body, documents }, signers)
}

const heights = (waiting: WaitingBlocks): number[] => [...waiting.all()].map(({ number }) => number)
const bodied = (waiting: WaitingBlocks): number[] =>
  [...waiting.all()].filter(({ body }) => body !== null).map(({ number }) => number)

test('a block is found by its hash with each of its sets of documents, until it is removed', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 10, maxBytes: 1 << 20 })
  const [first] = blocks
  assert.ok(first)
  put(waiting, first, 'A')
  put(waiting, first, 'B')
  const [found, ...others] = waiting.variants(first.hash)
  assert.deepEqual([found?.root, others.length], [first.seal.merkleRoot, 0])
  assert.deepEqual(found?.body, first.body)
  assert.ok(found)
  waiting.remove(found)
  assert.deepEqual([waiting.variants(first.hash), waiting.size, waiting.bytes], [[], 0, 0])
})

test('a signer has room for so many blocks: its oldest go, and nobody else’s', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 5, maxBytes: 1 << 30 })
  for (const block of blocks.slice(0, 3)) put(waiting, block, 'honest')
  for (const block of blocks.slice(3)) put(waiting, block, 'liar')
  assert.deepEqual(heights(waiting), [1, 2, 3, 36, 37, 38, 39, 40])
})

test('a block that several sealed is on the account of the one with the most room', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 5, maxBytes: 1 << 30 })
  for (const block of blocks.slice(0, 5)) put(waiting, block, 'liar')
  put(waiting, blocks[5] ?? assert.fail(), 'liar', 'honest')
  for (const block of blocks.slice(6, 20)) put(waiting, block, 'liar')
  assert.ok(heights(waiting).includes(6))
})

test('bytes are shared evenly: of whoever has more, the highest blocks lose theirs and keep their place', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 100, maxBytes: 10 * size })
  put(waiting, blocks[39] ?? assert.fail(), 'honest')
  for (const block of blocks.slice(0, 20)) put(waiting, block, 'liar')
  assert.equal(waiting.size, 21)
  assert.ok(waiting.bytes <= 10 * size)
  const kept = bodied(waiting)
  assert.ok(kept.includes(40))
  assert.deepEqual(
    kept.filter((height) => height !== 40),
    kept.filter((height) => height !== 40).map((_, index) => index + 1),
  )
  put(waiting, blocks[19] ?? assert.fail(), 'liar')
  assert.equal(waiting.size, 21)
})

test('signers by the hundred fill no more than a few do, and push nobody out who has little', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 3, maxBytes: 1 << 30 })
  put(waiting, blocks[0] ?? assert.fail(), 'honest')
  for (const [index, block] of blocks.slice(1).entries()) put(waiting, block, `liar ${index >> 1}`)
  assert.equal(waiting.size, 24)
  assert.ok(heights(waiting).includes(1))
})

test('bytes that one signer filled make room for others: all together stay within the bound', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 100, maxBytes: 10 * size })
  for (const [index, signer] of ['a', 'b', 'c', 'd'].entries())
    for (const block of blocks.slice(10 * index, 10 * index + 10)) put(waiting, block, signer)
  assert.ok(waiting.bytes <= 10 * size, `${waiting.bytes / size} blocks`)
  const kept = bodied(waiting)
  for (const lowest of [1, 11, 21, 31]) assert.ok(kept.includes(lowest), `block ${lowest}`)
})

test('unpacked documents are held within bounds of their own, the newest longest', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 100, maxBytes: 1 << 30 })
  const documents = verifyBody(testNetwork, (blocks[0] ?? assert.fail()).body)
  for (let number = 1; number <= 100; number++) {
    const hash = `0x${number.toString(16).padStart(64, '0')}`
    const parentHash = `0x${(number - 1).toString(16).padStart(64, '0')}`
    const unpacked = { ...documents, rawBytes: 4 * 1024 * 1024 }
    const root = documents.root
    waiting.put({ number, hash, parentHash, root, body: new Uint8Array(10), documents: unpacked }, [
      'A',
    ])
  }
  const unpacked = [...waiting.all()].filter((block) => block.documents !== null)
  assert.deepEqual(
    unpacked.map(({ number }) => number),
    [94, 95, 96, 97, 98, 99, 100],
  )
})

test('what lies below what is kept is forgotten', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 100, maxBytes: 1 << 30 })
  for (const block of blocks) put(waiting, block, 'A')
  waiting.removeBelow(39)
  assert.deepEqual(heights(waiting), [39, 40])
})
