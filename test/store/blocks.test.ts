import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Body, openBody } from '../../src/primitives/body/body.ts'
import { blockSections, type Section } from '../../src/primitives/collections.ts'
import type { SealedBlockToStore, Snapshot } from '../../src/store/store.ts'
import { createChain, forkChain, shapes } from '../support/chain/block-factory.ts'
import { namedHash, opaqueBlock, opaqueSeal } from '../support/chain/opaque-blocks.ts'
import { storableBlock, valuesAt } from '../support/chain/store-blocks.ts'
import { openTestStore, storedChain } from '../support/test-store.ts'

const chain = createChain({ count: 6, shape: { ...shapes.tiny, transactions: 70, logs: 150 } })
const blocks = chain.map((block) => storableBlock(block))
const [first, second, third] = blocks
const identity = first?.seals[0]?.signatureIdentity ?? ''

function assertReadBack(snapshot: Snapshot, { header, body }: SealedBlockToStore): void {
  assert.deepEqual(snapshot.header(header.number), header)
  assert.deepEqual(Buffer.from(snapshot.body(header.number) ?? []), Buffer.from(body))
  assert.equal(snapshot.heightOf(header.hash), header.number)
  const stored = snapshot.block(header.number)
  assert.ok(stored)
  const opened = openBody(body)
  assert.deepEqual(stored.header, header)
  assert.deepEqual(stored.counts, opened.counts)
  assert.equal(stored.totalDifficulty, opened.totalDifficulty)
  for (const section of blockSections) {
    assert.deepEqual(valuesOf(stored, section), valuesOf(opened, section))
    assert.equal(stored.chunkCount(section), opened.chunkCount(section))
  }
  assert.equal(stored.chunkOf('Log', 64), 1)
  assert.deepEqual(stored.logsOf(3), opened.logsOf(3))
  assert.deepEqual(stored.entriesOf(3), opened.entriesOf(3))
  assert.equal(stored.transactionOfLog(140), opened.transactionOfLog(140))
  assert.equal(stored.transactionOfEntry(0), opened.transactionOfEntry(0))
}

function valuesOf(body: Body, section: Section): string[] {
  return Array.from({ length: body.counts[section] }, (_, position) =>
    Buffer.from(valuesAt(body, section, position)).toString('hex'),
  )
}

describe('a stored block', () => {
  it('is read back as it was put: header, body, documents and relations', async (t) => {
    const store = await openTestStore(t)
    for (const block of blocks) await store.putBlock(block)
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.range(), { tail: 1, head: 6 })
      for (const block of blocks) assertReadBack(snapshot, block)
    })
  })

  it('is absent before it is put, and so is everything about it', async (t) => {
    const store = await openTestStore(t)
    store.reader.read((snapshot) => {
      assert.equal(snapshot.range(), null)
      assert.equal(snapshot.header(1), undefined)
      assert.equal(snapshot.block(1), undefined)
      assert.equal(snapshot.body(1), undefined)
      assert.equal(snapshot.heightOf(first?.header.hash ?? ''), undefined)
      assert.equal(snapshot.firstUnsealed(identity), undefined)
      assert.deepEqual(snapshot.seals(1), [])
      assert.deepEqual(snapshot.sealsOf(first?.header.hash ?? ''), [])
      assert.deepEqual(snapshot.gaps(10), [])
      assert.deepEqual([...snapshot.candidates('from', Buffer.alloc(20), 0, 1e9, true)], [])
    })
  })

  it('can be put again without effect, and another one takes its place', async (t) => {
    const store = await openTestStore(t)
    const other = forkChain(chain, 1, { count: 1 }).at(-1)
    assert.ok(first && second && other)
    for (const block of [first, second, second]) await store.putSealedBlock(block)
    await store.putBlock(storableBlock(other))
    assert.deepEqual(storedChain(store.reader), [
      [1, first.header.hash],
      [2, other.hash],
    ])
    store.reader.read((snapshot) => {
      assert.equal(snapshot.heightOf(second.header.hash), undefined)
      assert.deepEqual(snapshot.sealsOf(second.header.hash), second.seals)
      const value = Buffer.from(second.header.hash.slice(2), 'hex')
      assert.deepEqual([...snapshot.candidates('blockHash', value, 0, 9, false)], [])
    })
  })

  it('takes the place of one that differs from it in its hash or its root alone', async (t) => {
    const store = await openTestStore(t)
    const block = opaqueBlock(2)
    for (const change of [{ root: 'ab'.repeat(32) }, { hash: namedHash('another') }]) {
      await store.putBlock(block)
      const header = { ...block.header, ...change }
      await store.putBlock({ ...block, header })
      store.reader.read((snapshot) => assert.deepEqual(snapshot.header(2), header))
    }
  })

  it('may arrive in any order; what is missing between is a gap', async (t) => {
    const store = await openTestStore(t)
    for (const height of [9, 3, 4, 12, 7]) await store.putBlock(opaqueBlock(height))
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.range(), { tail: 3, head: 12 })
      assert.deepEqual([...snapshot.heights(0, 99, false)], [3, 4, 7, 9, 12])
      assert.deepEqual([...snapshot.heights(4, 9, true)], [9, 7, 4])
      const gaps = [
        { from: 5, to: 6 },
        { from: 8, to: 8 },
        { from: 10, to: 11 },
      ]
      assert.deepEqual(snapshot.gaps(10), gaps)
      assert.deepEqual(snapshot.gaps(1), gaps.slice(0, 1))
    })
  })

  it('is written in the order of the calls, also without awaiting each', async (t) => {
    const store = await openTestStore(t)
    const writes = Array.from({ length: 80 }, (_, height) => {
      const block = opaqueBlock(height)
      return [store.putBlock(block), store.putSeals(height, block.seals)]
    })
    const removed = store.truncateAbove(69)
    await Promise.all([...writes.flat(), removed, store.putBlock(opaqueBlock(70, 300, 'other'))])
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.range(), { tail: 0, head: 70 })
      assert.equal(snapshot.header(70)?.hash, opaqueBlock(70, 1, 'other').header.hash)
      assert.equal(snapshot.firstUnsealed('02'.repeat(33)), 70)
    })
  })

  it('whose body cannot be read is refused, and the store goes on', async (t) => {
    const store = await openTestStore(t)
    const good = opaqueBlock(1)
    const bad = { ...good, body: good.body.subarray(0, 20) }
    await assert.rejects(store.putBlock(bad), { code: 'PRIMITIVES_BODY_MALFORMED' })
    assert.deepEqual(storedChain(store.reader), [])
    await store.putBlock(good)
    assert.deepEqual(storedChain(store.reader), [[1, good.header.hash]])
  })
})

