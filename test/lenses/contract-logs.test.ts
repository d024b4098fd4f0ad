import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AbiEvent,
  type AbiFunction,
  decodeEventLog,
  decodeFunctionData,
  getAddress,
  type Hex,
  toEventSelector,
  toEventSignature,
  toFunctionSelector,
  toFunctionSignature,
} from 'viem'
import { type CallDocument, contractLogs, type RecordedContract } from './support/contract-logs.ts'
import { balanceRows, transferRows, transfersOf } from './support/erc20-rows.ts'
import { expectedArguments, expectedValue } from './support/expected-values.ts'
import { fedSingly, openSetLens, streamed, values } from './support/fed-lens.ts'
import type { LogDocument } from './support/fixture-logs.ts'

const { contracts, logs, transactions } = contractLogs()

const contractAt = (address: Hex): RecordedContract =>
  contracts.find((one) => one.address === address) ?? assert.fail(`nothing known of ${address}`)

/** The row of a log by the ABI of the contract that wrote it, as viem decodes it. */
function rowOfLog(log: LogDocument): object {
  const own = contractAt(log.address)
  const event = own.abi.find(
    (item): item is AbiEvent => item.type === 'event' && toEventSelector(item) === log.topics[0],
  )
  assert.ok(event, own.name)
  const { eventName, args } = decodeEventLog({
    abi: [event],
    data: log.data,
    topics: [...log.topics],
    strict: true,
  })
  const { hash, from, to } = log.transaction
  const list = expectedArguments(event, args ?? {})
  return {
    ...{ ...log, hash, from, to, logAddress: log.address },
    ...{ event: eventName, signature: toEventSignature(event), arguments: list },
  }
}

function rowOfCall(call: CallDocument): object {
  const selector = call.input.slice(0, 10)
  const called = contractAt(call.to).abi.find(
    (item): item is AbiFunction =>
      item.type === 'function' && toFunctionSelector(item) === selector,
  )
  assert.ok(called)
  const { functionName, args = [] } = decodeFunctionData({ abi: [called], data: call.input })
  const list = called.inputs.map((input, place) => ({
    ...{ name: input.name, type: input.type },
    value: expectedValue(input, args[place]),
  }))
  return {
    ...{ ...call, block: String(call.blockNumber), function: functionName },
    ...{ signature: toFunctionSignature(called), arguments: list },
  }
}

test('decode_log decodes what published contracts log on a node as viem does, by either feed', () => {
  const expected = logs.map(rowOfLog)
  const abi = contracts.flatMap((contract) => contract.abi)
  const lens = (): ReturnType<typeof openSetLens> => openSetLens('decode_log', { abi })
  assert.deepEqual(values(streamed(lens(), logs)), expected)
  assert.deepEqual(values(fedSingly(lens(), logs)), expected)
})

test('decode_call decodes how published contracts are called as viem does, by either feed', () => {
  // ERC-20 and ERC-721 give the parameters of `approve` different names, so that each contract has a lens of its own.
  for (const [to, calls] of Map.groupBy(transactions, (call) => call.to)) {
    const { abi } = contractAt(to)
    const expected = calls.map(rowOfCall)
    const lens = (): ReturnType<typeof openSetLens> => openSetLens('decode_call', { abi })
    assert.deepEqual(values(streamed(lens(), calls)), expected)
    assert.deepEqual(values(fedSingly(lens(), calls)), expected)
  }
})

test('filter finds the logs of each published contract by its address, by either feed', () => {
  for (const { address } of contracts) {
    const expected = logs.filter((log) => log.address === address)
    const lens = (): ReturnType<typeof openSetLens> =>
      openSetLens('filter', { src: 'address', value: getAddress(address) })
    assert.deepEqual(values(streamed(lens(), logs)), expected)
    assert.deepEqual(values(fedSingly(lens(), logs)), expected)
  }
})

test('filter_transaction finds the calls of each published contract, by either feed', () => {
  for (const [src, found] of [
    ['to', Map.groupBy(transactions, ({ to }) => to)],
    ['blockNumber', Map.groupBy(transactions, ({ blockNumber }) => blockNumber)],
  ] as const)
    for (const [value, expected] of found) {
      const lens = (): ReturnType<typeof openSetLens> =>
        openSetLens('filter_transaction', { src, value })
      assert.deepEqual(values(streamed(lens(), transactions)), expected)
      assert.deepEqual(values(fedSingly(lens(), transactions)), expected)
    }
})

test('the lenses of ERC-20 find its transfers in the logs of all kinds of contracts', () => {
  const tokens = new Set<string>()
  for (const { name, address } of contracts) {
    const transfers = transfersOf(address, logs)
    if (transfers.length > 0) tokens.add(name)
    const rows = transferRows(address, logs)
    const open = (lens: string): ReturnType<typeof openSetLens> =>
      openSetLens(lens, { tokenAddress: address })
    assert.deepEqual(values(streamed(open('erc20_transfers'), logs)), rows)
    assert.deepEqual(values(fedSingly(open('erc20_transfers'), logs)), rows)
    const balances = values(streamed(open('erc20_balances'), logs))
    assert.deepEqual(balances, balanceRows(address, transfers))
  }
  assert.deepEqual([...tokens], ['ERC-20', 'V2 pair'], 'what a V2 pair mints is a token as well')
})

test('tokens, pools of Uniswap V2 and V3, and events with lists of tuples are among the logs', () => {
  const found = new Set(
    logs.map((log) => {
      const { signature } = rowOfLog(log) as { readonly signature: string }
      return `${contractAt(log.address).name} ${signature.replace(/\(.*/, '')}`
    }),
  )
  for (const wanted of [
    'ERC-20 Transfer',
    'ERC-20 Approval',
    'ERC-721 Transfer',
    'ERC-721 ApprovalForAll',
    'ERC-1155 TransferSingle',
    'ERC-1155 TransferBatch',
    'V2 factory PairCreated',
    'V2 pair Mint',
    'V2 pair Swap',
    'V2 pair Burn',
    'V3 pool Initialize',
    'V3 pool Mint',
    'V3 pool Swap',
    'V3 positions Collect',
    'Seaport OrderValidated',
    'Seaport OrderFulfilled',
  ]) {
    assert.ok(found.has(wanted), wanted)
  }
})
