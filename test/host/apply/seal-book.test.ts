/** Which seals a Host keeps: the same ones in whatever order they come. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createSealBook, type SealBook } from '../../../src/host/apply/seal-book.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { namedHash, opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const [alice, bob] = ['02'.repeat(33), '03'.repeat(33)]

/** The seal of a signer over a root of a block; not signed, which the book leaves to others. */
function sealOf(identity: string, block: string, root = 'a'): Seal {
  const merkleRoot = namedHash(`root ${root}`).slice(2)
  return { ...opaqueSeal(5, 'main', identity), blockHash: namedHash(block), merkleRoot }
}

const nameOf = ({ signatureIdentity, blockHash, merkleRoot }: Seal): string =>
  `${signatureIdentity} ${blockHash} ${merkleRoot}`
const names = (seals: readonly Seal[]): string[] => seals.map(nameOf).sort()

async function openBook(
  t: TestContext,
  storedBlock: string | null = null,
  mostSigners = 256,
): Promise<{ book: SealBook; store: StoreWriter; stored(): string[] }> {
  const store = await openTestStore(t)
  const storedHash = (): string | undefined =>
    storedBlock === null ? undefined : namedHash(storedBlock)
  const book = createSealBook({ store, storedHash, mostSigners: () => mostSigners })
  book.setAccepted(() => true)
  const stored = (): string[] => store.reader.read((snapshot) => names(snapshot.seals(5)))
  return { book, store, stored }
}

describe('seals of a height', () => {
  test('are kept whether or not their block is stored, and counted by root', async (t) => {
    const { book, stored } = await openBook(t)
    const seals = [sealOf(alice, 'block'), sealOf(bob, 'block'), sealOf(bob, 'other')]
    assert.deepEqual(book.admit(5, seals), seals)
    assert.deepEqual(book.admit(5, seals), [])
    await book.flush()
    assert.deepEqual(stored(), names(seals))
    const root = namedHash('root a').slice(2)
    assert.deepEqual([...book.votes(5, namedHash('block'))], [[root, 2]])
    assert.ok(book.isSealedBy(5, namedHash('other'), bob))
    assert.ok(!book.isSealedBy(5, namedHash('other'), alice))
  })

  test('count for nobody until it is said who is accepted', async (t) => {
    const store = await openTestStore(t)
    const book = createSealBook({ store, storedHash: () => undefined, mostSigners: () => 256 })
    book.admit(5, [sealOf(alice, 'block')])
    assert.deepEqual([...book.votes(5, namedHash('block'))], [])
    book.setAccepted((identity) => identity === alice)
    assert.deepEqual(
      [...book.votes(5, namedHash('block'))].map(([, votes]) => votes),
      [1],
    )
  })

  test('of a signer that is not accepted are neither shown nor counted, and come back with it', async (t) => {
    const { book } = await openBook(t)
    book.admit(5, [sealOf(alice, 'block'), sealOf(bob, 'block')])
    book.setAccepted((identity) => identity === bob)
    assert.deepEqual(names(book.at(5)), names([sealOf(bob, 'block')]))
    assert.deepEqual([...book.votes(5, namedHash('block')).values()], [1])
    book.setAccepted(() => true)
    assert.equal(book.at(5).length, 2)
  })

  test('are read from the store once', async (t) => {
    const store = await openTestStore(t)
    await store.putSeals(5, [sealOf(alice, 'block')])
    let reads = 0
    const read: typeof store.reader.read = (use) => {
      reads++
      return store.reader.read(use)
    }
    const counted = { ...store, reader: { ...store.reader, read } }
    const parts = { store: counted, storedHash: () => undefined, mostSigners: () => 256 }
    const book = createSealBook(parts)
    book.setAccepted(() => true)
    for (let time = 0; time < 3; time++) assert.deepEqual(book.at(5), [sealOf(alice, 'block')])
    assert.equal(reads, 1)
  })

  test('that were taken with their block are not written once more', async (t) => {
    const { book, store, stored } = await openBook(t)
    const seals = [sealOf(alice, 'block')]
    book.admit(5, seals)
    assert.deepEqual(book.takePending(5), seals)
    assert.deepEqual(book.takePending(5), [])
    await book.flush()
    assert.deepEqual(stored(), [])
    await store.putSealedBlock({ ...opaqueBlock(5), seals })
    assert.deepEqual(stored(), names(seals))
  })
})

