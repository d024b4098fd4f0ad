/** The EVM of the development registry, as wallets meet it: gas, failures, receipts and order of the real chain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createPublicClient,
  createWalletClient,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { registryAbi, registryAddress } from '../../../src/registry/precompile/abi.ts'
import { noSender, viewIDs } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { callNode } from '../../support/chain/anvil.ts'

const listAbi = parseAbi([
  'struct View { address viewAddress; string name; string creator; uint64 height; uint8 status; }',
  'function listViews(uint256 offset, uint256 limit) view returns (View[])',
  'function viewCount() view returns (uint256)',
])

test('a registered View is pending, then registered, and its address follows from its bytes', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const wire = wireOf('Transfers')
  const { receipt, sender } = await send(registry, wire, 1_000_000n)
  const { address } = viewIDs(sender, wire)
  assert.equal(receipt.status, 'success')
  assert.equal(await statusOf(registry, address), 1)
  await registry.settle({ registered: [address] })
  assert.equal(await statusOf(registry, address), 2)
  assert.equal(await statusOf(registry, noSender), 0)
})

test('gas is intrinsic or half the limit, whichever is more; a failure costs the limit', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const wire = wireOf('Gas')
  const data = registration(wire)
  const bytes = Buffer.from(data.slice(2), 'hex')
  const intrinsic = bytes.reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 21_000)
  assert.equal(Number(await gasOf(registry, wire)), intrinsic)
  const balanceBefore = await balanceOf(registry)
  const exact = await send(registry, wire, BigInt(intrinsic))
  assert.deepEqual([exact.receipt.status, Number(exact.receipt.gasUsed)], ['success', intrinsic])
  const paid = exact.receipt.gasUsed * exact.receipt.effectiveGasPrice
  assert.equal(await balanceOf(registry), balanceBefore - paid)
  const ample = await send(registry, wireOf('Ample'), 99_000_000n)
  assert.equal(ample.receipt.gasUsed, 49_500_000n)
  const refused = await send(registry, Uint8Array.of(1, 2, 3), 500_000n)
  assert.deepEqual([refused.receipt.status, refused.receipt.gasUsed], ['reverted', 500_000n])
})

test('logs have height 0 in a receipt and their own in eth_getLogs, and no other log is shown', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const { receipt, hash } = await send(registry, wireOf('Logs'), 1_000_000n)
  assert.equal(receipt.transactionHash, hash)
  assert.deepEqual(
    receipt.logs.map(({ blockNumber, topics }) => [blockNumber, topics[0]]),
    [[0n, '0xba0dabdfe58b6c148a7dd196e9ef26166974311aa7df2c74f27055777bcd322d']],
  )
  const logs = await clientOf(registry).getLogs({ address: registryAddress, fromBlock: 0n })
  assert.deepEqual(
    logs.map(({ blockNumber, transactionHash }) => [blockNumber, transactionHash]),
    [[receipt.blockNumber, hash]],
  )
  const transaction = await clientOf(registry).getTransaction({ hash })
  assert.deepEqual([transaction.hash, transaction.gas], [hash, 1_000_000n])
})

test('there is no code at 0x0210', async (t) => {
  const registry = await openDevelopmentRegistry()
  t.after(() => registry.close())
  assert.equal(await callNode(registry.rpcUrl, 'eth_getCode', [registryAddress, 'latest']), '0x')
})

test('failures have code -32000, the reason of the chain, and no revert data', async (t) => {
  const registry = await openDevelopmentRegistry()
  t.after(() => registry.close())
  const wire = wireOf('Right')
  const cases: [Uint8Array, string][] = [
    [Uint8Array.of(1), 'decode viewbundle: viewbundle: bad magic'],
    [wire.with(3, 2), 'decode viewbundle: viewbundle: unsupported version'],
    [Uint8Array.of(...wire, 0), 'decode viewbundle: viewbundle: corrupt encoding'],
    [new Uint8Array(384 * 1024 + 1), 'decode viewbundle: viewbundle: field too large'],
    [encodeView({ query: 'Log { address }', sdl: 'x', lenses: [] }), 'SDL missing type name'],
  ]
  for (const [bytes, reason] of cases) {
    const request = { to: registryAddress, data: registration(bytes) }
    assert.deepEqual(await errorOf(registry, 'eth_estimateGas', [request]), {
      code: -32000,
      message: `rpc error: code = Unknown desc = ${reason}`,
    })
    assert.deepEqual(await errorOf(registry, 'eth_call', [request, 'latest']), {
      code: -32000,
      message: `rpc error: code = Internal desc = ${reason}`,
    })
  }
})

test('a repeated registration emits its log again and is pending no second time', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const wire = wireOf('Twice')
  const first = await send(registry, wire, 1_000_000n)
  const { address } = viewIDs(first.sender, wire)
  await registry.settle({ registered: [address] })
  const second = await send(registry, wire, 1_000_000n)
  assert.deepEqual([second.receipt.status, second.receipt.logs.length], ['success', 1])
  assert.equal(await statusOf(registry, address), 2)
  const search = `${registry.cometUrl}/tx_search?query="view.view_pending.address EXISTS"`
  const { result } = (await (await fetch(search)).json()) as { result: { total_count: string } }
  assert.equal(result.total_count, '1')
})

test('a failed View can be registered again, and after a time-out the channel is closed', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const wire = wireOf('Failing')
  const { sender } = await send(registry, wire, 1_000_000n)
  const { address } = viewIDs(sender, wire)
  await registry.settle({ failed: [address] })
  assert.equal(await statusOf(registry, address), 0)
  assert.equal((await send(registry, wire, 1_000_000n)).receipt.status, 'success')
  await registry.settle({ timedOut: [address] })
  assert.equal(await statusOf(registry, address), 0)
  const height = (): Promise<Hex> => callNode<Hex>(registry.rpcUrl, 'eth_blockNumber', [])
  const before = await height()
  await registry.settle({ registered: [address] })
  assert.equal(await height(), before, 'what waits no more makes no block')
  const request = { to: registryAddress, data: registration(wire) }
  const { message } = await errorOf(registry, 'eth_estimateGas', [request])
  assert.match(message, /no active channel for this owner$/)
  await registry.openChannel()
  assert.equal((await send(registry, wire, 1_000_000n)).receipt.status, 'success')
})

test('Views are listed by address as text, from an offset that wraps at 2^64', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const made: string[] = []
  for (let n = 0; n < 8; n++)
    made.push(await registry.register(`0x${'2'.repeat(39)}${n}`, wireOf(`V${n}`)))
  await registry.settle({ registered: made })
  const list = async (offset: bigint, limit: bigint): Promise<string[]> => {
    const args = [offset, limit] as const
    const data = encodeFunctionData({ abi: listAbi, functionName: 'listViews', args })
    const result = await callNode<Hex>(registry.rpcUrl, 'eth_call', [
      { to: registryAddress, data },
      'latest',
    ])
    const views = decodeFunctionResult({ abi: listAbi, functionName: 'listViews', data: result })
    return views.map(({ viewAddress }) => viewAddress)
  }
  const sorted = made.toSorted((a, b) => (a < b ? -1 : 1))
  assert.deepEqual(await list(0n, 100n), sorted)
  assert.deepEqual(await list(2n ** 64n + 6n, 2n), sorted.slice(6))
  assert.deepEqual(await list(0n, 0n), [])
})

test('signatures need their own chain ID, which eth_chainId need not answer', async (t) => {
  const registry = await openDevelopmentRegistry({ chainId: 91273002, signingChainId: 91273001 })
  t.after(() => registry.close())
  assert.equal(await callNode(registry.rpcUrl, 'eth_chainId', []), toHex(91273002))
  await assert.rejects(send(registry, wireOf('Wrong'), 1_000_000n), /invalid chain id for signer/)
  const right = await send(registry, wireOf('Right'), 1_000_000n, 91273001)
  assert.equal(right.receipt.status, 'success')
})

test('a transaction that the chain cannot take is refused, with the reason of the chain', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const { chainId } = registry
  const wire = wireOf('Refused')
  const intrinsic = BigInt(Number(await gasOf(registry, wire)))
  const balance = await balanceOf(registry)
  const price = balance / 1_000_000n + 1n
  const cases: [Partial<TransactionParts>, RegExp][] = [
    [{ nonce: 1 }, /^invalid nonce; got 1, expected 0: invalid sequence$/],
    [{ gas: intrinsic - 1n }, /^intrinsic gas too low: gas wanted \d+, gas needed \d+$/],
    [{ value: balance }, /^sender balance < tx cost .*insufficient funds$/],
    [
      { maxFeePerGas: price, maxPriorityFeePerGas: price },
      /^sender balance < tx cost .*insufficient funds$/,
    ],
    [{ chainId: chainId + 1 }, /^invalid chain id for signer: have \d+ want \d+$/],
  ]
  for (const [parts, reason] of cases) {
    const raw = await signed(registry, wire, { gas: 1_000_000n, nonce: 0, chainId, ...parts })
    const { code, message } = await errorOf(registry, 'eth_sendRawTransaction', [raw])
    assert.equal(code, -32000)
    assert.match(message, reason)
  }
  const legacy = await accountOf(registry).signTransaction({
    ...{ to: registryAddress, data: registration(wire), nonce: 0, gas: 1_000_000n },
    ...{ gasPrice: 10n ** 9n, type: 'legacy' },
  })
  const { message } = await errorOf(registry, 'eth_sendRawTransaction', [legacy])
  assert.match(message, /^only replay-protected \(EIP-155\) transactions/)
  assert.equal(await balanceOf(registry), balance, 'it costs nothing')
  assert.equal((await send(registry, wire, intrinsic)).receipt.status, 'success')
})

test('an answer bears the ID of its request, and null where it has none', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  for (const id of [7, 'seven', null, undefined]) {
    const response = await fetch(registry.rpcUrl, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_chainId' }),
    })
    assert.deepEqual(await response.json(), {
      ...{ jsonrpc: '2.0', id: id ?? null },
      result: toHex(registry.chainId),
    })
  }
})

test('a filter shows the logs that others see, and a block the receipts that it has', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const ask = <T>(method: string, params: readonly unknown[]) =>
    callNode<T>(registry.rpcUrl, method, params)
  const filter = await ask('eth_newFilter', [{ address: registryAddress, fromBlock: '0x0' }])
  const { hash, receipt } = await send(registry, wireOf('Filtered'), 1_000_000n)
  for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs']) {
    const logs = await ask<{ transactionHash: string }[]>(method, [filter])
    assert.deepEqual(
      logs.map(({ transactionHash }) => transactionHash),
      [hash],
      method,
    )
  }
  const own = await ask('eth_getTransactionReceipt', [hash])
  assert.deepEqual(await ask('eth_getBlockReceipts', [toHex(receipt.blockNumber)]), [own])
  assert.equal(await ask('eth_getTransactionReceipt', [`0x${'1'.repeat(64)}`]), null)
  assert.equal(await ask('eth_getTransactionByHash', [`0x${'1'.repeat(64)}`]), null)
})

test('up to 1,000 requests are answered at once, in their order, and what is none as that', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const post = async (body: string): Promise<[status: number, answer: unknown]> => {
    const response = await fetch(registry.rpcUrl, { method: 'POST', body })
    return [response.status, await response.json()]
  }
  const results = {
    eth_chainId: toHex(registry.chainId),
    net_version: String(registry.chainId),
    eth_gasPrice: toHex(10n ** 9n),
    eth_maxPriorityFeePerGas: toHex(10n ** 9n),
  }
  const answers = Object.values(results).map((result, id) => ({ jsonrpc: '2.0', id, result }))
  const requests = Object.keys(results).map((method, id) => ({ id, method }))
  const invalid = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'invalid request' } }
  const batch = JSON.stringify([...requests, 7])
  assert.deepEqual(await post(batch), [200, [...answers, invalid]])
  for (const body of ['{', 'null', '{"id":1}']) assert.deepEqual(await post(body), [200, invalid])
  const many = (count: number): string => JSON.stringify(Array.from({ length: count }, () => 0))
  assert.deepEqual(await post(many(1_000)), [200, Array(1_000).fill(invalid)])
  assert.deepEqual(await post(many(1_001)), [413, { error: 'the batch is too large' }])
  const longest = ' '.repeat(2 * 1024 * 1024)
  assert.deepEqual(await post(longest), [200, invalid])
  assert.deepEqual(await post(`${longest} `), [413, { error: 'the request is too large' }])
})

test('nobody is somebody else through the proxy', async (t) => {
  const registry = await openDevelopmentRegistry()
  t.after(() => registry.close())
  for (const method of ['anvil_setBalance', 'evm_mine', 'hardhat_reset', 'eth_sendTransaction'])
    assert.equal((await errorOf(registry, method, [])).code, -32601)
})

interface Sent {
  readonly hash: Hex
  readonly sender: string
  readonly receipt: Awaited<ReturnType<ReturnType<typeof clientOf>['waitForTransactionReceipt']>>
}

interface TransactionParts {
  readonly gas: bigint
  readonly nonce: number
  readonly chainId: number
  readonly maxFeePerGas?: bigint
  readonly maxPriorityFeePerGas?: bigint
  readonly value?: bigint
}

/** A transaction that registers a View, signed by the first account. */
async function signed(
  registry: DevelopmentRegistry,
  wire: Uint8Array,
  parts: TransactionParts,
): Promise<Hex> {
  return await accountOf(registry).signTransaction({
    ...{ to: registryAddress, data: registration(wire), type: 'eip1559' },
    ...{ maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n, ...parts },
  })
}

