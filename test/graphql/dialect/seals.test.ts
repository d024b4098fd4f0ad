import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Seal } from '../../../src/primitives/seal.ts'
import { pick } from '../../support/chain/expected-documents.ts'
import {
  blocks,
  cidsOf,
  type DialectCase,
  logs,
  newest,
  openDialectApi,
  runCases,
  sealed,
  transactions,
} from '../support/dialect.ts'

const sealsOf = (index: number): readonly Seal[] => (sealed[index] ?? []).map(({ seal }) => seal)
const rootOf = (index: number): string => sealsOf(index)[0]?.merkleRoot ?? ''
const signatureOf = (index: number) => {
  const [seal] = sealsOf(index)
  return {
    type: seal?.signatureType,
    identity: seal?.signatureIdentity,
    value: seal?.signatureValue,
  }
}

const attested = (index: number): string => `block:${101 + index}:${rootOf(index)}`
const recordOf = (index: number) => ({
  _docID: `attestation-${attested(index)}`,
  attested_doc: attested(index),
  source_doc: sealsOf(index).map(({ signatureIdentity }) => signatureIdentity),
  CIDs: cidsOf(index).toSorted((a, b) => Buffer.compare(cidBytes(a), cidBytes(b))),
  doc_type: 'Block',
  vote_count: sealsOf(index).length,
})

