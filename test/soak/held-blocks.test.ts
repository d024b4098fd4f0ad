/** What a comparison with the node finds: nothing where all is as it has to be, and each thing that is not. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createChain } from '../support/chain/block-factory.ts'
import { differencesOf, type HeldBlock } from '../support/chain/held-blocks.ts'
import { type ShownSeal, toTrueBlock } from '../support/chain/node-truth.ts'
import { sealBlock, testNetwork, testSigner } from '../support/chain/sealed-blocks.ts'

const [block = assert.fail(), other = assert.fail()] = createChain({ count: 2, from: 7 })
const due = toTrueBlock(testNetwork, block.block, block.receipts)
const alice = testSigner('alice')
const bob = testSigner('bob')
const signers = [alice.identity, bob.identity].sort()

function sealOf(source: typeof block, signer: typeof alice): ShownSeal {
  const { seal } = sealBlock(source, signer)
  const { blockHash, merkleRoot, cidCount } = seal
  const { signatureType, signatureIdentity, signatureValue } = seal
  return { blockHash, merkleRoot, cidCount, signatureType, signatureIdentity, signatureValue }
}

const seals = [sealOf(block, alice), sealOf(block, bob)].sort((a, b) =>
  a.signatureIdentity < b.signatureIdentity ? -1 : 1,
)
const whole: HeldBlock = {
  hash: due.hash,
  documents: due.documents,
  seals,
  attestations: new Set([2]),
}
const found = (change: Partial<HeldBlock>): string[] =>
  differencesOf({ ...whole, ...change }, due, signers)
const [transaction = assert.fail()] = [...due.documents.values()].filter(({ _docID }) =>
  _docID.startsWith('tx-'),
)

describe('a block', () => {
  test('that two Generators sealed as the node has it differs in nothing', () => {
    assert.deepEqual(found({}), [])
  })

  test('is missed', () => {
    assert.deepEqual(differencesOf(undefined, due, signers), ['block 7 is missing'])
  })

  test('is distinguished from another one of its height', () => {
    assert.deepEqual(found({ hash: '0xother' }), [`block 7 is 0xother, the node has ${due.hash}`])
  })
})

describe('a document', () => {
  test('is missed', () => {
    const documents = new Map(due.documents)
    documents.delete(transaction._docID)
    assert.deepEqual(found({ documents }), [`block 7 lacks ${transaction._docID}`])
  })

  test('is one too many', () => {
    const more = new Map(due.documents).set('tx-0x00', transaction)
    assert.deepEqual(found({ documents: more }), ['block 7 has a document too many: tx-0x00'])
  })

  test('differs in a field, or in its CID', () => {
    const wrong = { ...transaction, status: false, cid: 'another' }
    const changed = new Map(due.documents).set(transaction._docID, wrong)
    assert.deepEqual(found({ documents: changed }), [
      `block 7: ${transaction._docID}: status is false, the node says true; cid is "another", the node says "${transaction.cid}"`,
    ])
  })
})

describe('a vote', () => {
  const [first = assert.fail()] = seals

  test('is missed, and so is what its documents say of it', () => {
    assert.deepEqual(found({ seals: [first], attestations: new Set([1]) }), [
      `block 7: sealed by ${first.signatureIdentity}, due are ${signers.join(', ')}`,
      'block 7: _attestations are 1',
    ])
  })

  test('for another block, or with another signature, does not count', () => {
    const stray = sealOf(other, alice)
    const forged = { ...sealOf(block, bob), signatureValue: sealOf(other, bob).signatureValue }
    const both = [stray, forged].sort((a, b) =>
      a.signatureIdentity < b.signatureIdentity ? -1 : 1,
    )
    assert.deepEqual(
      found({ seals: both }),
      signers.map((identity) => `block 7: the seal of ${identity} is not over its documents`),
    )
  })
})
