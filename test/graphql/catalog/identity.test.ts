import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { QueryLimits } from '../../../src/graphql/budget/limits.ts'
import { parseCid } from '../../../src/primitives/cid-text.ts'
import { type ChainBlock, createChain } from '../../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../../support/chain/sealed-blocks.ts'
import { openGraphqlRoom, openTestGraphql } from '../support/graphql-room.ts'

test('a document is found by its docID, in one field or several, under either name', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const [tx] = chain[3]?.receipts ?? []
  const ids = {
    Block: `block-${chain[3]?.hash}`,
    Transaction: `tx-${tx?.transactionHash}`,
    Log: `log-${chain[3]?.hash}-1`,
    AccessListEntry: `entry-${tx?.transactionHash}-0`,
    BlockSignature: `seal-${chain[3]?.hash}-${testSigner('generator').identity}`,
  }
  for (const [name, id] of Object.entries(ids)) {
    const text = `query($id: String!) { a: ${name}(docID: $id) { _docID } b: ${name}(filter: {_docID: {_in: [$id, "x"]}}) { _docID }
      c: Ethereum__Mainnet__${name}(docID: [$id, $id, "x"]) { _docID } d: ${name}(docID: []) { _docID } }`
    const found = [{ _docID: id }]
    assert.deepEqual(await query(text, { id }), { a: found, b: found, c: found, d: [] }, name)
  }
})

/** A block whose log indexes are 3, 6, 9 and so on. */
function withSparseLogs(block: ChainBlock): ChainBlock {
  const receipts = block.receipts.map((receipt) => ({
    ...receipt,
    logs: (receipt.logs ?? []).map((log) => ({
      ...log,
      logIndex: `0x${(3 * Number(log.logIndex) + 3).toString(16)}` as const,
    })),
  }))
  return { ...block, receipts }
}

test('a log is found by its docID also where the log indexes of its block skip numbers', async (t) => {
  const chain = createChain({ count: 2 }).map(withSparseLogs)
  const { query } = await openGraphqlRoom(t, { chain })
  const { Log } = await query('{ Log { _docID logIndex } }')
  const firstIndexes = Log.slice(0, 3).map(({ logIndex }: { logIndex: number }) => logIndex)
  assert.deepEqual(firstIndexes, [3, 6, 9])
  for (const { _docID } of Log) {
    const text = `{ Log(docID: "${_docID}") { _docID } Transaction(filter: {logs: {_docID: "${_docID}"}}) { logs { _docID } } }`
    const found = await query(text)
    assert.deepEqual(found.Log, [{ _docID }])
    assert.equal(found.Transaction.length, 1)
    assert.ok(
      found.Transaction[0].logs.some((one: object) => '_docID' in one && one._docID === _docID),
    )
  }
  assert.deepEqual((await query(`{ Log(docID: "log-${chain[0]?.hash}-4") { _docID } }`)).Log, [])
})

test('a transaction is found by the docID of any entry of its access list', async (t) => {
  const shape = { transactions: 8, logs: 3, entries: 12, calldataBytes: 4 }
  const { query } = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const { AccessListEntry } = await query('{ AccessListEntry { _docID transaction { hash } } }')
  const hashes = new Set<string>()
  for (const { _docID, transaction } of AccessListEntry) {
    hashes.add(transaction.hash)
    const text = `{ Transaction(filter: {accessList: {_docID: "${_docID}"}}) { hash } }`
    assert.deepEqual((await query(text)).Transaction, [transaction])
  }
  assert.ok(hashes.size > 1, 'several transactions have one')
})

test('the docID of a log of a block without any leads to nothing', async (t) => {
  const shape = { transactions: 4, logs: 0, entries: 2, calldataBytes: 4 }
  const { query, chain } = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const logs = `logs: {_docID: "log-${chain[0]?.hash}-0"}`
  const text = `{ Log(filter: {transaction: {${logs}}}) { _docID } Transaction(filter: {${logs}}) { _docID }
    AccessListEntry(filter: {transaction: {${logs}}}) { _docID } }`
  assert.deepEqual(await query(text), { Log: [], Transaction: [], AccessListEntry: [] })
})

test('null as an ID or a CID asks for every document', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { all, byID, byCid } = await query(
    '{ all: Log { _docID } byID: Log(docID: null) { _docID } byCid: Log(cid: null) { _docID } }',
  )
  assert.ok(all.length > 0)
  assert.deepEqual([byID, byCid], [all, all])
})

test('the id of a link is selected and filtered in both spellings', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const id = `block-${chain[1]?.hash}`
  const text = `query($id: String!) { a: Log(filter: {block_id: {_eq: $id}}) { block_id _blockID }
    b: Log(filter: {_blockID: $id, block: {_docID: $id}}, order: {_blockID: ASC}) { _transactionID transaction { _docID } } }`
  const { a, b } = await query(text, { id })
  assert.deepEqual(a, Array(3).fill({ block_id: id, _blockID: id }))
  assert.equal(b.length, 3)
  for (const row of b) assert.equal(row._transactionID, row.transaction._docID)
})

test('a document is found by its CID, and text that is no CID is refused', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const { Log } = await query('{ Log(limit: 1, offset: 7) { _docID _version { cid } } }')
  const cid = Log[0]._version[0].cid
  const found = await query(
    'query($cid: String) { Log(cid: $cid) { _docID } Block(cid: $cid) { _docID } }',
    { cid },
  )
  assert.deepEqual(found, { Log: [{ _docID: Log[0]._docID }], Block: [] })
  const other = `${cid.slice(0, -4)}aaaa`
  assert.deepEqual((await query(`{ Log(cid: "${other}") { _docID } }`)).Log, [])
  assert.deepEqual(await errors('{ Log(cid: "garbage") { _docID } }'), [
    'invalid cid: selected encoding not supported. Write the text form of a CIDv1 (dag-cbor, sha2-256) in base32: `bafyrei...`.',
  ])
})

