import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { ChainBlock } from '../../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../../support/chain/sealed-blocks.ts'
import { type GraphqlRoom, openGraphqlRoom } from '../support/graphql-room.ts'
import { putRows, servedView } from '../support/served-views.ts'

/** Blocks 4 and higher are signed by three Generators, 2 by none, the others by one. */
async function openSignedRoom(t: TestContext): Promise<GraphqlRoom> {
  return await openGraphqlRoom(t, {
    signers: ({ number }) => {
      if (number === 2) return []
      return number >= 4 ? ['a', 'b', 'c'] : ['a']
    },
  })
}

const rootOf = (block: ChainBlock | undefined): string =>
  sealBlock(block as ChainBlock, testSigner('a')).seal.merkleRoot

test('a record says how many Generators signed identical data, under both names', async (t) => {
  const { query, chain } = await openSignedRoom(t)
  const fields = '{ _docID attested_doc doc_type vote_count source_doc CIDs _attestations }'
  const text = `{ AttestationRecord(filter: {attested_doc: {_like: "block:5:%"}, doc_type: "Block"}) ${fields}
    Ethereum__Mainnet__AttestationRecord(order: {vote_count: DESC}, limit: 1) { attested_doc } n: COUNT(AttestationRecord: {}) }`
  const data = await query(text)
  const root = rootOf(chain[4])
  const identities = ['a', 'b', 'c'].map((name) => testSigner(name).identity).sort()
  const [{ CIDs, source_doc, ...record }] = data.AttestationRecord
  assert.deepEqual(record, {
    _docID: `attestation-block:5:${root}`,
    attested_doc: `block:5:${root}`,
    doc_type: 'Block',
    vote_count: 3,
    _attestations: 3,
  })
  assert.deepEqual([...source_doc].sort(), identities)
  assert.equal(CIDs.length, 7)
  assert.deepEqual(data.Ethereum__Mainnet__AttestationRecord, [
    { attested_doc: `block:6:${rootOf(chain[5])}` },
  ])
  assert.equal(data.n, 5)
})

test('a lookup by any document’s docID finds its block’s record', async (t) => {
  const { query, chain } = await openSignedRoom(t)
  const text = `query($docId: String!, $ids: [String]) {
    Attestation: Ethereum__Mainnet__AttestationRecord(filter: {attested_doc: {_eq: $docId}}) { count: vote_count }
    AttestationRecord(filter: {attested_doc: {_in: $ids}}) { attested_doc }
    n: COUNT(AttestationRecord: {filter: {attested_doc: $docId}}) }`
  const tx = `tx-${chain[4]?.receipts[0]?.transactionHash}`
  const log = `log-${chain[0]?.hash}-2`
  const unsealed = `block-${chain[1]?.hash}`
  assert.deepEqual(await query(text, { docId: tx, ids: [log, unsealed, 'x'] }), {
    Attestation: [{ count: 3 }],
    AttestationRecord: [{ attested_doc: `block:1:${rootOf(chain[0])}` }],
    n: 1,
  })
})

test('a docID means the record of its block wherever a filter has it', async (t) => {
  const { query, chain } = await openSignedRoom(t)
  const variables = {
    tx: `tx-${chain[4]?.receipts[0]?.transactionHash}`.toUpperCase().replace('TX-0X', 'tx-0x'),
    log: `log-${chain[0]?.hash}-2`,
  }
  const heights = async (filter: string) => {
    const text = `query ($tx: String!, $log: String!) { AttestationRecord(filter: ${filter}) { attested_doc } }`
    const { AttestationRecord } = await query(text, variables)
    return AttestationRecord.map((one: { attested_doc: string }) =>
      Number(one.attested_doc.split(':')[1]),
    )
  }
  const cases: Readonly<Record<string, readonly number[]>> = {
    '{attested_doc: $tx}': [5],
    '{attested_doc: {_neq: $tx}}': [1, 3, 4, 6],
    '{attested_doc: {_in: [$tx, $log]}}': [1, 5],
    '{attested_doc: {_nin: [$log, $tx]}}': [3, 4, 6],
    '{_not: {attested_doc: $log}}': [3, 4, 5, 6],
    '{_or: [{attested_doc: $log}, {vote_count: 3}]}': [1, 4, 5, 6],
    '{_and: [{attested_doc: {_in: [$tx, $log]}}, {vote_count: 3}]}': [5],
    '{attested_doc: {_like: $tx}}': [],
  }
  for (const [filter, expected] of Object.entries(cases)) {
    const unused = ['$tx', '$log'].filter((name) => !filter.includes(name))
    const used = `{_and: [${filter}, {_or: [{vote_count: {_gt: 0}}, {attested_doc: {_in: [${unused}]}}]}]}`
    assert.deepEqual(await heights(used), expected, filter)
  }
  const groups = await query(
    'query ($tx: String!) { AttestationRecord(groupBy: [vote_count], filter: {attested_doc: $tx}) { vote_count } }',
    { tx: variables.tx },
  )
  assert.deepEqual(groups.AttestationRecord, [{ vote_count: 3 }])
})