/** Everything a signer may try at one height: twelve blocks, three roots each. */
const attempts = fc.array(
  fc.record({ block: fc.nat({ max: 11 }), root: fc.constantFrom('a', 'b', 'c') }),
  { maxLength: 60, size: 'max' },
)

describe('a signer that seals more than it may', () => {
  test('has one root a block, the smaller one', async (t) => {
    const { book, stored } = await openBook(t)
    const roots = ['a', 'b', 'c'].map((root) => sealOf(alice, 'block', root))
    for (const seal of [...roots, ...roots.toReversed()]) {
      book.admit(5, [seal])
      await book.flush()
    }
    const [smallest] = roots.sort((a, b) => (a.merkleRoot < b.merkleRoot ? -1 : 1))
    assert.ok(smallest)
    assert.deepEqual(stored(), [nameOf(smallest)])
  })

  test('has a smaller root taken for new, and not written before the larger one goes', async (t) => {
    const { book, stored } = await openBook(t)
    const [smaller, larger] = ['a', 'b']
      .map((root) => sealOf(alice, 'block', root))
      .sort((a, b) => (a.merkleRoot < b.merkleRoot ? -1 : 1))
    assert.ok(smaller && larger)
    assert.deepEqual(book.admit(5, [larger]), [larger])
    await book.flush()
    assert.deepEqual(book.admit(5, [smaller]), [smaller])
    assert.deepEqual(book.takePending(5), [])
    assert.deepEqual(stored(), [nameOf(larger)])
    await book.flush()
    assert.deepEqual(stored(), [nameOf(smaller)])
  })

  test('has eight blocks a height and that which is stored, and takes nobody’s room', async (t) => {
    const { book, stored } = await openBook(t, 'stored')
    const blocks = Array.from({ length: 300 }, (_, index) => sealOf(alice, `made up ${index}`))
    book.admit(5, blocks)
    book.admit(5, [sealOf(alice, 'stored'), sealOf(bob, 'stored')])
    await book.flush()
    const smallest = blocks.sort((a, b) => (a.blockHash < b.blockHash ? -1 : 1)).slice(0, 8)
    assert.deepEqual(stored(), names([...smallest, sealOf(alice, 'stored'), sealOf(bob, 'stored')]))
  })

  test('has a bounded number of signers, and those that it has can go on', async (t) => {
    const { book, stored } = await openBook(t, 'stored')
    const crowd = Array.from({ length: 300 }, (_, index) => index.toString(16).padStart(66, '0'))
    book.admit(
      5,
      crowd.map((identity) => sealOf(identity, 'stored')),
    )
    assert.equal(book.admit(5, [sealOf('ff'.repeat(33), 'stored')]).length, 0)
    assert.equal(book.admit(5, [sealOf(crowd[0] ?? '', 'other')]).length, 1)
    await book.flush()
    assert.equal(stored().length, 257)
  })

  test('takes the room of one signer, however many blocks it seals', async (t) => {
    const { book } = await openBook(t, null, 2)
    const twice = [sealOf(alice, 'block'), sealOf(alice, 'other')]
    assert.deepEqual(book.admit(5, twice), twice)
    const second = [sealOf(bob, 'block')]
    assert.deepEqual(book.admit(5, second), second)
    assert.deepEqual(book.admit(5, [sealOf('04'.repeat(33), 'block')]), [])
  })

  test('in whatever order its seals come, and whenever they are written, the same ones are kept', async (t) => {
    await fc.assert(
      fc.asyncProperty(attempts, fc.nat(), fc.nat({ max: 7 }), async (list, shuffle, pause) => {
        const seals = list.map(({ block, root }) => sealOf(alice, `block ${block}`, root))
        const turned = seals.map((_, index) => seals[(index * 7 + shuffle) % seals.length])
        const rest = seals.filter((seal) => !turned.includes(seal))
        const orders = [seals, [...turned, ...rest].filter((seal) => seal !== undefined)]
        const kept: string[][] = []
        for (const order of orders) {
          const { book, stored } = await openBook(t, 'block 3')
          for (const [index, seal] of order.entries()) {
            book.admit(5, [seal])
            if (index % 8 === pause) await book.flush()
          }
          await book.flush()
          assert.deepEqual(stored(), names(book.at(5)))
          kept.push(stored())
        }
        assert.deepEqual(kept[0], kept[1])
      }),
      { numRuns: 25 },
    )
  })
})
