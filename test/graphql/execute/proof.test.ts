import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCid } from '../../../src/primitives/cid-text.ts'
import { verifyInclusion } from '../../../src/verify/inclusion.ts'
import { verifyAnswer } from '../../../src/verify/verify.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { signSeal, testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { provable, provableCollections, wholeBlocks } from '../../support/proof-query.ts'
import { openGraphqlRoom, signedBlock } from '../support/graphql-room.ts'

const generator = testSigner('generator')
const accepted = { identities: [generator.identity] }

test('a proof leads from each document of a block to its signed root', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const proof = '_proof { cid index count root path }'
  const text = `{ Block(docID: "x") { number } a: Block(limit: 1) { ${proof} transactions { ${proof} logs { ${proof} } accessList { ${proof} } } }
    BlockSignature(limit: 1) { merkleRoot cidCount cids } }`
  const { a, BlockSignature } = await query(text)
  const [{ merkleRoot, cidCount, cids }] = BlockSignature
  const rows = a.flatMap((block: { transactions: { logs: []; accessList: [] }[] }) => [
    block,
    ...block.transactions.flatMap((tx) => [tx, ...tx.logs, ...tx.accessList]),
  ])
  assert.equal(rows.length, cidCount)
  for (const { _proof: one } of rows) {
    assert.equal(one.root, merkleRoot)
    assert.equal(cids[one.index], one.cid)
    const path = one.path.map((hash: string) => Buffer.from(hash, 'hex'))
    const root = Buffer.from(merkleRoot, 'hex')
    assert.ok(
      verifyInclusion(parseCid(one.cid) ?? new Uint8Array(), one.index, one.count, path, root),
    )
  }
})

test('a proof names the network, the block and its signers', async (t) => {
  const { query, chain } = await openGraphqlRoom(t, { signers: () => ['generator', 'second'] })
  const { Log, BlockSignature } = await query(`{
    Log(limit: 1) { _proof { __typename network block { __typename number hash } seals { __typename type identity value } } }
    BlockSignature(limit: 2) { signatureType signatureIdentity signatureValue } }`)
  const signatures = BlockSignature.map(
    (seal: { signatureType: string; signatureIdentity: string; signatureValue: string }) => ({
      __typename: 'Signature',
      type: seal.signatureType,
      identity: seal.signatureIdentity,
      value: seal.signatureValue,
    }),
  )
  assert.deepEqual(Log[0]._proof, {
    __typename: 'InclusionProof',
    network: testNetwork,
    block: { __typename: 'ProvenBlock', number: chain[0]?.number, hash: chain[0]?.hash },
    seals: signatures,
  })
  assert.equal(signatures.length, 2)
})

test('a proof has the seals over exactly its root, and a seal proves itself', async (t) => {
  const [source] = createChain({ count: 1 })
  if (source === undefined) throw new Error('a chain has blocks')
  const { store, query } = await openGraphqlRoom(t, { chain: [] })
  const block = signedBlock(source, ['generator'])
  const { number, hash } = source
  const stranger = testSigner('stranger')
  const other = signSeal(
    { network: testNetwork, number, hash, cids: [new Uint8Array(36)] },
    stranger,
  )
  await store.putSealedBlock({ ...block, seals: [...block.seals, other] })
  const { Block, BlockSignature } = await query(
    `{ Block { _proof { seals { identity } } } BlockSignature(order: {cidCount: ASC}) { ${provable('BlockSignature')} } }`,
  )
  assert.deepEqual(Block[0]._proof.seals, [{ identity: generator.identity }])
  assert.deepEqual(
    BlockSignature.map(({ _proof }: { _proof: object }) => _proof),
    [other, ...block.seals].map((seal) => ({
      network: testNetwork,
      cid: null,
      index: null,
      count: seal.cidCount,
      path: [],
      root: seal.merkleRoot,
      block: { number, hash },
      seals: [
        { type: seal.signatureType, identity: seal.signatureIdentity, value: seal.signatureValue },
      ],
    })),
  )
  const verdicts = verifyAnswer(BlockSignature, { identities: [stranger.identity] })
  assert.deepEqual(
    verdicts.map(({ verdict }) => verdict.proves),
    ['document', 'nothing'],
  )
})

test('the fields of a proof may have aliases', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const { Block } = await query(
    '{ Block(limit: 1) { p: _proof { n: count b: block { h: hash } s: seals { by: identity } } } }',
  )
  assert.deepEqual(Block[0].p, {
    n: 7,
    b: { h: chain[0]?.hash },
    s: [{ by: generator.identity }],
  })
})

test('every document of every collection is proven by its answer', async (t) => {
  const { query } = await openGraphqlRoom(t, {
    chain: createChain({
      count: 2,
      shape: { ...shapes.tiny, transactions: 9, logs: 20, entries: 7 },
    }),
  })
  for (const name of provableCollections) {
    const answer = await query(`{ ${name} { ${provable(name)} __typename } }`)
    const verdicts = verifyAnswer(answer, accepted)
    assert.ok(verdicts.length > 0)
    for (const { verdict } of verdicts) {
      assert.equal(verdict.proves, 'document')
      assert.equal(verdict.collection, name)
      assert.deepEqual(verdict.unproven, name === 'BlockSignature' ? ['createdAt'] : [])
    }
  }
})

test('whole blocks are proven with their nested documents', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const verdicts = verifyAnswer(await query(wholeBlocks('limit: 2')), accepted)
  assert.equal(verdicts.length, 2 * 7 + 6)
  assert.deepEqual(new Set(verdicts.map(({ verdict }) => verdict.proves)), new Set(['document']))
  assert.deepEqual(
    verdicts.slice(0, 3).map(({ path }) => path),
    [
      ['Block', 0],
      ['Block', 0, 'transactions', 0],
      ['Block', 0, 'transactions', 0, 'logs', 0],
    ],
  )
})

test('values in another format are proven as well', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const formats = { quantity: 'DECIMAL', address: 'CHECKSUM' } as const
  for (const name of ['Block', 'Transaction', 'Log', 'AccessListEntry'] as const) {
    const verdicts = verifyAnswer(
      await query(`{ ${name} { ${provable(name, formats)} } }`),
      accepted,
    )
    assert.deepEqual(new Set(verdicts.map(({ verdict }) => verdict.proves)), new Set(['document']))
  }
})
