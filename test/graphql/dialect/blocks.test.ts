import { test } from 'node:test'
import {
  type ExpectedBlock,
  type ExpectedLog,
  pick,
} from '../../support/chain/expected-documents.ts'
import { blocks, type DialectCase, newest, runCases } from '../support/dialect.ts'

const header =
  'hash number parentHash difficulty gasUsed gasLimit nonce miner size stateRoot transactionsRoot receiptsRoot extraData'
const wholeHeader =
  'hash number timestamp parentHash difficulty totalDifficulty gasUsed gasLimit baseFeePerGas nonce miner size stateRoot sha3Uncles transactionsRoot receiptsRoot logsBloom extraData mixHash'
const logFields =
  'address topics data blockNumber transactionHash transactionIndex blockHash logIndex removed'

const [oldest, second, third] = blocks as [ExpectedBlock, ExpectedBlock, ExpectedBlock]
const lastIndex = (block: ExpectedBlock) => [{ transactionIndex: block.transactions.length - 1 }]
const logsOf = (logs: readonly ExpectedLog[], fields: string) =>
  logs.map((log) => pick(log, fields))

const cases: readonly DialectCase[] = [
  {
    name: 'the height of the newest block',
    query: 'query Highest { Ethereum__Mainnet__Block(order: {number: DESC}, limit: 1) { number } }',
    data: { Ethereum__Mainnet__Block: [{ number: 112 }] },
  },
  {
    name: 'the height of the oldest block',
    query: 'query { Ethereum__Mainnet__Block(order: {number: ASC}, limit: 1) { number } }',
    data: { Ethereum__Mainnet__Block: [{ number: 101 }] },
  },
  {
    name: 'the headers of the newest blocks',
    query: `query Latest { Ethereum__Mainnet__Block(order: {number: DESC}, limit: 10) { ${header} } }`,
    data: { Ethereum__Mainnet__Block: newest(blocks, 10).map((block) => pick(block, header)) },
  },
  {
    name: 'a block by its number, with transactions and their logs',
    query: `query Whole($blockNumber: Int!) {
      Ethereum__Mainnet__Block(filter: {number: {_eq: $blockNumber}}) {
        ${header}
        transactions {
          hash blockHash blockNumber from to value gasPrice input nonce transactionIndex
          logs { ${logFields} }
        }
      }
    }`,
    variables: { blockNumber: 102 },
    data: {
      Ethereum__Mainnet__Block: [
        {
          ...pick(second, header),
          transactions: second.transactions.map((transaction) => ({
            ...pick(
              transaction,
              'hash blockHash blockNumber from to value gasPrice input nonce transactionIndex',
            ),
            logs: logsOf(transaction.logs, logFields),
          })),
        },
      ],
    },
  },
  {
    name: 'all blocks under the short name',
    query: 'query { Block { hash number timestamp miner transactions { hash from to value } } }',
    data: {
      Block: blocks.map((block) => ({
        ...pick(block, 'hash number timestamp miner'),
        transactions: block.transactions.map((one) => pick(one, 'hash from to value')),
      })),
    },
  },
  {
    name: 'everything of the first block, a field asked for twice',
    query: `{ Ethereum__Mainnet__Block(limit:1){ _docID number timestamp hash nonce difficulty size
      stateRoot gasUsed gasLimit baseFeePerGas logsBloom uncles sha3Uncles receiptsRoot parentHash
      extraData miner difficulty totalDifficulty transactions{ hash blockHash block_id _docID
      logs{ blockHash transactionHash address topics data }
      accessList{ storageKeys address transaction_id } } } }`,
    data: {
      Ethereum__Mainnet__Block: [
        {
          ...pick(
            oldest,
            '_docID number timestamp hash nonce difficulty size stateRoot gasUsed gasLimit baseFeePerGas logsBloom uncles sha3Uncles receiptsRoot parentHash extraData miner totalDifficulty',
          ),
          transactions: oldest.transactions.map((one) => ({
            ...pick(one, 'hash blockHash block_id _docID'),
            logs: logsOf(one.logs, 'blockHash transactionHash address topics data'),
            accessList: one.accessList.map((entry) =>
              pick(entry, 'storageKeys address transaction_id'),
            ),
          })),
        },
      ],
    },
  },
  {
    name: 'a block by its docID, its transactions counted and listed backwards',
    query: `query { Ethereum__Mainnet__Block(docID: "block-${third.hash}") {
      _docID number _count(transactions:{}) hash
      transactions(order: {transactionIndex: DESC}) { transactionIndex _docID }
    } }`,
    data: {
      Ethereum__Mainnet__Block: [
        {
          ...pick(third, '_docID number'),
          _count: 4,
          hash: third.hash,
          transactions: newest(third.transactions, 4).map((one) =>
            pick(one, 'transactionIndex _docID'),
          ),
        },
      ],
    },
  },
  {
    name: 'a limit, a filter and an order on a nested list, without a comma between them',
    query: `query { Ethereum__Mainnet__Block( filter: { number: { _eq: 103 } } ){
      _docID number hash receiptsRoot size gasUsed
      transactions( limit: 1, filter: { blockNumber: { _eq: 103 } } order: { transactionIndex: DESC } ) {
        transactionIndex
      }
    } }`,
    data: {
      Ethereum__Mainnet__Block: [
        {
          ...pick(third, '_docID number hash receiptsRoot size gasUsed'),
          transactions: lastIndex(third),
        },
      ],
    },
  },
  {
    name: 'how many transactions each block has',
    query:
      'query { Ethereum__Mainnet__Block(limit:10) { _docID number hash _count(transactions:{}) } }',
    data: {
      Ethereum__Mainnet__Block: blocks
        .slice(0, 10)
        .map((block) => ({ ...pick(block, '_docID number hash'), _count: 4 })),
    },
  },
  {
    name: 'one block, for a first look',
    query: '{ Ethereum__Mainnet__Block(limit: 1) { number hash } }',
    data: { Ethereum__Mainnet__Block: [pick(oldest, 'number hash')] },
  },
  {
    name: 'the numbers of all blocks, ascending without having asked for an order',
    query: '{ Ethereum__Mainnet__Block { number } }',
    data: { Ethereum__Mainnet__Block: blocks.map(({ number }) => ({ number })) },
  },
  {
    name: 'the probe for a block',
    query: 'query { Ethereum__Mainnet__Block(filter: {number: {_eq: 104}}) { _docID } }',
    data: { Ethereum__Mainnet__Block: [pick(blocks[3] ?? {}, '_docID')] },
  },
  {
    name: 'the probe for a collection',
    query: '{ Ethereum__Mainnet__Block { __typename } }',
    data: {
      Ethereum__Mainnet__Block: blocks.map(() => ({ __typename: 'Ethereum__Mainnet__Block' })),
    },
  },
  {
    name: 'the probe for an endpoint',
    query: 'query { __typename }',
    data: { __typename: 'Query' },
  },
  {
    name: 'a block with its transactions, logs and access lists',
    query: `{ Ethereum__Mainnet__Block(limit: 1) { hash number transactions {
      hash from to logs { address logIndex } accessList { address storageKeys } } } }`,
    data: {
      Ethereum__Mainnet__Block: [
        {
          ...pick(oldest, 'hash number'),
          transactions: oldest.transactions.map((one) => ({
            ...pick(one, 'hash from to'),
            logs: logsOf(one.logs, 'address logIndex'),
            accessList: one.accessList.map((entry) => pick(entry, 'address storageKeys')),
          })),
        },
      ],
    },
  },
  {
    name: 'a list of blocks under an alias, each with its last transaction’s index',
    query: `query Short($limit: Int) {
      Block: Ethereum__Mainnet__Block( limit: $limit, order: { number: DESC } ) {
        number miner timestamp
        transactions(limit: 1, order: { transactionIndex: DESC }) { transactionIndex }
      }
    }`,
    variables: { limit: 5 },
    data: {
      Block: newest(blocks, 5).map((block) => ({
        ...pick(block, 'number miner timestamp'),
        transactions: lastIndex(block),
      })),
    },
  },
  {
    name: 'a page of blocks',
    query: `query Page($offset: Int, $limit: Int) {
      Block: Ethereum__Mainnet__Block(offset: $offset, limit: $limit, order: { number: DESC }) {
        number timestamp gasUsed gasLimit miner
        transactions(limit: 1, order: { transactionIndex: DESC }) { transactionIndex }
      }
    }`,
    variables: { offset: 4, limit: 3 },
    data: {
      Block: newest(blocks, 7)
        .slice(4)
        .map((block) => ({
          ...pick(block, 'number timestamp gasUsed gasLimit miner'),
          transactions: lastIndex(block),
        })),
    },
  },
  {
    name: 'a page of blocks with transactions counted, no variable given',
    query: `query Page($offset: Int, $limit: Int) {
      Block: Ethereum__Mainnet__Block(offset: $offset, limit: $limit, order: { number: DESC }) {
        hash number timestamp gasUsed gasLimit miner size txCount: _count(transactions: {})
      }
    }`,
    data: {
      Block: newest(blocks, 12).map((block) => ({
        ...pick(block, 'hash number timestamp gasUsed gasLimit miner size'),
        txCount: 4,
      })),
    },
  },
  {
    name: 'all of a header, by number',
    query: `query One($number: Int!) {
      Block: Ethereum__Mainnet__Block(filter: { number: { _eq: $number } }, limit: 1) { ${wholeHeader} }
    }`,
    variables: { number: 101 },
    data: { Block: [pick(oldest, wholeHeader)] },
  },
  {
    name: 'all of a header, by hash',
    query: `query One($hash: String!) {
      Block: Ethereum__Mainnet__Block(filter: { hash: { _eq: $hash } }, limit: 1) { ${wholeHeader} }
    }`,
    variables: { hash: second.hash },
    data: { Block: [pick(second, wholeHeader)] },
  },
  {
    name: 'a page of a block’s transactions, by number',
    query: `query Page($offset: Int, $limit: Int, $blockNumber: Int) {
      BlockTransactions: Ethereum__Mainnet__Block( filter: { number: { _eq: $blockNumber } } limit: 1 ) {
        timestamp
        transactions (offset: $offset, limit: $limit) { hash from to value gasPrice }
      }
    }`,
    variables: { offset: 1, limit: 2, blockNumber: 102 },
    data: {
      BlockTransactions: [
        {
          ...pick(second, 'timestamp'),
          transactions: second.transactions
            .slice(1, 3)
            .map((one) => pick(one, 'hash from to value gasPrice')),
        },
      ],
    },
  },
  {
    name: 'a page of a block’s transactions, by hash',
    query: `query Page($offset: Int, $limit: Int, $hash: String!) {
      BlockTransactions: Ethereum__Mainnet__Block(filter: { hash: { _eq: $hash } }, limit: 1) {
        timestamp
        transactions (offset: $offset, limit: $limit) { hash from to value gasPrice }
      }
    }`,
    variables: { offset: 3, limit: 25, hash: third.hash },
    data: {
      BlockTransactions: [
        {
          ...pick(third, 'timestamp'),
          transactions: third.transactions
            .slice(3)
            .map((one) => pick(one, 'hash from to value gasPrice')),
        },
      ],
    },
  },
  {
    name: 'a block’s number of transactions by the index of its last one, by number',
    query: `query Count($blockNumber: Int) {
      Counted: Ethereum__Mainnet__Block( filter: { number: { _eq: $blockNumber } } limit: 1 ) {
        transactions (order: { transactionIndex: DESC }, limit: 1) { transactionIndex }
      }
    }`,
    variables: { blockNumber: 110 },
    data: { Counted: [{ transactions: [{ transactionIndex: 3 }] }] },
  },
  {
    name: 'a block’s number of transactions by the index of its last one, by hash',
    query: `query Count($blockHash: String!) {
      Counted: Ethereum__Mainnet__Block( filter: { hash: { _eq: $blockHash } } limit: 1 ) {
        transactions (order: { transactionIndex: DESC }, limit: 1) { transactionIndex }
      }
    }`,
    variables: { blockHash: oldest.hash },
    data: { Counted: [{ transactions: [{ transactionIndex: 3 }] }] },
  },
  {
    name: 'how many blocks there are',
    query: 'query Count { count: _count(Ethereum__Mainnet__Block: {}) }',
    data: { count: 12 },
  },
]

test('blocks are answered as the dialect says', (t) => runCases(t, cases))
