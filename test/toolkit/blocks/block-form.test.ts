import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBlocks } from '../../../src/toolkit/blocks/block-form.ts'

const read = (...blocks: readonly unknown[]) => readBlocks(blocks, 'blocks')
/** The receipts of one block. */
const receiptsOf = (block: object) => read(block)[0]?.receipts ?? []
const refused = (block: unknown, message: string): void =>
  assert.throws(() => read(block), { code: 'TOOLKIT_FIXTURE_INVALID', message })

test('blocks without number, parent and time follow each other as in a chain', () => {
  const [first, second, third, fourth] = read({}, {}, { number: 9, timestamp: 100 }, {})
  assert.deepEqual(
    [first, second, third, fourth].map((one) => [one?.number, Number(one?.block.timestamp)]),
    [
      [1, 1_700_000_000],
      [2, 1_700_000_012],
      [9, 100],
      [10, 112],
    ],
  )
  assert.equal(first?.block.parentHash, `0x${'0'.repeat(64)}`)
  assert.equal(second?.block.parentHash, first?.hash)
  assert.equal(fourth?.block.parentHash, third?.hash)
  assert.match(first?.hash ?? '', /^0x[0-9a-f]{64}$/)
  assert.notEqual(first?.hash, second?.hash)
})

test('what a fixture says of a block is kept, and null is as good as nothing', () => {
  const [block] = read({ hash: '0xaa', miner: '0xbb', gasUsed: 21_000, size: null, _docID: 'x' })
  assert.equal(block?.hash, '0xaa')
  const { hash, miner, gasUsed } = block?.block ?? {}
  assert.deepEqual(
    [hash, miner, gasUsed, 'size' in Object(block?.block)],
    ['0xaa', '0xbb', '0x5208', false],
  )
})

test('logs of a block itself are those of a transaction behind the others', () => {
  const block = {
    transactions: [{ hash: '0x01', logs: [{}, {}] }, { logs: [{ logIndex: 7 }, {}] }],
    logs: [{ address: '0xaa' }],
  }
  const [found] = read(block)
  const hashes = found?.block.transactions?.map(({ hash }) => hash) ?? []
  assert.deepEqual([hashes.length, new Set(hashes).size, hashes[0]], [3, 3, '0x01'])
  assert.deepEqual(
    found?.receipts.map(({ logs }) => logs?.map(({ logIndex }) => logIndex)),
    [['0x0', '0x1'], ['0x7', '0x8'], ['0x9']],
  )
  assert.deepEqual(found?.receipts[2]?.logs, [
    { data: '0x', address: '0xaa', logIndex: '0x9', removed: false },
  ])
})

test('a block without logs of its own has no transaction that nobody wrote', () => {
  for (const logs of [undefined, null, []]) {
    const [found] = read({ transactions: [{}], logs })
    assert.deepEqual([found?.block.transactions?.length, found?.receipts], [1, [{ logs: [] }]])
  }
  refused({ logs: {} }, 'blocks[0].logs is {}')
})

test('an access list is kept as it is written, and its keys are a list', () => {
  const entry = { address: '0xaa', storageKeys: ['0x01', '0x02'] }
  const [found] = read({ transactions: [{ accessList: [entry, { address: '0xbb' }] }, {}] })
  assert.deepEqual(
    found?.block.transactions?.map(({ accessList }) => accessList),
    [[entry, { address: '0xbb' }], []],
  )
  refused(
    { transactions: [{ accessList: [{ storageKeys: 'x' }] }] },
    'blocks[0].transactions[0].accessList[0].storageKeys is "x"',
  )
})

test('what a transaction has of its receipt is in the receipt', () => {
  const statusOf = (status: unknown) => Object(receiptsOf({ transactions: [{ status }] })[0]).status
  assert.deepEqual([true, false, null].map(statusOf), ['0x1', '0x0', undefined])
  refused({ transactions: [{ status: '0x1' }] }, 'blocks[0].transactions[0].status is "0x1"')
  const [receipt] = receiptsOf({ transactions: [{ gasUsed: 5, effectiveGasPrice: '0x6' }] })
  assert.deepEqual(receipt, { gasUsed: '0x5', effectiveGasPrice: '0x6', logs: [] })
})

test('a log that was removed says so in the words of a Host, and in no others', () => {
  const [receipt] = receiptsOf({ logs: ['true', 'false', null].map((removed) => ({ removed })) })
  assert.deepEqual(
    receipt?.logs?.map(({ removed }) => removed),
    [true, false, false],
  )
  refused({ logs: [{ removed: true }] }, 'blocks[0].logs[0].removed is true')
  refused({ logs: [{ removed: 'yes' }] }, 'blocks[0].logs[0].removed is "yes"')
})

test('a place that is written has to be the one where it stands', () => {
  const at = (blockNumber: number, transactionIndex: number): object => ({
    ...{ number: 5, transactions: [{}, { blockNumber, transactionIndex, logs: [] }] },
  })
  assert.equal(read(at(5, 1))[0]?.number, 5)
  assert.equal(read({ number: 0, transactions: [{ blockNumber: null }] })[0]?.number, 0)
  refused(at(4, 1), 'blocks[0].transactions[1].blockNumber is 4')
  refused(at(5, 0), 'blocks[0].transactions[1].transactionIndex is 0')
  const log = { number: 5, transactions: [{ logs: [{ transactionIndex: 1 }] }] }
  refused(log, 'blocks[0].transactions[0].logs[0].transactionIndex is 1')
})

test('values of another kind are refused by their place', () => {
  refused({ number: 1.5 }, 'blocks[0].number is 1.5')
  refused({ number: 2 ** 53 }, `blocks[0].number is ${2 ** 53}`)
  refused({ gasUsed: -1 }, 'blocks[0].gasUsed is -1')
  refused({ hash: 7 }, 'blocks[0].hash is 7')
  refused({ miner: 7 }, 'blocks[0].miner is 7')
  refused({ logs: [{ topics: ['0x', 7] }] }, 'blocks[0].logs[0].topics[1] is 7')
  refused({ transactions: [{ accessList: [7] }] }, 'blocks[0].transactions[0].accessList[0] is 7')
  refused({ miner: 'x'.repeat(5).split('') }, 'blocks[0].miner is ["x","x","x","x","x"]')
  refused(null, 'blocks[0] is null')
  refused(
    { [`_${'x'.repeat(99)}`]: 1, ['x'.repeat(81)]: 1 },
    `blocks[0] has the field ${'x'.repeat(80)}, which a Block does not have`,
  )
  refused({ hash: { a: 'x'.repeat(100) } }, `blocks[0].hash is {"a":"${'x'.repeat(74)}`)
})

test('a list has a hundred thousand items at most', () => {
  const topics = (count: number): object => ({ logs: [{ topics: Array(count).fill('0x') }] })
  assert.equal(receiptsOf(topics(100_000))[0]?.logs?.[0]?.topics?.length, 100_000)
  refused(topics(100_001), 'blocks[0].logs[0].topics is 100001')
})