describe('a seal', () => {
  it('is kept once per hash, root and identity; the first one stays', async (t) => {
    const store = await openTestStore(t)
    const block = opaqueBlock(5)
    const seal = opaqueSeal(5)
    const other = opaqueSeal(5, 'main', '03'.repeat(33))
    await store.putBlock(block)
    await store.putSeals(5, [seal])
    await store.putSeals(5, [{ ...seal, createdAt: '2027-07-07T00:00:00Z' }, other])
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.seals(5), [seal, other])
      assert.deepEqual(snapshot.sealsOf(block.header.hash), [seal, other])
    })
  })

  it('is refused with the documents that it was put after, and stored another time', async (t) => {
    const store = await openTestStore(t)
    const { body, seals, ...block } = opaqueBlock(5)
    const puts = [
      store.putBlock({ ...block, body: body.subarray(0, 20) }),
      store.putSeals(5, seals),
    ]
    const refusal = { code: 'PRIMITIVES_BODY_MALFORMED' }
    await Promise.all(puts.map((put) => assert.rejects(put, refusal)))
    const stored = () => store.reader.read((snapshot) => snapshot.seals(5))
    assert.deepEqual(stored(), [])
    await store.putSeals(5, seals)
    assert.deepEqual(stored(), seals)
  })

  it('of a removed block is kept, and found again when its branch returns', async (t) => {
    const store = await openTestStore(t)
    assert.ok(first && second && third)
    for (const block of [first, second, third]) await store.putSealedBlock(block)
    await store.truncateAbove(1)
    await store.putSealedBlock(opaqueBlock(2))
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.sealsOf(second.header.hash), second.seals)
      assert.equal(snapshot.seals(2).length, 2)
      assert.equal(snapshot.firstUnsealed(identity), 2)
    })
    await store.truncateAbove(1)
    await store.putBlock(second)
    store.reader.read((snapshot) => assert.equal(snapshot.firstUnsealed(identity), undefined))
  })

  it('shows where a Generator resumes: at the first block it has not sealed', async (t) => {
    const store = await openTestStore(t)
    for (const block of blocks) await store.putBlock(block)
    const resume = (): number | undefined =>
      store.reader.read((snapshot) => snapshot.firstUnsealed(identity))
    assert.equal(resume(), 1)
    for (const block of blocks.slice(0, 4)) await store.putSeals(block.header.number, block.seals)
    assert.equal(resume(), 5)
    await store.putSeals(6, blocks[5]?.seals ?? [])
    assert.equal(resume(), 5)
    await store.putSeals(5, blocks[4]?.seals ?? [])
    assert.equal(resume(), undefined)
    const other = store.reader.read((snapshot) => snapshot.firstUnsealed('03'.repeat(33)))
    assert.equal(other, 1)
  })

  it('is missing from block 0 on, whoever is asked about', async (t) => {
    const store = await openTestStore(t)
    const resume = (signer: string): number | undefined =>
      store.reader.read((snapshot) => snapshot.firstUnsealed(signer))
    const [one, other] = [opaqueSeal(0).signatureIdentity, '03'.repeat(33)]
    for (const height of [0, 1]) await store.putBlock(opaqueBlock(height))
    assert.equal(resume(one), 0)
    for (const height of [0, 1]) await store.putSeals(height, [opaqueSeal(height)])
    assert.equal(resume(one), undefined)
    assert.equal(resume(other), 0)
  })

  it('is missing again where a block is put below those that were sealed', async (t) => {
    const store = await openTestStore(t)
    const resume = (): number | undefined =>
      store.reader.read((snapshot) => snapshot.firstUnsealed(opaqueSeal(1).signatureIdentity))
    for (const height of [1, 2, 4, 5]) await store.putSealedBlock(opaqueBlock(height))
    assert.equal(resume(), undefined)
    await store.putBlock(opaqueBlock(0))
    assert.equal(resume(), 0)
    await store.putSeals(0, [opaqueSeal(0)])
    assert.equal(resume(), undefined)
    await store.putBlock(opaqueBlock(3))
    assert.equal(resume(), 3)
    await store.putSeals(3, [opaqueSeal(3)])
    assert.equal(resume(), undefined)
    const others = [2, 3, 4, 5].map((height) => opaqueBlock(height, 100, 'other'))
    const [second, ...further] = others
    assert.ok(second)
    await store.replaceBlocks(2, 5, [{ ...second, seals: [] }, ...further])
    assert.equal(resume(), 2)
  })
})
