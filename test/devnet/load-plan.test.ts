import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Abi,
  type Address,
  decodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
} from 'viem'
import { openLoad, planBlock, tokenCreation } from '../../src/devnet/load.ts'
import contracts from '../../src/devnet/token.json' with { type: 'json' }
import { captureLog } from '../support/captured-log.ts'
import { openJsonServer } from './support/json-server.ts'

const accounts = Array.from({ length: 10 }, (_, index): Address => `0x${String(index).repeat(40)}`)
const [owner = '0x'] = accounts
const token = getContractAddress({ from: owner, nonce: 0n })

/** The number of an account, or what else has the address. */
const nameOf = (address: string): string =>
  address === token ? 'token' : String(accounts.indexOf(address.toLowerCase() as Address))

function shownCall(data: Hex): string {
  if (data.startsWith(contracts.Note.bytecode)) return 'creates a note'
  const { functionName, args } = decodeFunctionData({ abi: contracts.Token.abi as Abi, data })
  const shown = (args ?? []).flat().map((one) => {
    if (typeof one === 'string') return nameOf(one)
    return BigInt(String(one)) % 10n ** 18n === 0n
      ? `${BigInt(String(one)) / 10n ** 18n}e18`
      : `${one}`
  })
  return `${functionName} ${shown.join(' ')}`
}

/** Such as `0x1 3 to token: transfer 4 7`, with how many storage keys each entry of an access list has. */
function plan(n: number): string[] {
  return planBlock(accounts, n).map(({ type, from, to, value, data, accessList }) => {
    const target = to === undefined ? '' : ` to ${nameOf(to)}`
    const content = data === undefined ? `value ${BigInt(value ?? 0)}` : shownCall(data)
    const list = accessList?.map(
      ({ address, storageKeys }) => ` [${nameOf(address)} ${storageKeys.length}]`,
    )
    return `${type} ${nameOf(from)}${target}: ${content}${list?.join('') ?? ''}`
  })
}

test('a block of load has transfers of every type, and the owner pays several at once', () => {
  assert.deepEqual(plan(1), [
    '0x2 0 to token: payAll 2 4 6 8 1 1e18',
    '0x0 2 to 3: value 1000000000000001',
    '0x0 3 to token: transfer 4 2',
    '0x2 4 to token: transfer 5 2',
    '0x1 5 to token: transfer 6 2 [token 2] [5 0] [6 0]',
    '0x2 6 to token: transfer 7 2 [token 2] [6 0] [7 0]',
    '0x2 7 to token: approve 8 1e18',
  ])
})

test('notes are created in every third block, and more is paid than anybody has in every fifth', () => {
  assert.deepEqual(plan(3).slice(7), ['0x2 1: creates a note'])
  assert.deepEqual(plan(5).slice(7), ['0x2 4 to token: transfer 5 1000000000e18'])
  assert.deepEqual(plan(4).length, 7)
  assert.equal(plan(15).length, 9)
})

test('access lists repeat their entry in every tenth block alone', () => {
  const listed = (n: number) => planBlock(accounts, n)[4]?.accessList
  const [entry] = listed(20) ?? []
  assert.deepEqual(listed(20), [entry, entry])
  assert.equal(new Set(listed(21)).size, 3)
})

test('what a transaction of the load may cost is bounded by its type', () => {
  const [price, tip] = ['0x77359400', '0x3b9aca00']
  for (const { type, gas, ...request } of planBlock(accounts, 15)) {
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
    assert.deepEqual(
      [gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas],
      type === '0x2'
        ? ['0x61a80', undefined, price, tip]
        : ['0x249f0', price, undefined, undefined],
    )
  }
  const { from, gas, gasPrice } = tokenCreation(accounts)
  assert.deepEqual([from, gas, gasPrice], [owner, '0x1e8480', price])
})

test('an access list names where the token keeps the balances of both', () => {
  const [, , , , transfer] = planBlock(accounts, 1)
  const slots = [5, 6].map((holder) =>
    keccak256(`0x${String(holder).repeat(40).padStart(64, '0')}${'0'.repeat(64)}`),
  )
  assert.deepEqual(transfer?.accessList?.[0], { address: token, storageKeys: slots })
})

test('the load needs ten accounts', () => {
  assert.throws(() => planBlock(accounts.slice(1), 1), /the load needs ten accounts/)
})

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

/** A node at block 7, where the token is there or not; each block's transactions are answered in turn. */
function createNode(code: string, answers: (() => unknown)[] = []) {
  const results: Readonly<Record<string, unknown>> = {
    ...{ eth_accounts: accounts, eth_getCode: code },
    ...{ eth_blockNumber: '0x7', eth_sendTransaction: '0x' },
  }
  return (asked: unknown): unknown => {
    if (Array.isArray(asked)) return answers.shift()?.() ?? []
    return { result: results[(asked as Call).method] }
  }
}

const blocksSent = (asked: readonly unknown[]): unknown[][] =>
  asked.filter(Array.isArray).map((calls: Call[]) => calls.map(({ params }) => params[0]))

test('the token is created where there is none, and blocks of load go on where the chain is', async (t) => {
  for (const [code, expected] of [
    ['0x', [tokenCreation(accounts)]],
    ['0x60', []],
  ] as const) {
    const { url, asked } = await openJsonServer(t, createNode(code))
    const { log } = captureLog()
    t.mock.timers.enable({ apis: ['setInterval'] })
    const load = await openLoad({ node: { rpcUrl: url } }, { log, signal: t.signal })
    assert.equal(load.token, token)
    t.mock.timers.tick(999)
    assert.deepEqual(blocksSent(asked), [])
    t.mock.timers.tick(1)
    t.mock.timers.tick(1_000)
    await load.close()
    const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
    assert.deepEqual(blocksSent(asked), plain([planBlock(accounts, 7), planBlock(accounts, 8)]))
    const created = asked.filter((call) => (call as Call).method === 'eth_sendTransaction')
    assert.deepEqual(
      created.map((call) => (call as Call).params[0]),
      expected,
    )
    t.mock.timers.tick(5_000)
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    assert.equal(blocksSent(asked).length, 2)
    t.mock.timers.reset()
  }
})

test('what a node refuses, or that it does not respond, is reported, and the load goes on', async (t) => {
  const { url, asked } = await openJsonServer(
    t,
    createNode('0x60', [
      () => [{ result: '0x' }, { error: { message: 'nonce too low' } }, { error: {} }],
      () => {
        throw new Error('it does not respond')
      },
    ]),
  )
  const { log, lines } = captureLog()
  t.mock.timers.enable({ apis: ['setInterval'] })
  const load = await openLoad({ node: { rpcUrl: url } }, { log, signal: t.signal })
  for (let block = 0; block < 3; block++) t.mock.timers.tick(1_000)
  await load.close()
  assert.equal(blocksSent(asked).length, 3)
  assert.deepEqual(
    lines.map(({ level, msg, reason }) => [level, msg, reason]),
    [
      ['warn', 'the node refused a transaction', 'nonce too low'],
      ['warn', 'transactions could not be sent to the node', undefined],
    ],
  )
})
