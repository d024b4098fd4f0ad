import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  decodeHeader,
  decodeSeal,
  encodeHeader,
  encodeSeal,
  hashOfHeader,
  heightKey,
  indexKey,
  pieceBytes,
  pieceCount,
  pieceKey,
  sealEntryKey,
  spanOf,
  splitSealEntryKey,
  storeDatabases,
} from '../../../src/store/disk/layout.ts'
import { namedHash, opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'

const height = fc.integer({ min: 0, max: 2 ** 48 - 1 })

describe('the layout of the file', () => {
  it('has these databases and no others', () => {
    const ofBlocks = ['meta', 'headers', 'bodies', 'index', 'seals', 'hashes', 'records']
    const names = [...ofBlocks, 'viewSlots', 'viewBlocks', 'viewRows', 'viewIndex']
    assert.deepEqual([...storeDatabases], [...names, 'rowStatements'])
  })

  it('has keys that sort like the heights and numbers in them', () => {
    fc.assert(
      fc.property(height, height, fc.nat(0xffff), fc.nat(0xffff), (a, b, first, second) => {
        const expected = Math.sign(a - b || first - second)
        assert.equal(Math.sign(Buffer.compare(heightKey(a), heightKey(b))), Math.sign(a - b))
        assert.equal(Buffer.compare(pieceKey(a, first), pieceKey(b, second)), expected)
        assert.equal(Buffer.compare(indexKey(1, a, first), indexKey(1, b, second)), expected)
        assert.equal(Buffer.compare(indexKey(0, a, first), indexKey(1, b, second)), -1)
      }),
    )
  })

  it('has keys of as many bytes as it says', () => {
    const [at, number] = ['000000010203', '0405']
    assert.equal(heightKey(0x010203).toString('hex'), at)
    assert.equal(pieceKey(0x010203, 0x0405).toString('hex'), at + number)
    assert.equal(indexKey(1, 0x010203, 0x0405).toString('hex'), `01${at}${number}`)
    assert.deepEqual([0, 63, 64, 191].map(spanOf), [0, 0, 1, 2])
    assert.deepEqual([0, 1, pieceBytes, pieceBytes + 1].map(pieceCount), [0, 1, 1, 2])
  })

  it('gives back the header that was stored', () => {
    const number = fc.integer({ min: 0, max: 0xffffffff })
    const counts = fc.record(
      { Block: fc.constant(1), Transaction: number, AccessListEntry: number, Log: number },
      { noNullPrototype: true },
    )
    fc.assert(
      fc.property(height, counts, height, number, (at, sections, serial, headBytes) => {
        const { header } = opaqueBlock(at)
        const stored = { header: { ...header, sections, timestamp: serial }, serial, headBytes }
        const bytes = encodeHeader(stored)
        assert.deepEqual(decodeHeader(at, bytes), stored)
        assert.equal(`0x${hashOfHeader(bytes).toString('hex')}`, header.hash)
      }),
    )
  })

  it('gives back the seal that was stored', () => {
    fc.assert(
      fc.property(height, fc.constantFrom('02'.repeat(33), 'ab'.repeat(32)), (at, identity) => {
        const seal = opaqueSeal(at, 'main', identity)
        const key = sealEntryKey(at, seal)
        assert.deepEqual(decodeSeal(key, encodeSeal(seal)), seal)
        const parts = splitSealEntryKey(key)
        assert.equal(parts.height, at)
        assert.equal(parts.identity.toString('hex'), identity)
        assert.equal(`0x${parts.hash.toString('hex')}`, namedHash(`main:${at}`))
      }),
    )
  })
})