async function send(
  registry: DevelopmentRegistry,
  wire: Uint8Array,
  gas: bigint,
  chainId = registry.chainId,
): Promise<Sent> {
  const account = accountOf(registry)
  const client = clientOf(registry)
  const wallet = createWalletClient({ account, transport: http(registry.rpcUrl) })
  const nonce = await client.getTransactionCount({ address: account.address })
  const serializedTransaction = await signed(registry, wire, { gas, nonce, chainId })
  const hash = await wallet.sendRawTransaction({ serializedTransaction })
  const receipt = await client.waitForTransactionReceipt({ hash })
  return { hash, sender: account.address, receipt }
}

function registration(wire: Uint8Array): Hex {
  return encodeFunctionData({ abi: registryAbi, functionName: 'register', args: [toHex(wire)] })
}

/** What registering a View takes at least. */
async function gasOf(registry: DevelopmentRegistry, wire: Uint8Array): Promise<Hex> {
  const { address: from } = accountOf(registry)
  const request = { from, to: registryAddress, data: registration(wire) }
  return await callNode<Hex>(registry.rpcUrl, 'eth_estimateGas', [request])
}

function accountOf(registry: DevelopmentRegistry): ReturnType<typeof privateKeyToAccount> {
  return privateKeyToAccount(registry.accounts[0] as Hex)
}

function clientOf(registry: DevelopmentRegistry): ReturnType<typeof createPublicClient> {
  return createPublicClient({ transport: http(registry.rpcUrl), pollingInterval: 20 })
}

async function balanceOf(registry: DevelopmentRegistry): Promise<bigint> {
  return await clientOf(registry).getBalance({ address: accountOf(registry).address })
}

async function statusOf(registry: DevelopmentRegistry, address: string): Promise<number> {
  const { status } = await clientOf(registry).readContract({
    address: registryAddress,
    abi: registryAbi,
    functionName: 'getView',
    args: [address as Hex],
  })
  return status
}

async function errorOf(
  registry: DevelopmentRegistry,
  method: string,
  params: readonly unknown[],
): Promise<{ code: number; message: string }> {
  const response = await fetch(registry.rpcUrl, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { error } = (await response.json()) as { error: { code: number; message: string } }
  return error
}

function wireOf(name: string): Uint8Array {
  return encodeView({
    query: 'Log { address }',
    sdl: `type ${name} { address: String }`,
    lenses: [],
  })
}