test('the one version of a document carries the bytes that its CID hashes, and the signature', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const sealed = sealBlock(chain[0] as never, testSigner('generator'))
  const { Transaction } = await query(`{ Transaction(limit: 1) { _docID _deleted _version {
    __typename cid docID height fieldName delta links { cid } heads { cid }
    schemaVersionId collectionVersionId signature { type identity value } } } }`)
  const [{ _docID, _deleted, _version }] = Transaction
  const [{ cid, delta, signature, ...rest }] = _version
  const digest = createHash('sha256').update(Buffer.from(delta, 'base64')).digest()
  assert.deepEqual(Buffer.from(parseCid(cid) ?? []).subarray(4), digest)
  assert.deepEqual(signature, {
    type: 'ES256K',
    identity: sealed.seal.signatureIdentity,
    value: sealed.seal.signatureValue,
  })
  assert.equal(_deleted, false)
  assert.deepEqual(rest, {
    ...{ __typename: 'Commit', docID: _docID, height: 1, fieldName: '_C', links: [], heads: [] },
    ...{ schemaVersionId: 'viewmesh/document/1', collectionVersionId: 'viewmesh/document/1' },
  })
})

test('values are written in the format that the query asks for', async (t) => {
  const { query, errors, chain } = await openGraphqlRoom(t)
  const block = chain[0]?.block
  const text = `query($f: ValueFormat) { Block(limit: 1) { timestamp(format: DECIMAL) hex: timestamp(format: HEX)
    size: size(format: $f) plain: miner miner(format: CHECKSUM) } }`
  const { Block } = await query(text, { f: 'DECIMAL' })
  assert.equal(Block[0].timestamp, String(Number(block?.timestamp)))
  assert.equal(Block[0].hex, block?.timestamp)
  assert.equal(Block[0].size, String(Number(block?.size)))
  assert.equal(Block[0].plain, block?.miner)
  assert.equal(Block[0].miner.toLowerCase(), block?.miner)
  assert.notEqual(Block[0].miner, block?.miner)
  assert.deepEqual(await errors('{ Block { size(format: CHECKSUM) } }'), [
    'The format CHECKSUM does not fit size, which is of kind quantity. Write HEX or DECIMAL.',
  ])
})

test('showDeleted is accepted without effect', async (t) => {
  const { query } = await openGraphqlRoom(t)
  assert.equal((await query('{ Block(showDeleted: true) { number } }')).Block.length, 6)
})

test('the version of a document has no signature while its block has no seal', async (t) => {
  const { query } = await openGraphqlRoom(t, { signers: () => [] })
  const { Block } = await query('{ Block(limit: 1) { _version { height signature { type } } } }')
  assert.deepEqual(Block, [{ _version: [{ height: 1, signature: null }] }])
})

test('commits are found by CID or docID in every collection', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const { Log, Block } = await query(
    '{ Log(limit: 1) { _docID _version { cid } } Block(limit: 1) { _docID _version { cid } } }',
  )
  const [log, block] = [Log[0], Block[0]]
  const text = `query($cid: ID!, $cids: [ID!], $ids: [ID!]) {
    a: _commits(cid: $cid) { cid docID fieldName schemaVersionId signature { type value identity } }
    b: _commits(docID: $ids, limit: 1, offset: 1) { cid }
    c: _commits(cid: $cid, docID: "x") { cid }
    d: _commits(cid: $cids) { docID } }`
  const [logCid, blockCid] = [log._version[0].cid, block._version[0].cid]
  const { a, b, c, d } = await query(text, {
    cid: logCid,
    cids: [logCid, blockCid, logCid],
    ids: [log._docID, block._docID],
  })
  assert.deepEqual(d, [{ docID: block._docID }, { docID: log._docID }])
  assert.equal(a[0].docID, log._docID)
  assert.equal(a[0].signature.type, 'ES256K')
  assert.deepEqual([a.length, b, c], [1, log._version, []])
  assert.deepEqual(await errors('{ _commits { cid } }'), [
    'Every stored document has a commit, so they are only found by name. Give `_commits` a cid or a docID.',
  ])
})

test('commits count towards the size and the rows of an answer', async (t) => {
  const { query, store, chain } = await openGraphqlRoom(t)
  const text = `{ _commits(docID: [${chain.map(({ hash }) => `"block-${hash}"`)}]) { cid delta } }`
  const { _commits } = await query(text)
  const bytes = _commits.reduce(
    (sum: number, each: object) => sum + Buffer.byteLength(JSON.stringify(each)) + 1,
    0,
  )
  const codeWithin = async (limits: Partial<QueryLimits>) => {
    const graphql = openTestGraphql(store.reader, { limits })
    return (await graphql.execute({ query: text })).errors?.[0]?.extensions['code']
  }
  assert.equal(await codeWithin({ maxResultBytes: bytes, maxRows: chain.length }), undefined)
  assert.equal(await codeWithin({ maxResultBytes: bytes - 1 }), 'GRAPHQL_SIZE_LIMIT')
  assert.equal(await codeWithin({ maxRows: chain.length - 1 }), 'GRAPHQL_ROW_LIMIT')
})
