/** What the development registry leaves to its node, and what it takes at the edge of what the chain takes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createPublicClient, encodeFunctionData, type Hex, http, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { registryAbi, registryAddress } from '../../../src/registry/precompile/abi.ts'
import { encodeView } from '../../../src/views/wire.ts'

/** A contract that anvil comes with; without data it fails. */
const factory = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const receiver = `0x${'77'.repeat(20)}` as const
const sender = `0x${'22'.repeat(20)}`
const price = 10n ** 9n

const wireOf = (name: string): Uint8Array =>
  encodeView({ query: 'Log { address }', sdl: `type ${name} { address: String }`, lenses: [] })

/** Calldata of the factory: a contract that calls the registry while it is created, with what follows its code. */
function registering(name: string): Hex {
  const args = [toHex(wireOf(name))] as const
  const call = encodeFunctionData({ abi: registryAbi, functionName: 'register', args }).slice(2)
  const length = (call.length / 2).toString(16).padStart(4, '0')
  // Copies the calldata from behind these 26 bytes, and calls 0x0210 with it.
  const copy = `61${length}61001a600039`
  const code = `${copy}6000600061${length}600060006102105af100`
  const salt = '00'.repeat(32)
  return `0x${salt}${code}${call}`
}

describe('the development registry', () => {
  let registry: DevelopmentRegistry
  before(async () => {
    registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  })
  after(() => registry.close())

  async function ask(method: string, params: readonly unknown[]) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(registry.rpcUrl, { method: 'POST', body })
    return (await answer.json()) as {
      readonly result?: unknown
      readonly error?: { readonly code: number; readonly message: string }
    }
  }
  const client = () => createPublicClient({ transport: http(registry.rpcUrl), pollingInterval: 20 })
  /** Signed by one of its accounts. */
  async function sign(index: number, parts: { to: Hex; value: bigint; gas: bigint; data?: Hex }) {
    const account = privateKeyToAccount(registry.accounts[index] as Hex)
    const { chainId } = registry
    const nonce = await client().getTransactionCount({ address: account.address })
    const fees = { maxFeePerGas: price, maxPriorityFeePerGas: price }
    return await account.signTransaction({ type: 'eip1559', chainId, nonce, ...fees, ...parts })
  }
  const statusAt = async (address: string, block: string): Promise<number> => {
    const args = [address as Hex] as const
    const data = encodeFunctionData({ abi: registryAbi, functionName: 'getView', args })
    const { result } = await ask('eth_call', [{ to: registryAddress, data }, block])
    return Number(`0x${String(result).slice(2 + 5 * 64, 2 + 6 * 64)}`)
  }

  test('has a transaction to somebody else done by the node, at its price', async () => {
    const raw = await sign(0, { to: receiver, value: 5n, gas: 50_000n })
    const { result } = await ask('eth_sendRawTransaction', [raw])
    const receipt = await client().waitForTransactionReceipt({ hash: result as Hex })
    assert.deepEqual(
      [receipt.status, receipt.gasUsed, receipt.type, receipt.logs],
      ['success', 21_000n, 'eip1559', []],
    )
    assert.equal(await client().getBalance({ address: receiver }), 5n)
  })

  test('shows code and failures of other contracts as the node has them', async () => {
    const { result } = await ask('eth_getCode', [factory, 'latest'])
    assert.match(String(result), /^0x[0-9a-f]{20,}$/)
    for (const method of ['eth_call', 'eth_estimateGas']) {
      const { error } = await ask(method, [{ to: factory }, 'latest'])
      assert.ok(error !== undefined && !error.message.includes('rpc error'), error?.message)
    }
    assert.equal(typeof (await ask('eth_call', [null])).error?.code, 'number')
  })

  test('answers a call of the registry as of the block that it names', async () => {
    const height = toHex(await client().getBlockNumber())
    await registry.register(sender, wireOf('Before'))
    const between = toHex(await client().getBlockNumber())
    assert.notEqual(between, height)
    const later = await registry.register(sender, wireOf('Later'))
    assert.deepEqual([await statusAt(later, between), await statusAt(later, 'latest')], [0, 1])
  })

  test('takes calldata by either of its names', async () => {
    const args = [toHex(wireOf('Named'))] as const
    const data = encodeFunctionData({ abi: registryAbi, functionName: 'register', args })
    const estimate = async (parts: object) =>
      await ask('eth_estimateGas', [{ to: registryAddress, from: sender, ...parts }])
    const { result } = await estimate({ data })
    assert.ok(Number(result) > 21_000)
    assert.deepEqual((await estimate({ input: data })).result, result)
  })

  test('registers for one whose balance is just enough', async () => {
    const { address } = privateKeyToAccount(registry.accounts[1] as Hex)
    const balance = await client().getBalance({ address })
    const gas = 1_000_000n
    const args = [toHex(wireOf('Exact'))] as const
    const data = encodeFunctionData({ abi: registryAbi, functionName: 'register', args })
    const value = balance - gas * price
    const more = await ask('eth_sendRawTransaction', [
      await sign(1, { to: registryAddress, data, gas, value: value + 1n }),
    ])
    assert.match(`${more.error?.message}`, /insufficient funds$/)
    const raw = await sign(1, { to: registryAddress, data, gas, value })
    const { result } = await ask('eth_sendRawTransaction', [raw])
    const receipt = await client().waitForTransactionReceipt({ hash: result as Hex })
    assert.deepEqual([receipt.status, receipt.logs[0]?.logIndex], ['success', 0])
  })

  test('has a View wait that another contract registers', async () => {
    const searchOf = async (name: string): Promise<string> => {
      const query = encodeURIComponent(`"view.view_pending.name='${name}'"`)
      const answer = await fetch(`${registry.cometUrl}/tx_search?query=${query}`)
      return ((await answer.json()) as { result: { total_count: string } }).result.total_count
    }
    const raw = await sign(2, {
      to: factory,
      value: 0n,
      gas: 5_000_000n,
      data: registering('Made'),
    })
    assert.notEqual((await ask('eth_sendRawTransaction', [raw])).result, undefined)
    assert.equal(await searchOf('Made'), '1')
  })

  test('refuses a View that is none, and settles only what waits', async () => {
    await assert.rejects(registry.register(sender, Uint8Array.of(1)), {
      message: 'the registry refuses the View',
    })
    const height = await client().getBlockNumber()
    await registry.settle({ registered: [receiver], failed: [receiver], timedOut: [receiver] })
    assert.equal(await client().getBlockNumber(), height)
  })

  test('closes its channel where one of several Views has timed out', async () => {
    const [failed, timedOut] = [
      await registry.register(sender, wireOf('Failed')),
      await registry.register(sender, wireOf('Late')),
    ]
    await registry.settle({ failed: [failed], timedOut: [timedOut] })
    assert.deepEqual([await statusAt(failed, 'latest'), await statusAt(timedOut, 'latest')], [0, 0])
    await assert.rejects(registry.register(sender, wireOf('Failed')))
    await registry.openChannel()
    assert.equal(await registry.register(sender, wireOf('Failed')), failed)
  })
})
