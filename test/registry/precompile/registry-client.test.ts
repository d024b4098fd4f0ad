/** Registering Views by JSON-RPC, on the development registry. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { encodeAbiParameters, encodeEventTopics, encodeFunctionResult } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { ServiceError } from '../../../src/errors.ts'
import { registryAbi, registryAddress } from '../../../src/registry/precompile/abi.ts'
import {
  createRegistryClient,
  type RegistrationReceipt,
  type RegistryClient,
} from '../../../src/registry/precompile/registry-client.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'

const wire = encodeView({
  query: 'Log { address }',
  sdl: 'type Transfers { address: String }',
  lenses: [],
})

test('a View is estimated, signed, sent and found, and its address is that of its bytes', async (t) => {
  const { registry, client, key, sender } = await open(t)
  const { address } = viewIDs(sender, wire)
  assert.deepEqual(await client.getView(address), { status: 'none', name: '', height: 0 })
  const estimate = await client.estimate(sender, wire)
  assert.equal(estimate.balance, 10_000n * 10n ** 18n)
  assert.equal(estimate.nonce, 0)
  assert.equal(estimate.fee, estimate.gas * estimate.maxFeePerGas)
  const signed = await client.sign(key, wire, await client.chainId(), estimate)
  await client.send(signed)
  const receipt = await receiptOf(client, signed.hash)
  assert.deepEqual(receipt, {
    succeeded: true,
    height: 1,
    gasUsed: (estimate.gas * 10n) / 11n,
    address,
  })
  assert.deepEqual(await client.getView(address), {
    status: 'pending',
    name: 'Transfers',
    height: 1,
  })
  await registry.settle({ registered: [address] })
  assert.equal((await client.getView(address)).status, 'registered')
})

test('the same View, key and terms are signed as the same bytes by every release', async () => {
  const client = createRegistryClient('http://127.0.0.1:1', new AbortController().signal)
  const terms = { gas: 214_527n, nonce: 7, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n }
  const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
  assert.deepEqual(await client.sign(key, Uint8Array.of(1, 2, 3), 91273003, terms), {
    hash: '0x68bd3b66607c09a710f3961ef73e38643ba166e9459ad8fab0cc72484880ae99',
    raw: [
      // Type 2 of EIP-2718: chain ID, nonce, priority fee, fee, gas, receiver, no coins.
      '0x02f8d0840570b72b0701843b9aca00830345ff94000000000000000000000000000000000000021080b864',
      // register(bytes): selector, offset, length, the bytes.
      '82fbdc9c0000000000000000000000000000000000000000000000000000000000000020',
      '0000000000000000000000000000000000000000000000000000000000000003',
      '0102030000000000000000000000000000000000000000000000000000000000',
      // No access list, and the signature.
      'c001a072bd327cf17db6fdf45a60867631238309eec2fe9cc0724187c36d8de4a180d7',
      'a065adf96d2f1501cd1ae68fec80940451b7883319350b87ddf656ff215c9228af',
    ].join(''),
  })
})

/** What a node answers to what is asked for an estimate. */
const answers = {
  eth_estimateGas: '0x64',
  eth_getTransactionCount: '0x7',
  eth_getBalance: '0x3e8',
  eth_gasPrice: '0x9',
  eth_maxPriorityFeePerGas: '0x3',
}

test('a unit of gas may cost twice the base fee and the priority fee, or the one price there is', async (t) => {
  const base = await answering(t, { ...answers, eth_getBlockByNumber: { baseFeePerGas: '0x5' } })
  assert.deepEqual(await base.estimate(`0x${'11'.repeat(20)}`, wire), {
    ...{ gas: 110n, nonce: 7, balance: 1_000n },
    ...{ maxFeePerGas: 13n, maxPriorityFeePerGas: 3n, fee: 1_430n },
  })
  const none = await answering(t, { ...answers, eth_getBlockByNumber: {} })
  assert.deepEqual(await none.estimate(`0x${'11'.repeat(20)}`, wire), {
    ...{ gas: 110n, nonce: 7, balance: 1_000n },
    ...{ maxFeePerGas: 9n, maxPriorityFeePerGas: 9n, fee: 990n },
  })
})

test('a transaction that is sent twice registers once and costs once', async (t) => {
  const { client, key, sender } = await open(t)
  const estimate = await client.estimate(sender, wire)
  const signed = await client.sign(key, wire, await client.chainId(), estimate)
  await client.send(signed)
  const after = await client.estimate(sender, wire)
  await client.send(signed)
  assert.equal((await client.estimate(sender, wire)).balance, after.balance)
})

test('a refusal comes with the reason of the chain', async (t) => {
  const { client, sender } = await open(t)
  const refusal = 'decode viewbundle: viewbundle: bad magic'
  assert.equal(await client.refusal(sender, Uint8Array.of(1)), refusal)
  assert.equal(await client.refusal(sender, wire), null)
  await assert.rejects(client.estimate(sender, Uint8Array.of(1)), (error) => {
    assert.ok(error instanceof ServiceError)
    assert.deepEqual([error.code, error.facts['reason']], ['REGISTRY_REFUSED', refusal])
    return true
  })
})

