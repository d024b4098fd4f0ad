/** Queries that users of such a service have, as they have them, with another network’s name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Kind, parse, type SelectionSetNode } from 'graphql'
import { type GraphqlRoom, openGraphqlRoom, type Rows } from './support/graphql-room.ts'

type Case = readonly [text: string, check: (data: Rows) => boolean, variables?: object]

async function runCases(room: GraphqlRoom, cases: readonly Case[]): Promise<void> {
  for (const [text, check, variables] of cases) {
    const query = text.replaceAll('P__', 'Ethereum__Mainnet__')
    const data = await room.query(query, { ...variables })
    assert.deepEqual(missingFields(query, data), [], text)
    assert.equal(check(data), true, `${text}\n${JSON.stringify(data).slice(0, 500)}`)
  }
}

/** The fields that a query asks for and its answer does not have, not even as null. */
function missingFields(query: string, data: Rows): string[] {
  const [operation] = parse(query).definitions
  assert.ok(operation?.kind === Kind.OPERATION_DEFINITION)
  return missingOf(operation.selectionSet, data)
}

function missingOf({ selections }: Pick<SelectionSetNode, 'selections'>, value: Rows): string[] {
  if (value === null) return []
  if (Array.isArray(value)) return value.flatMap((row) => missingOf({ selections }, row))
  return selections.flatMap((field) => {
    assert.ok(field.kind === Kind.FIELD)
    const name = (field.alias ?? field.name).value
    if (value[name] === undefined) return [name]
    return field.selectionSet === undefined ? [] : missingOf(field.selectionSet, value[name])
  })
}

test('the query files that ship with Generators are answered', async (t) => {
  const room = await openGraphqlRoom(t)
  const [first = assert.fail()] = room.chain
  const [receipt = assert.fail()] = first.receipts
  const logs = receipt.logs ?? assert.fail()
  const [log = assert.fail()] = logs
  const txHash = receipt.transactionHash
  const [tx = assert.fail()] = first.block.transactions ?? assert.fail()
  const sender = typeof tx === 'object' ? tx.from : assert.fail()
  await runCases(room, [
    [
      'query GetHighestBlockNumber { P__Block(order: {number: DESC}, limit: 1) { number } }',
      ({ Ethereum__Mainnet__Block: [block] }) => block.number === 6,
    ],
    [
      'query GetLatestBlocks { P__Block(order: {number: DESC}, limit: 10) { hash number parentHash difficulty gasUsed gasLimit nonce miner size stateRoot transactionsRoot receiptsRoot extraData } }',
      (data) => data.Ethereum__Mainnet__Block.length === 6,
    ],
    [
      'query GetBlockWithTransactions($blockNumber: Int!) { P__Block(filter: {number: {_eq: $blockNumber}}) { hash number transactions { hash blockHash blockNumber from to value gasPrice input nonce transactionIndex logs { address topics data blockNumber transactionHash transactionIndex blockHash logIndex removed } } } }',
      ({ Ethereum__Mainnet__Block: [block] }) => block.transactions[1].logs[1].removed === 'false',
      { blockNumber: 1 },
    ],
    [
      'query GetAllTransactionLogs($txHash: String!) { P__Log(filter: { transactionHash: { _eq: $txHash } }) { address topics data blockHash logIndex removed } }',
      (data) => data.Ethereum__Mainnet__Log.length === logs.length,
      { txHash },
    ],
    [
      'query GetAllBlockLogs($blockHash: String!) { P__Log(filter: { blockHash: { _eq: $blockHash } }) { address topics data logIndex removed } }',
      (data) => data.Ethereum__Mainnet__Log.length === 3,
      { blockHash: first.hash },
    ],
    [
      'query GetAllTransactionWithTopic($topic: String!) { P__Log(filter: { topics: { _any: { _eq: $topic } } }) { address topics data blockHash transactionHash logIndex removed transaction { hash from to value } } }',
      ({ Ethereum__Mainnet__Log: [row] }) => row.transaction.hash === txHash,
      { topic: log.topics?.[1] ?? assert.fail() },
    ],
    [
      'query GetTransactionsInvolvingAddress($address: String!) { P__Transaction(filter: { _or: [ {from: { _eq: $address }} {to: { _eq: $address }} ]}) { hash from to logs { address } } }',
      (data) => data.Ethereum__Mainnet__Transaction.length >= 1,
      { address: sender },
    ],
    [
      'query GetAllAccessListEntriesForTransactionHash($transactionHash: String!) { Transaction(filter: {hash: {_eq: $transactionHash}}) { accessList { address storageKeys transaction_id } } }',
      ({ Transaction: [tx] }) => tx.accessList[0].transaction_id === `tx-${txHash}`,
      { transactionHash: txHash },
    ],
    [
      'query GetAllAccessListEntriesForTransactionId($transactionId: String!) { AccessListEntry(filter: {transaction_id: {_eq: $transactionId}}) { address storageKeys transaction_id } }',
      (data) => data.AccessListEntry.length === 1,
      { transactionId: `tx-${txHash}` },
    ],
    [
      'query GetAllAccessListEntries{ AccessListEntry{ address storageKeys transaction_id } }',
      (data) => data.AccessListEntry.length === 6,
    ],
    [
      'query GetBlocks { Block { hash number timestamp miner transactions { hash from to value } } }',
      (data) => data.Block.length === 6,
    ],
  ])
})

