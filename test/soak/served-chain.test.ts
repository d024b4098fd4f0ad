/** What is wrong with the answers of a Host, one after another. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createServedChain, type ServedAnswer, type ServedBlock } from './served-chain.ts'

/** Blocks as in `5a`, each standing on the one below of its branch; `5b:4a` names its parent. */
function blocks(...names: readonly string[]): ServedBlock[] {
  return names.map((name) => {
    const [hash = '', parent] = name.split(':')
    const number = Number.parseInt(hash, 10)
    return { number, hash, parentHash: parent ?? `${number - 1}${hash.slice(-1)}` }
  })
}

const answer = (...names: readonly string[]): ServedAnswer => ({
  Block: blocks(...names).reverse(),
  Transaction: [],
})

describe('one answer', () => {
  const faults = (given: ServedAnswer): string[] => createServedChain(() => false).add(given)

  test('with a chain in it is well', () => {
    assert.deepEqual(faults(answer('4a', '5a', '6b:5a')), [])
  })

  test('with two blocks of one height is not', () => {
    assert.deepEqual(faults(answer('4a', '5a', '5b:4a')), ['height 5 is served twice: 5b, 5a'])
  })

  test('with a block that is left out is not', () => {
    assert.deepEqual(faults(answer('4a', '6a')), ['block 6 is served above 4'])
  })

  test('with a block that stands on another one is not', () => {
    assert.deepEqual(faults(answer('4a', '5b')), ['block 5 (5b) stands on 4b, served is 4a'])
  })

  test('with transactions of a block that is not there is not', () => {
    const { Block } = answer('4a', '5a')
    const Transaction = ['5a', '5b', '5b'].map((blockHash) => ({ blockNumber: 5, blockHash }))
    assert.deepEqual(faults({ Block, Transaction }), [
      'transactions are served without their block 5b',
    ])
  })

  test('may have transactions below the blocks that were asked for', () => {
    const { Block } = answer('4a', '5a')
    assert.deepEqual(faults({ Block, Transaction: [{ blockNumber: 3, blockHash: '3a' }] }), [])
  })
})

describe('one answer after another', () => {
  test('a block that the node left may go, any other may not', () => {
    const left = new Set(['6a'])
    const served = createServedChain((hash) => left.has(hash))
    served.add(answer('4a', '5a', '6a'))
    assert.deepEqual(served.add(answer('4a', '5a', '6b:5a')), [])
    assert.deepEqual(served.add(answer('4a', '5a')), ['block 6 (6b) is served no more'])
  })

  test('blocks below the lowest were not asked for', () => {
    const served = createServedChain(() => false)
    served.add(answer('4a', '5a'))
    assert.deepEqual(served.add(answer('5a', '6a')), [])
    assert.deepEqual([...served.hashes], ['4a', '5a', '6a'])
  })
})
