import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { transferRows } from './support/erc20-rows.ts'
import {
  document,
  end,
  error,
  fedSingly,
  nil,
  openLens,
  openSetLens,
  streamed,
  values,
} from './support/fed-lens.ts'
import { recordedLogs } from './support/fixture-logs.ts'
import { encodeLog, knownEvents } from './support/known-events.ts'

const logs = recordedLogs()
const tokenAddress = logs[0]?.address ?? assert.fail('no log')
const open = (): ReturnType<typeof openLens> => openSetLens('erc20_transfers', { tokenAddress })

test('erc20_transfers makes rows of the transfers in recorded blocks, and of nothing else', () => {
  const expected = transferRows(tokenAddress, logs)
  assert.ok(expected.length > 10 && expected.length < logs.length)
  assert.deepEqual(values(streamed(open(), logs)), expected)
  assert.deepEqual(values(fedSingly(open(), logs)), expected)
})

test('erc20_transfers knows its token in capitals, and answers the address in small letters', () => {
  const capitals = `0x${tokenAddress.slice(2).toUpperCase()}`
  const lens = openSetLens('erc20_transfers', { tokenAddress: capitals })
  assert.deepEqual(values(streamed(lens, logs)), transferRows(tokenAddress, logs))
})

const party = `0x${'11'.repeat(20)}` as Hex
const erc20 = knownEvents['ERC-20'] ?? assert.fail()
const transfer = encodeLog(erc20, { from: party, to: party, value: 5n })
const row = { tokenAddress, hash: null, from: party, to: party, amount: '5', blockNumber: null }

test('erc20_transfers takes the hash of the log itself without a transaction, and null for none', () => {
  const log = { address: tokenAddress, ...transfer }
  assert.deepEqual(values(streamed(open(), [log, { ...log, transactionHash: '0x1' }])), [
    row,
    { ...row, hash: '0x1' },
  ])
})

test('erc20_transfers skips what only looks like a transfer', () => {
  const erc721 = knownEvents['ERC-721'] ?? assert.fail()
  const [topic = '', from = '', to = ''] = transfer.topics
  const dirty = `0x1${from.slice(3)}`
  const others = [
    encodeLog(erc721, { from: party, to: party, tokenId: 5n }),
    { topics: [topic, from], data: transfer.data },
    { topics: [topic, dirty, to], data: transfer.data },
    { topics: [topic, from, dirty], data: transfer.data },
    { topics: [from, from, to], data: transfer.data },
    { topics: transfer.topics, data: transfer.data.slice(0, -2) },
    { topics: [], data: '0x' },
  ]
  const documents = others.map((log) => ({ address: tokenAddress, ...log }))
  assert.deepEqual(streamed(open(), documents), [])
  assert.deepEqual(streamed(open(), [{ ...transfer, address: party }]), [])
  assert.deepEqual(streamed(open(), [{ ...transfer, address: null }]), [])
})

for (const lensName of ['erc20_transfers', 'erc20_balances']) {
  test(`${lensName} refuses arguments without an address`, () => {
    const lens = openLens(lensName)
    const answers = [{}, { tokenAddress: '' }, { tokenAddress: 7 }, { tokenAddress: '0x12' }]
    assert.deepEqual(
      answers.map((args) => lens.set(JSON.stringify(args))),
      [
        error("missing required argument 'tokenAddress'"),
        error("'tokenAddress' parameter cannot be empty"),
        error("the argument 'tokenAddress' is no string"),
        error("the argument 'tokenAddress' is no address"),
      ],
    )
    const noDigits = lens.set(JSON.stringify({ tokenAddress: `0x${'g'.repeat(40)}` }))
    assert.deepEqual(noDigits, error("the argument 'tokenAddress' is no address"))
    assert.deepEqual(lens.transform([]), error('set_param must be called before transform'))
  })

  test(`${lensName} answers an error to a document without what it needs, and goes on`, () => {
    const lens = openSetLens(lensName, { tokenAddress })
    const missing = (field: string): string =>
      `the document has no field '${field}': the query of the View has to select it`
    const { topics } = transfer
    assert.deepEqual(lens.transform([document([])]), error('the document is no JSON object'))
    assert.deepEqual(lens.transform([document({ topics })]), error(missing('address')))
    assert.deepEqual(
      lens.transform([document({ address: tokenAddress })]),
      error(missing('topics')),
    )
    assert.deepEqual(
      lens.transform([document({ topics, address: tokenAddress })]),
      error(missing('data')),
    )
    assert.deepEqual(lens.transform([nil]), nil)
    assert.deepEqual(lens.transform([error('gone')]), error('gone'))
    assert.equal(streamed(lens, [{ address: tokenAddress, ...transfer }]).length, 1)
  })
}

test('erc20_transfers answers each end of a stream, and takes more', () => {
  const lens = open()
  assert.deepEqual([lens.transform([]), lens.transform([])], [end, end])
  assert.deepEqual(values(streamed(lens, logs)), transferRows(tokenAddress, logs))
})

test('erc20_transfers keeps its memory over 100,000 documents of many sizes', () => {
  const lens = open()
  const feed = (count: number): void => {
    for (let n = 0; n < count; n += 1)
      lens.transform([document({ ...logs[n % logs.length], more: 'x'.repeat(n % 3_000) })])
  }
  feed(3_000)
  const before = lens.memoryBytes()
  feed(97_000)
  assert.equal(lens.memoryBytes(), before)
})