test('a query for a field that no longer exists fails with the reason', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  const text =
    'query GetBlockWithAllData($blockNumber: String!) { Block(filter: { number: { _eq: $blockNumber } }) { hash transactions { logs { events { eventName } } } } }'
  assert.deepEqual(await errors(text, { blockNumber: '1' }), [
    'Cannot query field "events" on type "Ethereum__Mainnet__Log".',
    'Variable "$blockNumber" of type "String!" used in position expecting type "Int".',
  ])
})

test('the queries of the documentation are answered', async (t) => {
  const room = await openGraphqlRoom(t)
  const [, , third = assert.fail()] = room.chain
  const id = `block-${third.hash}`
  await runCases(room, [
    [
      '{ P__Block(limit:1){ _docID number timestamp hash nonce difficulty size stateRoot gasUsed gasLimit baseFeePerGas logsBloom uncles sha3Uncles receiptsRoot parentHash extraData miner difficulty totalDifficulty transactions{ hash blockHash block_id _docID logs{ blockHash transactionHash address topics data } accessList{ storageKeys address transaction_id } } } }',
      ({ Ethereum__Mainnet__Block: [block] }) => block.totalDifficulty === '0xc70d815d562d3cfa955',
    ],
    [
      '{ P__Block(limit: 10, order: {number: DESC}) { number _docID _version { cid signature { identity value type } } } }',
      ({ Ethereum__Mainnet__Block: [block] }) => block._version[0].signature.type === 'ES256K',
    ],
    [
      'query { P__Block(docID: "THIS") { _docID number _count(transactions:{}) hash transactions(order: {transactionIndex: DESC}) { transactionIndex _docID } } }'.replace(
        'THIS',
        id,
      ),
      ({ Ethereum__Mainnet__Block: [block] }) =>
        block._count === 2 && block.transactions[0].transactionIndex === 1,
    ],
    [
      '{ P__AttestationRecord(limit:10){ attested_doc source_doc CIDs _docID doc_type } }',
      (data) => data.Ethereum__Mainnet__AttestationRecord.length === 6,
    ],
    [
      'query { P__Block( filter: { number: { _eq: 3 } } ){ _docID number hash receiptsRoot size gasUsed transactions( limit: 1, filter: { blockNumber: { _eq: 3 } } order: { transactionIndex: DESC } ) { transactionIndex } } }',
      ({ Ethereum__Mainnet__Block: [block] }) => block.transactions[0].transactionIndex === 1,
    ],
    [
      'query { P__Block(limit:10) { _docID number hash _count(transactions:{}) } }',
      (data) => data.Ethereum__Mainnet__Block.length === 6,
    ],
    [
      'query GetLatestLogs { P__Log( order: { blockNumber: DESC } limit: 10 ) { address topics data blockNumber blockHash transactionHash transactionIndex logIndex removed } }',
      (data) => data.Ethereum__Mainnet__Log[0].blockNumber === 6,
    ],
    ['{ P__Block { number } }', (data) => data.Ethereum__Mainnet__Block[0].number === 1],
    [
      '{ _commits( cid:"bafyreibtbym4uht5dppohohg4wg66tdg4r253ws2i4wshc2gtwje6e25sy" ){ cid docID fieldName schemaVersionId signature{ type value identity } } P__Transaction(cid:"bafyreibtbym4uht5dppohohg4wg66tdg4r253ws2i4wshc2gtwje6e25sy"){ _docID block_id value } }',
      (data) => data._commits.length === 0 && data.Ethereum__Mainnet__Transaction.length === 0,
    ],
    ['{ __typename }', (data) => data.__typename === 'Query'],
  ])
})

