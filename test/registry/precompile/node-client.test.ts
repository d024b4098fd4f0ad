/** Registering a node by JSON-RPC, at a chain that answers as the test says. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { decodeFunctionData, type Hex, parseAbi, parseTransaction } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { gasLimit, notNegative } from '../../../src/registry/precompile/chain-rpc.ts'
import {
  createNodeClient,
  type NodeRegistrar,
  type NodeRegistration,
} from '../../../src/registry/precompile/node-client.ts'
import { readSigned } from '../../../src/registry/precompile/signed-transaction.ts'

interface Asked {
  readonly method: string
  readonly params: readonly unknown[]
}

const key = `0x${'11'.repeat(32)}` as const
const sender = privateKeyToAddress(key)
const host: NodeRegistration = {
  ...{ role: 'host', publicKey: '0x0102', signature: '0x03', message: '0x04' },
  ...{ connection: '/ip4/127.0.0.1/tcp/1', endpoint: 'http://127.0.0.1:2' },
}
const answers = {
  eth_chainId: '0x5',
  eth_estimateGas: '0x64',
  eth_getTransactionCount: '0x7',
  eth_getBalance: '0x3e8',
  eth_gasPrice: '0x9',
}

/** A client of a chain that answers each method so, and what it was asked. */
async function answering(
  t: TestContext,
  results: Readonly<Record<string, unknown>>,
): Promise<{ client: NodeRegistrar; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request))
    asked.push({ method, params })
    const result = results[method]
    const error = { code: -32_000, message: 'already known' }
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }),
    )
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { client: createNodeClient(url, new AbortController().signal), asked }
}

test('a registration may take a tenth more gas than is estimated, rounded up', () => {
  const limits = [0n, 1n, 10n, 11n, 100n, 101n].map(gasLimit)
  assert.deepEqual(limits, [0n, 2n, 11n, 13n, 110n, 112n])
})

test('a number of a node is zero or more', () => {
  assert.deepEqual([notNegative(0), notNegative(0n), notNegative(7n)], [0, 0n, 7n])
  assert.throws(() => notNegative(-1), { message: '-1 is negative' })
  assert.throws(() => notNegative(-1n), { message: '-1 is negative' })
})

test('a registration is prepared with what the chain says of its sender', async (t) => {
  const { client, asked } = await answering(t, answers)
  assert.equal(await client.chainId(), 5)
  const to = '0x0000000000000000000000000000000000000211'
  assert.deepEqual(await client.prepare(sender, host), {
    ...{ to, gas: 110n, gasPrice: 9n, nonce: 7, fee: 990n, balance: 1_000n },
  })
  const counted = asked.find(({ method }) => method === 'eth_getTransactionCount')
  assert.deepEqual(counted?.params, [sender, 'pending'])
  const generator = await client.prepare(sender, { ...host, role: 'generator' })
  assert.equal(generator.to, '0x0000000000000000000000000000000000000212')
})

test('what is signed registers a Host with its endpoint, a Generator without one', async (t) => {
  const { client } = await answering(t, answers)
  const shared = ['0x0102', '0x03', '0x04', '/ip4/127.0.0.1/tcp/1'] as const
  const signatures = {
    host: 'function register(bytes, bytes, bytes, string, string)',
    generator: 'function register(bytes, bytes, bytes, string)',
  } as const
  for (const role of ['host', 'generator'] as const) {
    const registration = { ...host, role }
    const prepared = await client.prepare(sender, registration)
    const { hash, raw } = await client.sign(key, registration, 5, prepared)
    const read = await readSigned(raw)
    assert.equal(parseTransaction(raw as Hex).type, 'legacy')
    assert.deepEqual(
      [read?.hash, read?.from, read?.to, read?.chainId, read?.nonce, read?.maxFee],
      [hash, sender.toLowerCase(), prepared.to, 5, 7, 990n],
    )
    const { args } = decodeFunctionData({
      abi: parseAbi([signatures[role]]),
      data: read?.data ?? assert.fail(),
    })
    assert.deepEqual(args, role === 'host' ? [...shared, host.endpoint] : shared)
  }
})

test('a registration is sent; one that the node refuses and has is none the worse', async (t) => {
  const signed = { hash: `0x${'22'.repeat(32)}`, raw: '0x01' }
  const taken = await answering(t, { eth_sendRawTransaction: signed.hash })
  await taken.client.send(signed)
  assert.deepEqual(taken.asked, [{ method: 'eth_sendRawTransaction', params: ['0x01'] }])
  const known = await answering(t, {
    eth_getTransactionByHash: { hash: signed.hash, nonce: '0x7' },
  })
  await known.client.send(signed)
  const refused = await answering(t, { eth_getTransactionByHash: null })
  await assert.rejects(refused.client.send(signed), { code: 'REGISTRY_REFUSED' })
})

test('a registration has succeeded where its receipt says so, and nobody knows before that', async (t) => {
  for (const [receipt, expected] of [
    [null, null],
    [{ status: '0x1' }, true],
    [{ status: '0x0' }, false],
  ] as const) {
    const { client } = await answering(t, { eth_getTransactionReceipt: receipt })
    assert.equal(await client.succeeded(`0x${'22'.repeat(32)}`), expected)
  }
})
