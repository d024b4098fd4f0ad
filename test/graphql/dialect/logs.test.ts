import { test } from 'node:test'
import {
  type ExpectedEntry,
  type ExpectedLog,
  pick,
} from '../../support/chain/expected-documents.ts'
import { type DialectCase, entries, logs, newest, runCases } from '../support/dialect.ts'

const sample = logs[10] as ExpectedLog
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const [entry] = entries as readonly [ExpectedEntry]

/** With capital letters, as block explorers write addresses. */
const capitals = (address: string): string => `0x${address.slice(2).toUpperCase()}`

const cases: readonly DialectCase[] = [
  {
    name: 'the logs of a transaction',
    query: `query OfTransaction($txHash: String!) {
      Ethereum__Mainnet__Log(filter: { transactionHash: { _eq: $txHash } }) {
        address topics data blockHash logIndex removed
      }
    }`,
    variables: { txHash: sample.transaction.hash },
    data: {
      Ethereum__Mainnet__Log: sample.transaction.logs.map((log) =>
        pick(log, 'address topics data blockHash logIndex removed'),
      ),
    },
  },
  {
    name: 'the logs of a block',
    query: `query OfBlock($blockHash: String!) {
      Ethereum__Mainnet__Log(filter: { blockHash: { _eq: $blockHash } }) {
        address topics data logIndex removed
      }
    }`,
    variables: { blockHash: sample.block.hash },
    data: {
      Ethereum__Mainnet__Log: logs
        .filter(({ block }) => block === sample.block)
        .map((log) => pick(log, 'address topics data logIndex removed')),
    },
  },
  {
    name: 'the logs of an event',
    query: `query OfEvent($topic: String!) {
      Ethereum__Mainnet__Log(filter: { topics: { _any: { _eq: $topic } } }) {
        address topics data blockHash transactionHash logIndex removed
      }
    }`,
    variables: { topic: transfer },
    data: {
      Ethereum__Mainnet__Log: logs.map((log) =>
        pick(log, 'address topics data blockHash transactionHash logIndex removed'),
      ),
    },
  },
  {
    name: 'the logs with a topic, each with its transaction',
    query: `query WithTopic($topic: String!) {
      Ethereum__Mainnet__Log(filter: { topics: { _any: { _eq: $topic } } }) {
        address topics data blockHash logIndex removed
        transaction { hash from to value }
      }
    }`,
    variables: { topic: sample.topics[2] },
    data: {
      Ethereum__Mainnet__Log: logs
        .filter(({ topics }) => topics.includes(sample.topics[2] ?? ''))
        .map((log) => ({
          ...pick(log, 'address topics data blockHash logIndex removed'),
          transaction: pick(log.transaction, 'hash from to value'),
        })),
    },
  },
  {
    name: 'the newest logs, those of a block backwards too',
    query: `query Newest {
      Ethereum__Mainnet__Log( order: { blockNumber: DESC } limit: 10 ) {
        address topics data blockNumber blockHash transactionHash transactionIndex logIndex removed
      }
    }`,
    data: {
      Ethereum__Mainnet__Log: newest(logs, 10).map((log) =>
        pick(
          log,
          'address topics data blockNumber blockHash transactionHash transactionIndex logIndex removed',
        ),
      ),
    },
  },
  {
    name: 'some logs, for a first look',
    query: '{ Ethereum__Mainnet__Log(limit: 10) { _docID address topics blockNumber } }',
    data: {
      Ethereum__Mainnet__Log: logs
        .slice(0, 10)
        .map((log) => pick(log, '_docID address topics blockNumber')),
    },
  },
  {
    name: 'the logs of a contract, its address in capital letters',
    query: `{ Ethereum__Mainnet__Log(filter: {address: {_eq: "${capitals(sample.address)}"}}, limit: 10) {
      _docID address topics blockNumber data } }`,
    data: {
      Ethereum__Mainnet__Log: logs
        .filter(({ address }) => address === sample.address)
        .slice(0, 10)
        .map((log) => pick(log, '_docID address topics blockNumber data')),
    },
  },
  {
    name: 'the five newest logs',
    query: `query { Ethereum__Mainnet__Log(order: { blockNumber: DESC }, limit: 5) {
      address topics blockNumber transactionHash logIndex } }`,
    data: {
      Ethereum__Mainnet__Log: newest(logs, 5).map((log) =>
        pick(log, 'address topics blockNumber transactionHash logIndex'),
      ),
    },
  },
  {
    name: 'the docIDs of a range of blocks',
    query:
      'query { Ethereum__Mainnet__Log(filter: {blockNumber: {_geq: 103, _leq: 105}}) { _docID } }',
    data: {
      Ethereum__Mainnet__Log: logs
        .filter(({ block }) => block.number >= 103 && block.number <= 105)
        .map((log) => pick(log, '_docID')),
    },
  },
  {
    name: 'the oldest logs, up to more than there are',
    query: `query { Ethereum__Mainnet__Log(order: {blockNumber: ASC}, limit: 50000) {
      _docID blockNumber } }`,
    data: { Ethereum__Mainnet__Log: logs.map((log) => pick(log, '_docID blockNumber')) },
  },
  {
    name: 'some logs without their data',
    query: '{ Ethereum__Mainnet__Log(limit: 10) { address blockNumber transactionHash logIndex } }',
    data: {
      Ethereum__Mainnet__Log: logs
        .slice(0, 10)
        .map((log) => pick(log, 'address blockNumber transactionHash logIndex')),
    },
  },
  {
    name: 'a log with its block',
    query: '{ Ethereum__Mainnet__Log(limit: 1) { address logIndex block { hash } } }',
    data: {
      Ethereum__Mainnet__Log: logs
        .slice(0, 1)
        .map((log) => ({ ...pick(log, 'address logIndex'), block: { hash: log.block.hash } })),
    },
  },
  {
    name: 'a log by its docID',
    query: `{ Ethereum__Mainnet__Log(docID: "${sample['_docID']}") { _docID address topics } }`,
    data: { Ethereum__Mainnet__Log: [pick(sample, '_docID address topics')] },
  },
  {
    name: 'the logs of a transaction by their index, the order as a list',
    query: `query OfTransaction($hash: String) {
      Logs: Ethereum__Mainnet__Log(
        filter: { transactionHash: { _eq: $hash } } order: [{ logIndex: ASC }]
      ) { logIndex address topics data transactionHash blockNumber }
    }`,
    variables: { hash: sample.transaction.hash },
    data: {
      Logs: sample.transaction.logs.map((log) =>
        pick(log, 'logIndex address topics data transactionHash blockNumber'),
      ),
    },
  },
  {
    name: 'the access list entries of a transaction by its docID',
    query: `query Entries($transactionId: String!) {
      AccessListEntry(filter: {transaction_id: {_eq: $transactionId}}) {
        address storageKeys transaction_id
      }
    }`,
    variables: { transactionId: entry.transaction['_docID'] },
    data: {
      AccessListEntry: entry.transaction.accessList.map((one) =>
        pick(one, 'address storageKeys transaction_id'),
      ),
    },
  },
  {
    name: 'all access list entries',
    query: 'query Entries{ AccessListEntry{ address storageKeys transaction_id } }',
    data: {
      AccessListEntry: entries.map((one) => pick(one, 'address storageKeys transaction_id')),
    },
  },
  {
    name: 'some access list entries, for a first look',
    query: '{ Ethereum__Mainnet__AccessListEntry(limit: 3) { address storageKeys } }',
    data: {
      Ethereum__Mainnet__AccessListEntry: entries
        .slice(0, 3)
        .map((one) => pick(one, 'address storageKeys')),
    },
  },
]

test('logs and access list entries are answered as the dialect says', (t) => runCases(t, cases))