test('the queries that clients and SDKs send themselves are answered', async (t) => {
  const room = await openGraphqlRoom(t)
  const [, second = assert.fail()] = room.chain
  const log = `log-${second.hash}-0`
  await runCases(room, [
    [
      'query { P__Block(filter: {number: {_eq: 2}}) { _docID } }',
      (data) => data.Ethereum__Mainnet__Block.length === 1,
    ],
    [
      '{ P__Block { __typename } }',
      ({ Ethereum__Mainnet__Block: [one] }) => one.__typename === 'Ethereum__Mainnet__Block',
    ],
    [
      `query { P__Log(filter: {_docID: {_in: ["${log}","bae-.."]}}) { _version { cid } } }`,
      (data) => data.Ethereum__Mainnet__Log.length === 1,
    ],
    [
      'query { P__BlockSignature(filter: {blockNumber: {_geq: 2, _leq: 4}}, order: {blockNumber: ASC}) { merkleRoot } }',
      (data) => data.Ethereum__Mainnet__BlockSignature.length === 3,
    ],
    [
      'query { P__SnapshotSignature { startBlock endBlock merkleRoot blockCount signatureType signatureIdentity signatureValue snapshotFile createdAt blockSigMerkleRoots } }',
      (data) => data.Ethereum__Mainnet__SnapshotSignature.length === 0,
    ],
    [
      'query { P__Log(order: {blockNumber: ASC}, limit: 50000) { _docID blockNumber } }',
      (data) => data.Ethereum__Mainnet__Log.length === 18,
    ],
    [
      'query { P__AttestationRecord(filter: {attested_doc: {_like: "block:2:%"}, doc_type: {_eq: "Block"}}) { _docID attested_doc source_doc CIDs doc_type vote_count } }',
      (data) => data.Ethereum__Mainnet__AttestationRecord.length === 1,
    ],
    [
      '{ P__Log(limit: 1) { _docID _version { cid height signature { type identity value } collectionVersionId } } }',
      (data) => data.Ethereum__Mainnet__Log[0]._version[0].height === 1,
    ],
    ['{ __schema { types { name } } }', (data) => data.__schema.types.length > 50],
  ])
})

test('the queries of explorers are answered', async (t) => {
  const room = await openGraphqlRoom(t)
  const [first = assert.fail()] = room.chain
  const [receipt = assert.fail()] = first.receipts
  const hash = receipt.transactionHash
  await runCases(room, [
    [
      'query ShortBlocks($limit: Int) { Block: P__Block( limit: $limit, order: { number: DESC } ) { number miner timestamp transactions(limit: 1, order: { transactionIndex: DESC }) { transactionIndex } } }',
      ({ Block }) => Block.length === 2 && Block[0].transactions[0].transactionIndex === 1,
      { limit: 2 },
    ],
    [
      'query BlockTransactions($offset: Int, $limit: Int, $blockNumber: Int) { BlockTransactions: P__Block( filter: { number: { _eq: $blockNumber } } limit: 1 ) { timestamp transactions (offset: $offset, limit: $limit) { hash from to value gasPrice } } }',
      ({ BlockTransactions: [block] }) => block.transactions.length === 1,
      { offset: 1, limit: 5, blockNumber: 4 },
    ],
    [
      'query Transactions($offset: Int, $limit: Int, $blockNumber: Int) { Transaction: P__Transaction( offset: $offset, limit: $limit, order: { blockNumber: DESC } filter: { blockNumber: { _eq: $blockNumber } } ) { hash blockNumber status block { timestamp } } }',
      ({ Transaction }) => Transaction.length === 10 && Transaction[0].blockNumber === 6,
      { offset: 0, limit: 10 },
    ],
    [
      'query Transaction($hash: String) { Transaction: P__Transaction(filter: { hash: { _eq: $hash } }, limit: 1) { _docID hash blockNumber status cumulativeGasUsed block { timestamp } } }',
      ({ Transaction: [tx] }) => tx.hash === hash && tx.status === true,
      { hash },
    ],
    [
      'query TransactionLogs($hash: String) { Logs: P__Log( filter: { transactionHash: { _eq: $hash } } order: [{ logIndex: ASC }] ) { logIndex address topics data transactionHash blockNumber } }',
      ({ Logs }) => Logs[0].transactionHash === hash,
      { hash },
    ],
    [
      'query AttestationsCount($docId: String!) { Attestation: P__AttestationRecord(filter: {attested_doc: {_eq: $docId}}) { count: vote_count } }',
      ({ Attestation }) => Attestation[0].count === 1,
      { docId: `tx-${hash}` },
    ],
    [
      'query Blocks($offset: Int, $limit: Int) { Block: P__Block(offset: $offset, limit: $limit, order: { number: DESC }) { hash txCount: _count(transactions: {}) } }',
      ({ Block }) => Block[0].txCount === 2,
    ],
    ['query BlocksCount { count: _count(P__Block: {}) }', ({ count }) => count === 6],
    [
      'query TransactionsCount { txCount: _count(P__Transaction: {}) }',
      ({ txCount }) => txCount === 12,
    ],
  ])
})
