import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeBody, openBody } from '../../src/primitives/body/body.ts'
import { fieldIndex, type Section, type Value } from '../../src/primitives/collections.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import { indexTerms, type TermKind } from '../../src/primitives/index-terms.ts'
import { createChain, shapes } from '../support/chain/block-factory.ts'
import { answeredBlock } from './arbitrary-block.ts'

const indexed: readonly (readonly [TermKind, Section, string])[] = [
  ['blockHash', 'Block', 'hash'],
  ['transactionHash', 'Transaction', 'hash'],
  ['from', 'Transaction', 'from'],
  ['to', 'Transaction', 'to'],
  ['logAddress', 'Log', 'address'],
  ['topic', 'Log', 'topics'],
]

type Documents = ReturnType<typeof toDocuments>

function found(documents: Documents): string[] {
  const { body, cids } = encodeBody(documents)
  return indexTerms(openBody(body), cids).map(
    ({ kind, value, section, chunk }) =>
      `${kind} 0x${Buffer.from(value).toString('hex')} ${section} ${chunk}`,
  )
}

function expected(documents: Documents): Set<string> {
  const { body, cids } = encodeBody(documents)
  const opened = openBody(body)
  const terms = new Set<string>()
  const all = Object.entries(documents.documents).flatMap(([section, list]) =>
    list.map((document, position) => ({
      section: section as Section,
      document,
      chunk: opened.chunkOf(section as Section, position),
    })),
  )
  for (const [index, { section, document, chunk }] of all.entries()) {
    const cid = Buffer.from(cids[index] ?? '').toString('hex')
    terms.add(`cid 0x${cid} ${section} ${chunk}`)
    for (const [kind, of, field] of indexed) {
      if (of !== section) continue
      for (const value of asList(document.values[fieldIndex(section, field)])) {
        terms.add(`${kind} ${value} ${section} ${chunk}`)
      }
    }
  }
  return terms
}

function asList(value: Value | undefined): readonly unknown[] {
  if (value === null || value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

test('hashes, senders, receivers, log addresses, every topic and every CID can be looked up', () => {
  fc.assert(
    fc.property(answeredBlock, ({ block, receipts }) => {
      const documents = toDocuments('Local__Devnet', block, receipts)
      const terms = found(documents)
      assert.deepEqual(new Set(terms), expected(documents))
      assert.equal(new Set(terms).size, terms.length)
    }),
    { numRuns: 25 },
  )
})

test('values that end alike, and one value of two kinds, are a term each', () => {
  /** The bytes by which terms are told apart at first are those at the end. */
  const ending = (first: string, bytes: number): string =>
    `0x${first.repeat(bytes - 8)}${'00'.repeat(8)}`
  const [one, other] = ['11', '22'].map((first) => ending(first, 20))
  const hashes = ['11', '22', '33'].map((first) => ending(first, 32))
  const transactions = hashes.map((hash) => ({
    hash,
    from: one,
    to: hash === hashes[0] ? one : other,
  }))
  const logs = [one, other, one].map((address, index) => ({
    address,
    data: '0x',
    logIndex: `0x${index}`,
    topics: index === 1 ? [] : hashes,
  }))
  const block = {
    hash: hashes[0],
    number: '0x1',
    parentHash: hashes[1],
    timestamp: '0x1',
    transactions,
  }
  const documents = toDocuments('Local__Devnet', block, [{ logs }, {}, {}])
  const terms = found(documents)
  assert.deepEqual(new Set(terms), expected(documents))
  assert.equal(new Set(terms).size, terms.length)
})

test('a value that a chunk holds many times is one term of that chunk', () => {
  for (const { block, receipts } of createChain({ count: 1, shape: shapes.full })) {
    const documents = toDocuments('Ethereum__Mainnet', block, receipts)
    const terms = found(documents)
    assert.deepEqual(new Set(terms), expected(documents))
    assert.equal(new Set(terms).size, terms.length)
    assert.ok(terms.length < 761 + 200 * 3 + 500 * 4)
  }
})
