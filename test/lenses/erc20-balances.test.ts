import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Hex, pad, toHex, zeroAddress } from 'viem'
import { balanceRows, type Transfer, transfersOf } from './support/erc20-rows.ts'
import { document, end, error, openSetLens, streamed, values } from './support/fed-lens.ts'
import { recordedLogs } from './support/fixture-logs.ts'
import { encodeLog, knownEvents } from './support/known-events.ts'

const erc20 = knownEvents['ERC-20'] ?? assert.fail()
const tokenAddress = `0x${'70'.repeat(20)}` as Hex
const open = (token = tokenAddress): ReturnType<typeof openSetLens> =>
  openSetLens('erc20_balances', { tokenAddress: token })

const toLog = (transfer: Transfer): object => ({
  address: tokenAddress,
  ...encodeLog(erc20, { ...transfer }),
})

test('erc20_balances adds up the transfers in recorded blocks', () => {
  const logs = recordedLogs()
  const token = logs[0]?.address ?? assert.fail()
  const transfers = transfersOf(token, logs)
  assert.ok(transfers.length > 10)
  assert.deepEqual(values(streamed(open(token), logs)), balanceRows(token, transfers))
})

/** Few accounts, some of which differ in their last bits alone. */
const account = fc.oneof(
  fc.nat({ max: 40 }).map((n) => pad(toHex(n), { size: 20 })),
  fc.nat({ max: 3 }).map((n) => pad(toHex(n), { size: 20, dir: 'right' })),
  fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes)),
)
const value = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.constantFrom(0n, 1n, 2n ** 64n - 1n, 2n ** 256n - 1n),
)

test('erc20_balances adds up whatever is sent, also beyond 256 bits', () => {
  const transfers = fc.array(fc.record({ from: account, to: account, value }), {
    maxLength: 120,
    size: 'max',
  })
  fc.assert(
    fc.property(transfers, (each) => {
      const rows = values(streamed(open(), each.map(toLog)))
      assert.deepEqual(rows, balanceRows(tokenAddress, each))
    }),
    { numRuns: 200 },
  )
})

test('erc20_balances takes nothing behind the end of its stream', () => {
  const lens = open()
  const log = toLog({ from: tokenAddress, to: zeroAddress, value: 1n })
  assert.deepEqual(lens.transform([]), end)
  const source = [document(log)].values()
  assert.deepEqual(lens.transform(source), end)
  assert.deepEqual(source.next().value, document(log))
})

test('erc20_balances keeps its memory over 100,000 transfers between the same accounts', () => {
  const lens = open()
  const logs = Array.from({ length: 64 }, (_, n) =>
    document(toLog({ from: pad(toHex(n + 1), { size: 20 }), to: tokenAddress, value: 1n })),
  )
  const feed = (count: number): void => {
    const source = Array.from({ length: count }, (_, n) => logs[n % logs.length] ?? end)
    // An error stops it in front of the end of the stream.
    assert.deepEqual(lens.transform([...source, error('go on')]), error('go on'))
  }
  feed(1_000)
  const before = lens.memoryBytes()
  feed(99_000)
  assert.equal(lens.memoryBytes(), before)
})

test('erc20_balances takes 200,000 accounts and answers an error to the next one', () => {
  const lens = open()
  const template = JSON.stringify(toLog({ from: zeroAddress, to: tokenAddress, value: 1n }))
  const account = tokenAddress.slice(2)
  const logOf = (n: number): string => template.replaceAll(`000${account}`, `000${words(n)}`)
  const words = (n: number): string => n.toString(16).padStart(40, '0')
  const source = Array.from({ length: 200_001 }, (_, n) => ({
    type: 'document' as const,
    text: logOf(n + 1),
  })).values()
  assert.deepEqual(
    lens.transform(source),
    error('there are more than 200000 accounts: let the query of the View select fewer logs'),
  )
  assert.ok(source.next().done)
})
