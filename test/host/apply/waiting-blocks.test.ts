/** What waits beside the chain: how much, and whose goes first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWaitingBlocks, type WaitingBlocks } from '../../../src/host/apply/waiting-blocks.ts'
import { verifyBody } from '../../../src/primitives/body/body.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import {
  sealBlock,
  type TestSealedBlock,
  testNetwork,
  testSigner,
} from '../../support/chain/sealed-blocks.ts'

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

test('bytes are shared evenly: a signer with more loses those of its highest blocks', () => {
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

test('hundreds of signers fill no more than a few do, and push out none that has little', () => {
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

/** A block with a body of so many bytes, and documents that take so many unpacked. */
function putSized(
  waiting: WaitingBlocks,
  number: number,
  signers: readonly string[],
  sizes: { readonly body?: number; readonly raw?: number; readonly count?: number; root?: string },
): void {
  const documents = {
    ...verifyBody(testNetwork, (blocks[0] ?? assert.fail()).body),
    rawBytes: sizes.raw ?? 0,
    count: sizes.count ?? 0,
  }
  const block = { number, hash: `0x${number}`, parentHash: `0x${number - 1}` }
  const root = sizes.root ?? `root ${number}`
  waiting.put({ ...block, root, body: new Uint8Array(sizes.body ?? 1), documents }, signers)
}

const unpackedHeights = (waiting: WaitingBlocks): number[] =>
  [...waiting.all()].filter(({ documents }) => documents !== null).map(({ number }) => number)

test('of two sets of documents one can be removed, and the other stays', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 10, maxBytes: 100 })
  for (const root of ['one', 'other']) putSized(waiting, 1, ['A'], { root })
  const [one = assert.fail()] = waiting.variants('0x1')
  waiting.remove(one)
  assert.deepEqual(
    waiting.variants('0x1').map(({ root }) => root),
    ['other'],
  )
})

test('the bytes that are held are those of the bodies, also of one that came twice', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 10, maxBytes: 100 })
  for (const number of [1, 2, 2]) putSized(waiting, number, ['A'], { body: 10 * number })
  assert.equal(waiting.bytes, 30)
  waiting.removeBelow(2)
  assert.equal(waiting.bytes, 20)
})

test('a share of the bytes may be filled to the last one, and no more bodies go than have to', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 10, maxBytes: 20 })
  for (const number of [1, 2]) putSized(waiting, number, ['A'], { body: 10 })
  assert.deepEqual(bodied(waiting), [1, 2])
  putSized(waiting, 3, ['A'], { body: 10 })
  assert.deepEqual(bodied(waiting), [1, 2])
  assert.deepEqual(unpackedHeights(waiting), [1, 2])
})

test('a signer of whom nothing waits any more has no share', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 10, maxBytes: 20 })
  putSized(waiting, 1, ['A'], { body: 10 })
  waiting.removeBelow(2)
  for (const number of [2, 3]) putSized(waiting, number, ['B'], { body: 10 })
  assert.deepEqual(bodied(waiting), [2, 3])
})

test('a signer without any block answers for one rather than a signer with one', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 1, maxBytes: 100 })
  putSized(waiting, 1, ['A'], {})
  putSized(waiting, 2, ['A', 'B'], {})
  assert.deepEqual(heights(waiting), [1, 2])
})

test('with many signers it is the one with most blocks who loses its oldest', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 3, maxBytes: 1_000 })
  for (const number of [1, 2]) putSized(waiting, number, ['small'], {})
  for (const number of [3, 4, 5]) putSized(waiting, number, ['large'], {})
  for (let number = 6; number <= 25; number++) putSized(waiting, number, [`${number}`], {})
  assert.equal(waiting.size, 24)
  assert.ok(!heights(waiting).includes(3))
})

test('unpacked documents count with what each takes beside its bytes, to the last byte', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 100, maxBytes: 1_000 })
  const count = 10_000
  const raw = 8 * 1024 * 1024 - 200 * count
  for (const number of [1, 2, 3, 4]) putSized(waiting, number, ['A'], { raw, count })
  assert.deepEqual(unpackedHeights(waiting), [1, 2, 3, 4])
  putSized(waiting, 5, ['A'], { raw, count })
  assert.deepEqual(unpackedHeights(waiting), [2, 3, 4, 5])
  for (const removed of waiting.variants('0x5')) waiting.remove(removed)
  putSized(waiting, 6, ['A'], { raw, count })
  assert.deepEqual(unpackedHeights(waiting), [2, 3, 4, 6], 'what is gone takes nothing')
})

test('what lies below what is kept is forgotten', () => {
  const waiting = createWaitingBlocks({ maxBlocks: 100, maxBytes: 1 << 30 })
  for (const block of blocks) put(waiting, block, 'A')
  waiting.removeBelow(39)
  assert.deepEqual(heights(waiting), [39, 40])
})
