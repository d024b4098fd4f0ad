import { test } from 'node:test'
import { type ExpectedTransaction, pick } from '../../support/chain/expected-documents.ts'
import {
  blocks,
  type DialectCase,
  entries,
  newest,
  runCases,
  transactions,
} from '../support/dialect.ts'

const logFields =
  'address topics data blockNumber transactionHash transactionIndex blockHash logIndex removed'
const everything =
  'hash blockNumber blockHash from to value gas gasPrice gasUsed effectiveGasPrice maxFeePerGas maxPriorityFeePerGas nonce transactionIndex type input chainId v r s status cumulativeGasUsed'

/** One with logs, from which addresses are taken. */
const sample = transactions.find(({ logs }) => logs.length > 1) as ExpectedTransaction
const withEntries = entries[0]?.transaction as ExpectedTransaction
const firstOf = (count: number) => transactions.slice(0, count)
const withTimestamp = (one: ExpectedTransaction, fields: string) => ({
  ...pick(one, fields),
  block: pick(one.block, 'timestamp'),
})
const isInvolved = (one: ExpectedTransaction) =>
  one['from'] === sample['to'] || one['to'] === sample['to']

const cases: readonly DialectCase[] = [
  {
    name: 'a transaction by its hash, with its logs',
    query: `query One($txHash: String!) {
      Ethereum__Mainnet__Transaction(filter: {hash: {_eq: $txHash}}) {
        hash blockHash blockNumber from to value gasPrice nonce transactionIndex
        logs { ${logFields} }
      }
    }`,
    variables: { txHash: sample.hash },
    data: {
      Ethereum__Mainnet__Transaction: [
        {
          ...pick(
            sample,
            'hash blockHash blockNumber from to value gasPrice nonce transactionIndex',
          ),
          logs: sample.logs.map((log) => pick(log, logFields)),
        },
      ],
    },
  },
  {
    name: 'the transactions from or to an address, list items without a comma between them',
    query: `query Involving($address: String!) {
      Ethereum__Mainnet__Transaction(filter: { _or: [
        {from: { _eq: $address }}
        {to: { _eq: $address }}
      ]}) {
        hash blockHash blockNumber from to value gasPrice nonce transactionIndex
        logs { ${logFields} }
      }
    }`,
    variables: { address: sample['to'] },
    data: {
      Ethereum__Mainnet__Transaction: transactions.filter(isInvolved).map((one) => ({
        ...pick(one, 'hash blockHash blockNumber from to value gasPrice nonce transactionIndex'),
        logs: one.logs.map((log) => pick(log, logFields)),
      })),
    },
  },
  {
    name: 'the access list of a transaction under the short name',
    query: `query Entries($transactionHash: String!) {
      Transaction(filter: {hash: {_eq: $transactionHash}}) {
        accessList { address storageKeys transaction_id }
      }
    }`,
    variables: { transactionHash: withEntries.hash },
    data: {
      Transaction: [
        {
          accessList: withEntries.accessList.map((entry) =>
            pick(entry, 'address storageKeys transaction_id'),
          ),
        },
      ],
    },
  },
  {
    name: 'a transaction by its docID',
    query: `{ Ethereum__Mainnet__Transaction(docID:"tx-${sample.hash}"){
      _docID block_id blockHash blockNumber hash to from transactionIndex value } }`,
    data: {
      Ethereum__Mainnet__Transaction: [
        pick(sample, '_docID block_id blockHash blockNumber hash to from transactionIndex value'),
      ],
    },
  },
  {
    name: 'an unknown docID of another service’s form',
    query:
      '{ Ethereum__Mainnet__Transaction(docID:"bae-25fb059c-f232-5305-8a5d-0162f01e43e6"){ hash } }',
    data: { Ethereum__Mainnet__Transaction: [] },
  },
  {
    name: 'the docIDs of a block’s transactions',
    query: 'query { Ethereum__Mainnet__Transaction(filter: {blockNumber: {_eq: 105}}) { _docID } }',
    data: {
      Ethereum__Mainnet__Transaction: (blocks[4]?.transactions ?? []).map((one) =>
        pick(one, '_docID'),
      ),
    },
  },
  {
    name: 'some transactions, for a first look',
    query: '{ Ethereum__Mainnet__Transaction(limit: 10) { hash blockNumber from to } }',
    data: {
      Ethereum__Mainnet__Transaction: firstOf(10).map((one) =>
        pick(one, 'hash blockNumber from to'),
      ),
    },
  },
  {
    name: 'a transaction with its logs and its access list',
    query: `{ Ethereum__Mainnet__Transaction(limit: 1) { hash blockNumber transactionIndex
      logs { address logIndex } accessList { address storageKeys } } }`,
    data: {
      Ethereum__Mainnet__Transaction: firstOf(1).map((one) => ({
        ...pick(one, 'hash blockNumber transactionIndex'),
        logs: one.logs.map((log) => pick(log, 'address logIndex')),
        accessList: one.accessList.map((entry) => pick(entry, 'address storageKeys')),
      })),
    },
  },
  {
    name: 'a list of the newest transactions under an alias, those of a block backwards too',
    query: `query Short($limit: Int) {
      Transaction: Ethereum__Mainnet__Transaction( limit: $limit, order: { blockNumber: DESC } ) {
        hash from to value
      }
    }`,
    variables: { limit: 6 },
    data: { Transaction: newest(transactions, 6).map((one) => pick(one, 'hash from to value')) },
  },
  ...[undefined, 103].map((blockNumber): DialectCase => {
    const wanted = transactions.filter(
      (one) => blockNumber === undefined || one.blockNumber === 103,
    )
    return {
      name: blockNumber === undefined ? 'a page of all transactions' : 'a page of a block’s',
      query: `query Page($offset: Int, $limit: Int, $blockNumber: Int) {
        Transaction: Ethereum__Mainnet__Transaction(
          offset: $offset, limit: $limit, order: { blockNumber: DESC }
          filter: { blockNumber: { _eq: $blockNumber } }
        ) { ${everything} block { timestamp } }
      }`,
      variables: { offset: 1, limit: 25, ...(blockNumber === undefined ? {} : { blockNumber }) },
      data: {
        Transaction: newest(wanted, 26)
          .slice(1)
          .map((one) => withTimestamp(one, everything)),
      },
    }
  }),
  {
    name: 'everything of a transaction, by a hash that may be null',
    query: `query One($hash: String) {
      Transaction: Ethereum__Mainnet__Transaction(filter: { hash: { _eq: $hash } }, limit: 1) {
        _docID ${everything} block { timestamp }
      }
    }`,
    variables: { hash: sample.hash },
    data: { Transaction: [withTimestamp(sample, `_docID ${everything}`)] },
  },
  {
    name: 'how many transactions there are',
    query: 'query Count { txCount: _count(Ethereum__Mainnet__Transaction: {}) }',
    data: { txCount: transactions.length },
  },
]

test('transactions are answered as the dialect says', (t) => runCases(t, cases))