test('every document has _attestations, which filter and order like any number', async (t) => {
  const { query } = await openSignedRoom(t)
  const text = `{ Block(filter: {_attestations: {_geq: 3}}, order: {_attestations: DESC}) { number _attestations }
    Log(filter: {_attestations: 0}) { blockNumber } n: COUNT(Transaction: {filter: {block: {_attestations: {_lt: 3}}}})
    least: MIN(Block: {field: _attestations}) }`
  assert.deepEqual(await query(text), {
    Block: [6, 5, 4].map((number) => ({ number, _attestations: 3 })),
    Log: Array(3).fill({ blockNumber: 2 }),
    n: 6,
    least: 0,
  })
})

test('a root that only another Generator signed has its own record, without CIDs', async (t) => {
  const { query, store, chain } = await openSignedRoom(t)
  const { seal } = sealBlock(chain[2] as ChainBlock, testSigner('b'))
  await store.putSeals(3, [
    { ...seal, merkleRoot: 'ab'.repeat(32), signatureIdentity: testSigner('b').identity },
  ])
  const text =
    '{ AttestationRecord(filter: {attested_doc: {_like: "block:3:%"}}) { attested_doc vote_count CIDs } Block(filter: {number: 3}) { _attestations } }'
  const { AttestationRecord, Block } = await query(text)
  assert.deepEqual(
    AttestationRecord.map((one: { vote_count: number; CIDs: string[] }) => [
      one.vote_count,
      one.CIDs.length,
    ]),
    [
      [1, 7],
      [1, 0],
    ],
  )
  assert.deepEqual(Block, [{ _attestations: 1 }])
})

test('what a Generator signed of other documents or of another block names no CIDs', async (t) => {
  const { query, store, chain } = await openSignedRoom(t)
  const { seal } = sealBlock(chain[2] as ChainBlock, testSigner('b'))
  const { merkleRoot: root } = seal
  const [otherRoot, otherHash] = ['ab'.repeat(32), `0x${'cd'.repeat(32)}`]
  await store.putSeals(3, [
    {
      ...{ ...seal, merkleRoot: otherRoot, blockHash: otherHash },
      signatureIdentity: testSigner('e').identity,
    },
    { ...seal, merkleRoot: otherRoot, signatureIdentity: testSigner('b').identity },
    { ...seal, merkleRoot: otherRoot, signatureIdentity: testSigner('d').identity },
    { ...seal, blockHash: otherHash, signatureIdentity: testSigner('c').identity },
  ])
  const { AttestationRecord, BlockSignature } = await query(`{
    AttestationRecord(filter: {attested_doc: {_like: "block:3:%"}}) { attested_doc CIDs }
    BlockSignature(filter: {blockNumber: 3}) { merkleRoot cids _attestations } }`)
  const counted = (rows: readonly { CIDs?: string[]; cids?: string[] }[]) =>
    rows
      .map(({ CIDs, cids = CIDs, ...rest }) => ({ ...rest, count: cids?.length ?? -1 }))
      .toSorted((a, b) => b.count - a.count)
  assert.deepEqual(counted(AttestationRecord), [
    { attested_doc: `block:3:${root}`, count: 7 },
    { attested_doc: `block:3:${otherRoot}`, count: 0 },
    { attested_doc: `block:3:${root}`, count: 0 },
    { attested_doc: `block:3:${otherRoot}`, count: 0 },
  ])
  assert.deepEqual(counted(BlockSignature), [
    { merkleRoot: root, _attestations: 1, count: 7 },
    { merkleRoot: otherRoot, _attestations: 2, count: 0 },
    { merkleRoot: otherRoot, _attestations: 2, count: 0 },
  ])
})

test('a field of a View that is called attested_doc is compared with what is written', async (t) => {
  const room = await openSignedRoom(t)
  const [block] = room.chain as [ChainBlock]
  const view = servedView('type Seen { attested_doc: String }')
  const docID = `block-${block.hash}`
  await putRows(room, view, block, [
    { attested_doc: docID },
    { attested_doc: `block:1:${rootOf(block)}` },
  ])
  room.graphql.setViews([view])
  const text = `{ Seen(filter: {attested_doc: "${docID}"}) { attested_doc } }`
  assert.deepEqual(await room.query(text), { Seen: [{ attested_doc: docID }] })
})
