import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { checksumAddress } from '../../src/primitives/checksum-address.ts'
import { parseCid } from '../../src/primitives/cid-text.ts'
import { storedFields } from '../../src/primitives/collections.ts'
import type { Document } from '../../src/primitives/documents.ts'
import { verifyDocument } from '../../src/verify/verify.ts'
import {
  alice,
  answeredDocuments,
  bob,
  carol,
  documentOf,
  outcomeOf,
} from '../support/chain/answered-documents.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { sealBlock, testNetwork } from '../support/chain/sealed-blocks.ts'

const byAlice = { identities: [alice.identity] }

describe('the published vectors', () => {
  interface Vector {
    readonly name: string
    readonly network: string
    readonly block: { readonly number: string; readonly hash: string }
    readonly documents: readonly (Document & { readonly cid: string })[]
    readonly sealDigest: string
  }
  const path = new URL('../fixtures/primitives/vectors.json', import.meta.url)
  const { vectors } = JSON.parse(readFileSync(path, 'utf8')) as { vectors: readonly Vector[] }

  for (const { name, network, block, documents, sealDigest } of vectors) {
    test(`every document is proven: ${name}`, () => {
      const sealed = { number: Number(block.number), hash: block.hash }
      const cids = documents.map(({ cid }) => parseCid(cid) ?? new Uint8Array())
      const signed = alice.sign(Buffer.from(sealDigest, 'hex'))
      const answered = answeredDocuments({ network, ...sealed, documents, cids }, [alice])
      for (const [at, { collection, docID, cid }] of documents.entries()) {
        assert.equal(answered[at]?._proof.seals[0]?.value, signed)
        assert.deepEqual(verifyDocument(answered[at], byAlice), {
          proves: 'document',
          network,
          block: sealed,
          signers: [alice.identity],
          docID,
          collection,
          cid,
          fields: storedFields(collection).map((field) => field.name),
          unproven: [],
        })
      }
    })
  }
})

describe('what is proven of a document', () => {
  test('all its fields, by each accepted identity that signed', () => {
    const document = documentOf('log-')
    const acceptance = { identities: [carol.identity, bob.identity, alice.identity], minimum: 2 }
    const verdict = verifyDocument(document, acceptance)
    assert.equal(verdict.proves, 'document')
    assert.deepEqual(verdict.signers, [alice.identity, bob.identity])
  })

  test('values in another format, which a query may ask for, are the same values', () => {
    const { miner, ...block } = documentOf('block-')
    const formatted = {
      ...block,
      miner: checksumAddress(String(miner)),
      gasLimit: String(Number(block['gasLimit'])),
      difficulty: '0',
    }
    assert.equal(outcomeOf(verifyDocument(formatted, byAlice)), 'document')
  })

  test('what follows from proven values: the ids of links and the type name', () => {
    const { _docID, blockHash, transactionHash, ...log } = documentOf('log-')
    const links = {
      __typename: `${testNetwork}__Log`,
      block_id: `block-${blockHash}`,
      _transactionID: `tx-${transactionHash}`,
      transaction_id: 'tx-of-another-form',
    }
    const verdict = verifyDocument(
      { _docID, blockHash, transactionHash, ...log, ...links },
      byAlice,
    )
    assert.equal(verdict.proves, 'document')
    assert.deepEqual(verdict.unproven, ['transaction_id'])
    assert.deepEqual(
      ['__typename', 'block_id', '_transactionID'].filter((name) => !verdict.fields.includes(name)),
      [],
    )
  })

  test('the ids of the transaction of an access list entry, and none of a block', () => {
    const entry = documentOf('entry-')
    const [, hash] = String(entry['_docID']).split('-')
    const links = { _transactionID: `tx-${hash}`, transaction_id: `tx-${hash}` }
    const verdict = verifyDocument({ ...entry, ...links, block_id: 'block-0x' }, byAlice)
    assert.equal(verdict.proves, 'document')
    assert.deepEqual(verdict.unproven, ['block_id'])
    assert.ok(Object.keys(links).every((name) => verdict.fields.includes(name)))
  })

  test('not what the bytes leave out, what stands under an alias, votes, and links without a proof', () => {
    const { hash, ...rest } = documentOf('block-')
    const beside = {
      totalDifficulty: '0x1',
      amount: '0x5',
      _attestations: 9,
      transactions: [documentOf('tx-'), { hash: '0x00' }],
      uncleList: [],
      withoutValue: undefined,
    }
    const verdict = verifyDocument({ hash, ...rest, ...beside }, byAlice)
    assert.equal(verdict.proves, 'document')
    assert.deepEqual(verdict.unproven, Object.keys(beside))
    const proven = {
      ...rest,
      hash,
      transactions: [documentOf('tx-')],
      parent: documentOf('block-'),
    }
    const other = verifyDocument(proven, byAlice)
    assert.deepEqual(other.proves === 'document' && other.unproven, [])
  })

  test('only its CID where the answer lacks fields, and then none of those that it has', () => {
    const { value, input, ...rest } = documentOf('tx-')
    const aliased = { ...rest, amount: value, input }
    const verdict = verifyDocument(aliased, byAlice)
    assert.equal(verdict.proves, 'cid')
    assert.equal(verdict.cid, rest._proof.cid)
    assert.deepEqual(verdict.missing, ['value'])
    assert.ok(verdict.unproven.includes('amount') && verdict.unproven.includes('from'))
    const bare = verifyDocument({ _proof: rest._proof }, byAlice)
    assert.deepEqual(bare, { ...verdict, missing: ['_docID'], unproven: [] })
  })

  test('a seal proves itself, but for when it was made', () => {
    const [source] = createChain({ count: 1 })
    if (source === undefined) throw new Error('a chain has blocks')
    const { seal } = sealBlock(source, bob)
    const { network, createdAt, ...signed } = seal
    const { type, identity, value } = {
      type: seal.signatureType,
      identity: seal.signatureIdentity,
      value: seal.signatureValue,
    }
    const document = {
      ...signed,
      createdAt,
      _docID: `seal-${seal.blockHash}-${identity}`,
      _proof: {
        network,
        cid: null,
        index: null,
        count: seal.cidCount,
        path: [],
        root: seal.merkleRoot,
        block: { number: seal.blockNumber, hash: seal.blockHash },
        seals: [{ type, identity, value }],
      },
    }
    const both = { identities: [alice.identity, bob.identity], minimum: 2 }
    assert.deepEqual(verifyDocument(document, both), {
      proves: 'document',
      network,
      block: { number: 1, hash: source.hash },
      signers: [bob.identity],
      docID: document._docID,
      collection: 'BlockSignature',
      cid: null,
      fields: Object.keys(signed),
      unproven: ['createdAt'],
    })
    for (const name of Object.keys(signed)) {
      assert.equal(
        outcomeOf(verifyDocument({ ...document, [name]: 'another' }, both)),
        'seal-differs',
      )
    }
    for (const _docID of [
      `seal-${seal.blockHash}-${alice.identity}`,
      `seal-0x${'ab'.repeat(32)}-${identity}`,
    ])
      assert.equal(outcomeOf(verifyDocument({ ...document, _docID }, both)), 'seal-differs')
    const unknown = verifyDocument(document, byAlice)
    assert.equal(outcomeOf(unknown), 'identity-unknown')
  })
})
