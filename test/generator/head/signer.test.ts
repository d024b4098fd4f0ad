/** What becomes of sealed blocks, questions to the node and heads of peers: on a real store, with a clock that the test moves. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../../src/errors.ts'
import { isValidSignature } from '../../../src/identity/signature.ts'
import { decodeHead, encodeHead, type Head, headDigest } from '../../../src/primitives/head.ts'
import { namedHash, opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { signHead, testGenesis } from '../../support/chain/signed-heads.ts'
import type { Collection } from '../support/collection.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { headKey as key, openSigner } from '../support/open-signer.ts'

const seconds = 1_000
const minutes = 60 * seconds

const numbers = ({ items }: Collection<Head>): number[] => items.map(({ number }) => number)
const sequences = ({ items }: Collection<Head>): number[] => items.map(({ sequence }) => sequence)

describe('the head of a sealed block', () => {
  test('says network, block 0, block, sequence and how far the node is, under our signature', async (t) => {
    const { seal, signer, heads, clock } = await openSigner(t)
    signer.setNodeHeight(170)
    await seal(120)
    const [head = assert.fail('no head')] = heads.items
    const { signatureType, signatureIdentity, signatureValue, ...statement } = head
    assert.deepEqual(statement, {
      network: testNetwork,
      genesisHash: testGenesis,
      number: 120,
      hash: namedHash('main:120'),
      sequence: clock.unixMs(),
      nodeHeight: 170,
    })
    assert.equal(signatureIdentity, key.identity)
    assert.ok(isValidSignature(signatureType, signatureIdentity, headDigest(head), signatureValue))
  })

  test('waits until block 0 is known', async (t) => {
    const { seal, signer, heads, clock } = await openSigner(t, { genesis: null })
    await seal(5)
    clock.advance(5 * seconds)
    assert.deepEqual(heads.items, [])
    signer.setGenesis(testGenesis)
    await heads.first(({ number }) => number === 5)
  })

  test('comes twice a second at most, and always for the last block', async (t) => {
    const { seal, heads, clock } = await openSigner(t)
    for (let height = 1; height <= 12; height++) {
      await seal(height)
      clock.advance(100)
    }
    await heads.first(({ number }) => number === 10)
    clock.advance(500)
    await heads.first(({ number }) => number === 12)
    assert.deepEqual(numbers(heads), [1, 5, 10, 12])
  })

  test('comes once a block where blocks come every 12 seconds, and the node is asked nothing', async (t) => {
    const { seal, heads, clock, asked } = await openSigner(t)
    for (let height = 1; height <= 10; height++) {
      await seal(height)
      clock.advance(12 * seconds)
    }
    assert.deepEqual(numbers(heads), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    assert.deepEqual(asked.items, [])
  })
})

describe('while no block comes', () => {
  test('the head is signed again every 15 seconds, each time after the node confirmed the block', async (t) => {
    const { seal, heads, clock, asked } = await openSigner(t)
    await seal(7)
    const [first = 0] = sequences(heads)
    for (const sequence of [first + 1, first + 2, first + 3]) {
      clock.advance(15 * seconds - 1)
      assert.equal(sequences(heads).at(-1), sequence - 1)
      clock.advance(1)
      asked.items.at(-1)?.answer(namedHash('main:7'))
      await heads.first((head) => head.sequence === sequence)
    }
    assert.deepEqual(
      asked.items.map(({ height }) => height),
      [7, 7, 7],
    )
    assert.deepEqual(numbers(heads), [7, 7, 7, 7])
  })

  test('a Generator whose node does not respond is silent until the node is back', async (t) => {
    const { seal, heads, clock, asked } = await openSigner(t)
    await seal(7)
    clock.advance(10 * minutes)
    assert.equal(heads.items.length, 1)
    assert.equal(asked.items.length, 1, 'one question waits until the node is back')
    asked.items[0]?.answer(namedHash('main:7'))
    await heads.first(() => heads.items.length === 2)
    assert.deepEqual(numbers(heads), [7, 7])
  })

  test('a node that does not know the block is asked again, and the Generator is silent', async (t) => {
    const { seal, heads, clock, asked, differences } = await openSigner(t)
    await seal(7)
    clock.advance(15 * seconds)
    for (let times = 1; times <= 5; times++) {
      asked.items.at(-1)?.answer(null)
      await nextTurn()
      clock.advance(5 * seconds)
      assert.equal(asked.items.length, times + 1)
    }
    assert.equal(heads.items.length, 1)
    assert.equal(differences(), 0)
  })

  test('a node with another block is followed, not confirmed', async (t) => {
    const { seal, heads, clock, asked, differences } = await openSigner(t)
    await seal(7)
    clock.advance(15 * seconds)
    asked.items[0]?.answer(namedHash('other:7'))
    await nextTurn()
    clock.advance(5 * seconds)
    assert.deepEqual([differences(), asked.items.length, heads.items.length], [1, 2, 1])
  })
})

describe('a sequence', () => {
  test('continues after the stored one, whatever the clock says', async (t) => {
    const first = await openSigner(t)
    const { store } = first
    await first.seal(1)
    await first.signer.close()
    const [before = 0] = sequences(first.heads)
    const clock = createFakeClock(0)
    const second = await openSigner(t, { store, clock })
    await second.seal(2)
    assert.deepEqual(sequences(second.heads), [before + 1])
  })

  test('of another key, whose head is in the store, counts nothing', async (t) => {
    const { store, seal, heads, clock } = await openSigner(t)
    const foreign = signHead(testSigner('former'), { number: 1, sequence: 2 ** 50 })
    await store.putRecord('head', encodeHead(foreign))
    const second = await openSigner(t, { store, clock })
    await second.seal(2)
    assert.deepEqual(sequences(second.heads), [clock.unixMs()])
    await seal(3)
    assert.deepEqual(sequences(heads), [clock.unixMs()])
  })

  test('continues above the head that a peer has, half a second after the last one', async (t) => {
    const { seal, signer, heads, clock } = await openSigner(t)
    await seal(50)
    const [first = 0] = sequences(heads)
    signer.found(signHead(key, { number: 40, sequence: first + 1_000 }))
    signer.found(signHead(key, { number: 30, sequence: first + 10 }))
    assert.deepEqual(sequences(heads), [first])
    clock.advance(500)
    await heads.first(({ sequence }) => sequence === first + 1_001)
    assert.deepEqual(numbers(heads), [50, 50])
  })

  test('is not spoilt by the highest number there is', async (t) => {
    const { seal, signer, heads, clock } = await openSigner(t)
    await seal(50)
    signer.found(signHead(key, { number: 51, sequence: Number.MAX_SAFE_INTEGER }))
    clock.advance(seconds)
    await seal(51)
    const [first = 0] = sequences(heads)
    assert.deepEqual(sequences(heads), [first, first + 1])
  })
})

describe('our own heads at peers', () => {
  test('a thousand old ones neither stop a Generator nor make it sign more than two a second', async (t) => {
    const { seal, signer, heads, clock, log } = await openSigner(t, { clock: createFakeClock(0) })
    await seal(90)
    for (let sequence = 1; sequence <= 1_000; sequence++) {
      signer.found(
        signHead(key, { number: 80, nodeHeight: sequence % 100, sequence: 10 * sequence }),
      )
      clock.advance(10)
    }
    await heads.first(({ sequence }) => sequence > 9_900)
    assert.ok(heads.items.length <= 21, `${heads.items.length} heads in ten seconds`)
    assert.deepEqual(log.messages('warn'), [])
    await seal(91)
  })

  test('three that were signed after the start stop it: its key runs twice', async (t) => {
    const { seal, signer, heads, clock, failed, log } = await openSigner(t)
    await seal(101)
    for (let time = 1; time <= 3; time++) {
      const sequence = (sequences(heads).at(-1) ?? 0) + 5
      signer.found(signHead(key, { number: 100 + time, sequence }))
      clock.advance(minutes)
      if (time < 3) await seal(101 + time)
    }
    const error = await failed
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'GENERATOR_KEY_RUNS_TWICE')
    assert.equal(
      error.message,
      'The key of this Generator runs twice: another program that has it signed heads three times in ten minutes, the last one at height 103.',
    )
    assert.match(error.remedy ?? '', /^Stop the other program .*DB_KEY_PATH/)
    const warning = 'another program signs heads with the key of this Generator'
    assert.deepEqual(log.messages('warn'), [warning, warning, warning])
    const before = heads.items.length
    await seal(110)
    clock.advance(minutes)
    assert.equal(heads.items.length, before, 'nothing is signed after that')
  })

  test('as do three below ours, of a program that began before: peers may hear it alone', async (t) => {
    const { seal, signer, clock, failed } = await openSigner(t)
    await seal(101)
    for (let time = 1; time <= 3; time++) {
      signer.found(signHead(key, { number: 101 + time, sequence: time }))
      clock.advance(2 * minutes)
      signer.setNodeHeight(101 + time)
      if (time < 3) await seal(101 + time)
    }
    const error = await failed
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'GENERATOR_KEY_RUNS_TWICE')
  })

  test('those from before a restart, shown in whatever order, say nothing', async (t) => {
    const first = await openSigner(t)
    const { store, clock } = first
    await first.seal(101)
    await first.signer.close()
    const [last = 0] = sequences(first.heads)
    const second = await openSigner(t, { store, clock })
    await second.seal(90)
    for (let time = 0; time < 10; time++) {
      second.signer.found(signHead(key, { number: 101 + time, sequence: last - time }))
      clock.advance(2 * minutes)
    }
    await second.seal(91)
    assert.deepEqual(second.log.messages('warn'), [])
  })

  test('those of another chain under the same name are passed over, and never stop it', async (t) => {
    const { seal, signer, heads, clock, log } = await openSigner(t, { clock: createFakeClock(0) })
    await seal(101)
    const genesisHash = namedHash('another')
    for (let time = 1; time <= 5; time++) {
      signer.found(signHead(key, { genesisHash, number: 900 + time, sequence: 1e6 * time }))
      clock.advance(minutes)
    }
    await seal(102)
    assert.deepEqual(sequences(heads).at(-1), 5e6 + 1)
    assert.deepEqual(log.messages('warn'), [])
  })
})

describe('a reorganisation', () => {
  test('leaves no head that is sent for a block that is gone', async (t) => {
    const { store, signer, heads, clock, asked } = await openSigner(t)
    const seals = (height: number) => [opaqueSeal(height, 'main', key.identity)]
    for (const height of [6, 7])
      await store.putSealedBlock({ ...opaqueBlock(height), seals: seals(height) })
    const sent = signer.sealed({ number: 7, hash: namedHash('main:7') }, clock.nowMs())
    signer.suspend()
    await Promise.all([sent, store.truncateAbove(6)])
    clock.advance(minutes)
    assert.deepEqual(heads.items, [], 'what was being written is not sent')
    signer.resume()
    asked.items[0]?.answer(namedHash('main:6'))
    await heads.first(({ number }) => number === 6)
    assert.deepEqual(numbers(heads), [6])
  })

  test('is reported at once where the node confirms what is left', async (t) => {
    const { store, seal, signer, heads, clock, asked } = await openSigner(t)
    for (const height of [6, 7]) {
      await seal(height)
      clock.advance(seconds)
    }
    signer.suspend()
    await store.truncateAbove(6)
    signer.resume()
    assert.equal(asked.items.length, 1)
    asked.items[0]?.answer(namedHash('main:6'))
    await heads.first(() => heads.items.length === 3)
    assert.deepEqual(numbers(heads), [6, 7, 6])
  })

  test('in sight keeps a block from being signed until the node has confirmed it', async (t) => {
    const { seal, signer, heads, clock, asked } = await openSigner(t)
    await seal(7)
    signer.doubt()
    clock.advance(seconds)
    assert.equal(heads.items.length, 1)
    asked.items[0]?.answer(namedHash('main:7'))
    await heads.first(() => heads.items.length === 2)
  })

  test('in sight keeps a head from being sent that was being written', async (t) => {
    const { store, signer, heads, clock, asked } = await openSigner(t)
    const seals = [opaqueSeal(7, 'main', key.identity)]
    await store.putSealedBlock({ ...opaqueBlock(7), seals })
    const sent = signer.sealed({ number: 7, hash: namedHash('main:7') }, clock.nowMs())
    signer.doubt()
    await sent
    assert.deepEqual(heads.items, [])
    clock.advance(seconds)
    asked.items[0]?.answer(namedHash('main:7'))
    await heads.first(({ number }) => number === 7)
  })

  test('in sight, or another block, makes an answer that comes later say nothing', async (t) => {
    for (const isInSight of [true, false]) {
      const { seal, signer, heads, clock, asked, differences } = await openSigner(t)
      await seal(7)
      clock.advance(15 * seconds)
      if (isInSight) signer.doubt()
      else await seal(8)
      const before = heads.items.length
      asked.items[0]?.answer(namedHash('other:7'))
      await nextTurn()
      assert.deepEqual([differences(), heads.items.length], [0, before])
    }
  })

  test('in sight ignores a block that the node returned before', async (t) => {
    const { seal, signer, heads, clock, asked } = await openSigner(t)
    await seal(7)
    clock.advance(seconds)
    const returnedMs = clock.nowMs()
    signer.doubt()
    await signer.sealed({ number: 8, hash: namedHash('main:8') }, returnedMs)
    assert.deepEqual(numbers(heads), [7])
    assert.deepEqual(
      asked.items.map(({ height }) => height),
      [7],
    )
  })

  test('to a block without a seal of ours, or to an empty store, is no place to stand', async (t) => {
    const { store, signer, heads, clock, asked } = await openSigner(t)
    signer.resume()
    await store.putSealedBlock(opaqueBlock(7))
    signer.resume()
    const merkleRoot = namedHash('another root').slice(2)
    const seals = [{ ...opaqueSeal(8, 'main', key.identity), merkleRoot }]
    await store.putSealedBlock({ ...opaqueBlock(8), seals })
    signer.resume()
    clock.advance(minutes)
    assert.deepEqual([heads.items, asked.items], [[], []])
  })
})

test('a close waits for the head that is being written, which is stored and not sent', async (t) => {
  const { store, signer, heads, clock, asked } = await openSigner(t)
  void signer.sealed({ number: 7, hash: namedHash('main:7') }, clock.nowMs())
  await signer.close()
  const record = store.reader.read((snapshot) => snapshot.record('head'))
  assert.equal(decodeHead(record ?? assert.fail('nothing is stored')).number, 7)
  clock.advance(minutes)
  assert.deepEqual([heads.items, asked.items], [[], []])
})