test('a registration that nobody could be asked about is not taken for one that is refused', async () => {
  const client = createRegistryClient('http://127.0.0.1:1', new AbortController().signal)
  await assert.rejects(client.refusal(`0x${'11'.repeat(20)}`, wire), {
    code: 'REGISTRY_UNREACHABLE',
  })
})

test('a request ends with its signal, for the reason of that', async (t) => {
  const asked = Promise.withResolvers<void>()
  const url = await listen(t, () => asked.resolve())
  const stop = new AbortController()
  const answer = createRegistryClient(url, stop.signal).chainId()
  await asked.promise
  const reason = new Error('interrupted')
  stop.abort(reason)
  await assert.rejects(answer, reason)
})

test('a View in a state that nobody knows is none', async (t) => {
  const viewAddress = `0x${'22'.repeat(20)}` as const
  for (const [status, known] of [
    [0, 'none'],
    [1, 'pending'],
    [2, 'registered'],
    [3, 'none'],
  ] as const) {
    const result = { viewAddress, name: 'Things', creator: 'somebody', height: 7n, status }
    const client = await answering(t, {
      eth_call: encodeFunctionResult({ abi: registryAbi, functionName: 'getView', result }),
    })
    const expected = { status: known, name: 'Things', height: 7 }
    assert.deepEqual(await client.getView(viewAddress), expected)
  }
})

test('a receipt names the View of the registry, and is null while there is none', async (t) => {
  const address = `0x${'22'.repeat(20)}` as const
  const created = {
    address: registryAddress.toUpperCase().replace('0X', '0x'),
    topics: encodeEventTopics({
      ...{ abi: registryAbi, eventName: 'ViewCreated' },
      args: { viewAddress: address, creator: `0x${'33'.repeat(20)}` },
    }),
    data: encodeAbiParameters([{ type: 'string' }], ['Things']),
  }
  const foreign = { address: `0x${'44'.repeat(20)}`, topics: [`0x${'55'.repeat(32)}`], data: '0x' }
  const receipt = { status: '0x1', blockNumber: '0x7', gasUsed: '0x9' }
  const read = async (result: unknown): Promise<RegistrationReceipt | null> =>
    (await answering(t, { eth_getTransactionReceipt: result })).receipt(`0x${'66'.repeat(32)}`)
  const expected = { succeeded: true, height: 7, gasUsed: 9n, address }
  const logs = [foreign, { ...created, topics: [] }, created]
  assert.deepEqual(await read({ ...receipt, logs }), expected)
  const failed = { ...expected, succeeded: false, address: null }
  assert.deepEqual(await read({ ...receipt, status: '0x0', logs: [] }), failed)
  assert.equal(await read(null), null)
})

test('no server, one that fails and one that is no JSON-RPC are told apart', async (t) => {
  const codeAt = async (url: string): Promise<string> => {
    const client = createRegistryClient(url, new AbortController().signal)
    const error = await client.chainId().catch((reason: unknown) => reason)
    return error instanceof ServiceError ? error.code : String(error)
  }
  assert.equal(await codeAt('http://127.0.0.1:1'), 'REGISTRY_UNREACHABLE')
  assert.equal(await codeAt(await serve(t, 200, '<html>')), 'REGISTRY_UNREACHABLE')
  assert.equal(await codeAt(await serve(t, 500, 'oh')), 'REGISTRY_UNREACHABLE')
  assert.equal(await codeAt(await serve(t, 200, '{"result":"x"}')), 'REGISTRY_ANSWER_MALFORMED')
  const large = `{"result":"${'0'.repeat(9 * 1024 * 1024)}"}`
  assert.match(await codeAt(await serve(t, 200, large)), /^REGISTRY_/)
})

interface Opened {
  readonly registry: DevelopmentRegistry
  readonly client: RegistryClient
  readonly key: string
  readonly sender: string
}

async function open(t: TestContext): Promise<Opened> {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  t.after(() => registry.close())
  const [key = ''] = registry.accounts
  const client = createRegistryClient(registry.rpcUrl, new AbortController().signal)
  return { registry, client, key, sender: privateKeyToAddress(key as `0x${string}`) }
}

async function receiptOf(client: RegistryClient, hash: string): Promise<RegistrationReceipt> {
  for (;;) {
    const receipt = await client.receipt(hash)
    if (receipt !== null) return receipt
  }
}

/** A client of a node that answers each method so. */
async function answering(
  t: TestContext,
  results: Readonly<Record<string, unknown>>,
): Promise<RegistryClient> {
  const url = await listen(t, async (request, response) => {
    const { id, method } = JSON.parse(await text(request))
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
  })
  return createRegistryClient(url, new AbortController().signal)
}

function serve(t: TestContext, status: number, body: string): Promise<string> {
  return listen(t, (_, response) => response.writeHead(status).end(body))
}

/** The URL of a server that ends with the test. */
async function listen(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