/** Base32 without padding keeps no byte order, so CIDs are compared as bytes. */
function cidBytes(text: string): Buffer {
  let bits = ''
  for (const letter of text.slice(1)) {
    bits += 'abcdefghijklmnopqrstuvwxyz234567'.indexOf(letter).toString(2).padStart(5, '0')
  }
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

const logCid = cidsOf(0).at(-logs.filter(({ block }) => block === blocks[0]).length)
const transactionCid = cidsOf(0)[2]

const cases: readonly DialectCase[] = [
  {
    name: 'the newest blocks with the CID of each and the signature over it',
    query: `{ Ethereum__Mainnet__Block(limit: 10, order: {number: DESC}) {
      number _docID _version { cid signature { identity value type } } } }`,
    data: {
      Ethereum__Mainnet__Block: newest([...blocks.entries()], 10).map(([index, block]) => ({
        ...pick(block, 'number _docID'),
        _version: [{ cid: cidsOf(index)[0], signature: signatureOf(index) }],
      })),
    },
  },
  {
    name: 'a transaction by its CID',
    query: `{ Ethereum__Mainnet__Transaction(cid:"${transactionCid}"){
      _docID block_id blockHash blockNumber hash to from transactionIndex value } }`,
    data: {
      Ethereum__Mainnet__Transaction: [
        pick(
          transactions[1] ?? {},
          '_docID block_id blockHash blockNumber hash to from transactionIndex value',
        ),
      ],
    },
  },
  {
    name: 'the CIDs of logs by their docIDs',
    query: `query { Ethereum__Mainnet__Log(filter: {_docID: {_in: ["${logs[0]?.['_docID']}","bae-1"]}}) {
      _version { cid } } }`,
    data: { Ethereum__Mainnet__Log: [{ _version: [{ cid: logCid }] }] },
  },
  {
    name: 'all that is known of a log’s version',
    query: `{ Ethereum__Mainnet__Log(limit: 1) { _docID _version {
      cid height signature { type identity value } collectionVersionId } } }`,
    data: {
      Ethereum__Mainnet__Log: [
        {
          ...pick(logs[0] ?? {}, '_docID'),
          _version: [
            {
              cid: logCid,
              height: 1,
              signature: signatureOf(0),
              collectionVersionId: 'viewmesh/document/1',
            },
          ],
        },
      ],
    },
  },
  {
    name: 'the roots of a range of blocks, one for each Generator',
    query: `query { Ethereum__Mainnet__BlockSignature(
      filter: {blockNumber: {_geq: 110, _leq: 112}}, order: {blockNumber: ASC}
    ) { merkleRoot } }`,
    data: {
      Ethereum__Mainnet__BlockSignature: [9, 10, 11].flatMap((index) =>
        sealsOf(index).map(({ merkleRoot }) => ({ merkleRoot })),
      ),
    },
  },
  {
    name: 'snapshots, of which there are none',
    query: `query { Ethereum__Mainnet__SnapshotSignature {
      startBlock endBlock merkleRoot blockCount signatureType signatureIdentity signatureValue
      snapshotFile createdAt blockSigMerkleRoots } }`,
    data: { Ethereum__Mainnet__SnapshotSignature: [] },
  },
  {
    name: 'some attestation records',
    query: `{ Ethereum__Mainnet__AttestationRecord(limit:10){
      attested_doc source_doc CIDs _docID doc_type } }`,
    data: {
      Ethereum__Mainnet__AttestationRecord: blocks
        .slice(0, 10)
        .map((_, index) => pick(recordOf(index), 'attested_doc source_doc CIDs _docID doc_type')),
    },
  },
  {
    name: 'some attestation records with their votes',
    query: `{ Ethereum__Mainnet__AttestationRecord(limit: 10) {
      attested_doc source_doc doc_type vote_count CIDs } }`,
    data: {
      Ethereum__Mainnet__AttestationRecord: blocks
        .slice(0, 10)
        .map((_, index) =>
          pick(recordOf(index), 'attested_doc source_doc doc_type vote_count CIDs'),
        ),
    },
  },
  {
    name: 'the probe for a record of a block and its root',
    query: `query { Ethereum__Mainnet__AttestationRecord(
      filter: {attested_doc: {_eq: "${attested(2)}"}}) { _docID } }`,
    data: { Ethereum__Mainnet__AttestationRecord: [pick(recordOf(2), '_docID')] },
  },
  {
    name: 'the record of a block and its root',
    query: `query { Ethereum__Mainnet__AttestationRecord(
      filter: {attested_doc: {_eq: "${attested(11)}"}, doc_type: {_eq: "Block"}}
    ) { _docID attested_doc source_doc CIDs doc_type vote_count } }`,
    data: { Ethereum__Mainnet__AttestationRecord: [recordOf(11)] },
  },
  {
    name: 'the records of a height, whatever the root',
    query: `query { Ethereum__Mainnet__AttestationRecord(
      filter: {attested_doc: {_like: "block:104:%"}, doc_type: {_eq: "Block"}}
    ) { _docID attested_doc source_doc CIDs doc_type vote_count } }`,
    data: { Ethereum__Mainnet__AttestationRecord: [recordOf(3)] },
  },
  {
    name: 'how often a transaction was attested, by its docID',
    query: `query Count($docId: String!) {
      Attestation: Ethereum__Mainnet__AttestationRecord(filter: {attested_doc: {_eq: $docId}}) {
        count: vote_count
      }
    }`,
    variables: { docId: transactions[7]?.['_docID'] },
    data: { Attestation: [{ count: 2 }] },
  },
]

test('seals, versions and attestation records are answered as the dialect says', (t) =>
  runCases(t, cases))

test('introspection lists the types of the schema', async (t) => {
  const api = await openDialectApi(t)
  const { body } = await api.ask('{ __schema { types { name } } }')
  const { data } = body as { data: { __schema: { types: { name: string }[] } } }
  const names = new Set(data.__schema.types.map(({ name }) => name))
  const collections =
    'Block Transaction Log AccessListEntry BlockSignature SnapshotSignature AttestationRecord'
  for (const name of collections.split(' ')) {
    assert.ok(names.has(`Ethereum__Mainnet__${name}`), name)
    assert.ok(names.has(`Ethereum__Mainnet__${name}FilterArg`), name)
    assert.ok(names.has(`Ethereum__Mainnet__${name}OrderArg`), name)
  }
})
