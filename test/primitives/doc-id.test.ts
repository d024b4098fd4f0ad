import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { collections } from '../../src/primitives/collections.ts'
import { type DocID, docIDs, parseDocID } from '../../src/primitives/doc-id.ts'

const hash = `0x${'ab'.repeat(32)}`
const identity = '02'.repeat(33)

const cases: readonly (readonly [string, DocID])[] = [
  [docIDs.block(hash), { collection: 'Block', hash }],
  [docIDs.transaction(hash), { collection: 'Transaction', hash }],
  [docIDs.log(hash, 12), { collection: 'Log', blockHash: hash, logIndex: 12 }],
  [docIDs.entry(hash, 0), { collection: 'AccessListEntry', transactionHash: hash, index: 0 }],
  [docIDs.seal(hash, identity), { collection: 'BlockSignature', blockHash: hash, identity }],
  [
    docIDs.snapshot(0, 99, identity),
    { collection: 'SnapshotSignature', startBlock: 0, endBlock: 99, identity },
  ],
]

for (const [text, parts] of cases) {
  test(`a docID is parsed into what it was built from: ${text.slice(0, 24)}...`, () => {
    assert.deepEqual(parseDocID(text), parts)
    assert.equal(text.split('-')[0], collections[parts.collection].idPrefix)
  })
}

test('a docID may have numbers up to 2^53 - 1, and identities of 32 or 33 bytes', () => {
  const most = Number.MAX_SAFE_INTEGER
  const short = '02'.repeat(32)
  assert.deepEqual(parseDocID(docIDs.log(hash, most)), {
    collection: 'Log',
    blockHash: hash,
    logIndex: most,
  })
  assert.deepEqual(parseDocID(docIDs.seal(hash, short)), {
    collection: 'BlockSignature',
    blockHash: hash,
    identity: short,
  })
  assert.deepEqual(parseDocID(docIDs.snapshot(most, most, short)), {
    collection: 'SnapshotSignature',
    startBlock: most,
    endBlock: most,
    identity: short,
  })
})

test('a docID that is not exactly what is built is none', () => {
  const near = [
    '',
    `block-${hash.toUpperCase()}`,
    `block-${hash}0`,
    ` block-${hash}`,
    `block-${hash}\n`,
    `log-${hash}`,
    `log-${hash}-01`,
    `log-${hash}--1`,
    `log-${hash}-1e3`,
    `log-${hash}-9007199254740992`,
    `entry-${hash}-`,
    `seal-${hash}-${identity}0`,
    `snapshot-1-${identity}`,
    `snapshot-9007199254740992-1-${identity}`,
    `snapshot-1-9007199254740992-${identity}`,
    `bae-${hash}`,
  ]
  for (const text of near) assert.equal(parseDocID(text), null, text)
})

test('any text is parsed or refused, and what is parsed builds the same text again', () => {
  const damaged = fc
    .tuple(
      fc.constantFrom(...cases.map(([text]) => text)),
      fc.nat(200),
      fc.string({ maxLength: 3 }),
    )
    .map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + other.length))
  fc.assert(
    fc.property(fc.oneof(fc.string(), damaged), (text) => {
      const parsed = parseDocID(text)
      if (parsed !== null) assert.equal(rebuild(parsed), text)
    }),
    { numRuns: 1000 },
  )
})

function rebuild(parts: DocID): string {
  switch (parts.collection) {
    case 'Block':
      return docIDs.block(parts.hash)
    case 'Transaction':
      return docIDs.transaction(parts.hash)
    case 'Log':
      return docIDs.log(parts.blockHash, parts.logIndex)
    case 'AccessListEntry':
      return docIDs.entry(parts.transactionHash, parts.index)
    case 'BlockSignature':
      return docIDs.seal(parts.blockHash, parts.identity)
    case 'SnapshotSignature':
      return docIDs.snapshot(parts.startBlock, parts.endBlock, parts.identity)
  }
}
