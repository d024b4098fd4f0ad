import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { decode, encode } from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { encodeBody, verifyBody } from '../../src/primitives/body/body.ts'
import { cidText } from '../../src/primitives/cid-text.ts'
import { blockSections, type CollectionName, type Value } from '../../src/primitives/collections.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import type { RpcBlock, RpcReceipt } from '../../src/primitives/rpc-block.ts'
import { sealDigest, sealRoot } from '../../src/primitives/seal.ts'
import { canonicalBytes, decodeValues, encodeValues } from '../../src/primitives/values.ts'
import { oracleDocuments, oracleRoot } from './oracle.ts'

interface Vector {
  readonly name: string
  readonly network: string
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
  readonly documents: readonly {
    readonly collection: CollectionName
    readonly docID: string
    readonly values: readonly Value[]
    /** Hex of the DAG-CBOR that the CID hashes. */
    readonly canonical: string
    readonly cid: string
  }[]
  readonly totalDifficulty: string | null
  readonly merkleRoot: string
  readonly cidCount: number
  readonly sealDigest: string
}

const path = new URL('../fixtures/primitives/vectors.json', import.meta.url)
const { vectors } = JSON.parse(readFileSync(path, 'utf8')) as { vectors: readonly Vector[] }

for (const vector of vectors) {
  const { network, block, receipts } = vector
  const statement = () => ({
    network,
    blockNumber: Number(block.number),
    blockHash: String(block.hash).toLowerCase(),
    merkleRoot: vector.merkleRoot,
    cidCount: vector.cidCount,
  })

  test(`documents and docIDs are those of the vector ${vector.name}`, () => {
    const made = toDocuments(network, block, receipts)
    assert.deepEqual(
      blockSections.flatMap((section) => [...made.documents[section]]),
      vector.documents.map(({ collection, docID, values }) => ({ collection, docID, values })),
    )
    assert.equal(made.totalDifficulty, vector.totalDifficulty)
  })

  test(`canonical bytes, CIDs, root and what is signed are those of the vector ${vector.name}`, () => {
    for (const { collection, docID, values, canonical } of vector.documents) {
      const stored = encodeValues(collection, values)
      const bytes = canonicalBytes(network, collection, docID, stored)
      assert.equal(Buffer.from(bytes).toString('hex'), canonical)
      assert.deepEqual(decodeValues(collection, stored), values)
    }
    const { cids, body } = encodeBody(toDocuments(network, block, receipts))
    assert.deepEqual(
      cids.map(cidText),
      vector.documents.map(({ cid }) => cid),
    )
    assert.equal(sealRoot(cids).root, vector.merkleRoot)
    assert.equal(verifyBody(network, body).root, vector.merkleRoot)
    assert.equal(Buffer.from(sealDigest(statement())).toString('hex'), vector.sealDigest)
  })

  test(`the IPLD libraries agree with the vector ${vector.name}`, () => {
    assert.deepEqual(
      oracleDocuments(network, block, receipts).map(({ docID, canonical, cid }) => ({
        docID,
        canonical: Buffer.from(canonical).toString('hex'),
        cid,
      })),
      vector.documents.map(({ docID, canonical, cid }) => ({ docID, canonical, cid })),
    )
    for (const { canonical } of vector.documents) {
      const bytes = Buffer.from(canonical, 'hex')
      assert.deepEqual(Buffer.from(encode(decode(bytes))), bytes)
    }
    const cids = vector.documents.map(({ cid }) => CID.parse(cid).bytes)
    assert.equal(oracleRoot(cids.sort(Buffer.compare)).toString('hex'), vector.merkleRoot)
    const { blockNumber, blockHash, merkleRoot, cidCount } = statement()
    const signed = encode([
      'viewmesh/seal/1',
      network,
      blockNumber,
      Buffer.from(blockHash.slice(2), 'hex'),
      Buffer.from(merkleRoot, 'hex'),
      cidCount,
    ])
    assert.equal(createHash('sha256').update(signed).digest('hex'), vector.sealDigest)
  })
}

test('the vectors hold every transaction type, a receipt without status and duplicate entries', () => {
  const types = vectors.flatMap(({ block }) => block.transactions?.map(({ type }) => type) ?? [])
  assert.deepEqual(new Set(types), new Set([undefined, '0x0', '0x1', '0x2', '0x3', '0x4']))
  assert.ok(vectors.some(({ receipts }) => receipts.some(({ status }) => status === null)))
  const duplicates = vectors.flatMap(({ documents }) => {
    const entries = documents.filter(({ collection }) => collection === 'AccessListEntry')
    return entries.filter(({ values }, index) =>
      entries.slice(0, index).some((other) => String(other.values) === String(values)),
    )
  })
  assert.equal(duplicates.length, 2)
  const cids = vectors.flatMap(({ documents }) => documents.map(({ cid }) => cid))
  assert.equal(new Set(cids).size, cids.length)
})
