/** What was found on the real registry chain, in its words, asked of the development registry. rpc-face and faces have the rest. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { encodeFunctionData, type Hex, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { registryAbi, registryAddress } from '../../../src/registry/precompile/abi.ts'
import { noSender } from '../../../src/views/view-id.ts'

const KiB = 1024
const sender = `0x${'11'.repeat(20)}`
/** The first account of the development registry. */
const funded = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

describe('the development registry is as the real chain was found', () => {
  let registry: DevelopmentRegistry
  before(async () => {
    registry = await openDevelopmentRegistry({ acknowledgeMs: null })
  })
  after(() => registry.close())

  const tooLarge = 'decode viewbundle: viewbundle: field too large'
  const sdlOf = (bytes: number): string => 'type V {'.padEnd(bytes - 1, ' ').concat('}')
  const lenses = (count: number): readonly string[] => Array.from({ length: count }, () => '')
  /** Each with the largest that is taken and the smallest that is not. */
  const limits: readonly (readonly [string, Partial<Parts>, Partial<Parts>])[] = [
    ['query 8 KiB', { query: ' '.repeat(8 * KiB) }, { query: ' '.repeat(8 * KiB + 1) }],
    ['SDL 8 KiB', { sdl: sdlOf(8 * KiB) }, { sdl: sdlOf(8 * KiB + 1) }],
    ['args 64 KiB', { args: [' '.repeat(64 * KiB)] }, { args: [' '.repeat(64 * KiB + 1)] }],
    ['256 lenses', { args: lenses(256) }, { args: lenses(257) }],
    ['wire 384 KiB', { wireBytes: 384 * KiB }, { wireBytes: 384 * KiB + 1 }],
  ]
  for (const [limit, taken, refused] of limits)
    test(`"${limit}": so much is taken, and one more is refused`, async () => {
      const answer = await estimate(wireOf(taken))
      assert.ok('result' in answer, JSON.stringify(answer))
      assert.deepEqual(await estimate(wireOf(refused)), {
        error: { code: -32000, message: `rpc error: code = Unknown desc = ${tooLarge}` },
      })
    })

  test('"blob 10 MiB": a longer one is too large, a shorter one than it says is corrupt', async () => {
    const reasonOf = async (blobLength: number): Promise<string | undefined> => {
      const answer = await estimate(wireOf({ blobLength }))
      return 'error' in answer ? answer.error.message.split('viewbundle: ').at(-1) : undefined
    }
    assert.equal(await reasonOf(10 * KiB * KiB + 1), 'field too large')
    assert.equal(await reasonOf(10 * KiB * KiB), 'corrupt encoding')
  })

  test('what is in the blob is not looked at: "a bundle with a garbage blob registers"', async () => {
    assert.ok('result' in (await estimate(wireOf({ wireBytes: 1000 }))))
  })

  for (const [wireBytes, found] of [
    [200_000, 3.21],
    [384 * KiB, 6.29],
  ] as const)
    test(`${wireBytes} random bytes cost "${found} M" of gas, to a hundredth`, async () => {
      const answer = await estimate(wireOf({ wireBytes }))
      assert.ok('result' in answer)
      assert.equal((Number(answer.result) / 1e6).toFixed(2), String(found))
    })

  test('"value > 0": what carries coins is refused with how many', async () => {
    const answer = await estimate(wireOf({}), { from: funded, value: '0x5' })
    assert.deepEqual(answer, {
      error: {
        code: -32000,
        message: 'rpc error: code = Unknown desc = cannot receive funds, received: 5',
      },
    })
  })

  test('"A mined revert shows its reason only in debug_traceTransaction"', async () => {
    const data = encodeFunctionData({ abi: registryAbi, functionName: 'register', args: ['0x01'] })
    const account = privateKeyToAccount(registry.accounts[0] as Hex)
    const terms = { nonce: 0, gas: 500_000n, gasPrice: 10n ** 9n, chainId: registry.chainId }
    const raw = await account.signTransaction({
      to: registryAddress,
      data,
      type: 'legacy',
      ...terms,
    })
    const sent = await call('eth_sendRawTransaction', [raw])
    assert.ok('result' in sent, JSON.stringify(sent))
    const shown = await Promise.all(
      ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'debug_traceTransaction'].map(
        async (method) => JSON.stringify(await call(method, [sent.result])),
      ),
    )
    const reason = Buffer.from('bad magic').toString('hex')
    assert.deepEqual(
      shown.map((text) => text.includes(reason)),
      [false, false, true],
    )
  })

  test('unknown Views have the zero struct with status 0, and limit 0 lists nothing', async () => {
    const data = encodeFunctionData({
      abi: registryAbi,
      functionName: 'getView',
      args: [noSender as Hex],
    })
    const answer = await call('eth_call', [{ to: registryAddress, data }, 'latest'])
    assert.ok('result' in answer)
    // Offset of the struct, then address, offsets of name and creator, height, status, and two empty texts.
    const words = answer.result
      .slice(2)
      .match(/.{64}/g)
      ?.map((word) => Number(`0x${word}`))
    assert.deepEqual(words, [32, 0, 160, 192, 0, 0, 0, 0])
  })

  test('"data stands twice": 1.58 MB pending, 1.05 MB for each View of an acknowledgement', async (t) => {
    const socket = new WebSocket(`${registry.cometUrl.replace('http', 'ws')}/websocket`)
    t.after(() => socket.close())
    const next = async (): Promise<string> => String((await once(socket, 'message'))[0].data)
    await once(socket, 'open')
    for (const type of ['view_pending', 'view_registered']) {
      const query = `tm.event='Tx' AND view.${type}.address EXISTS`
      socket.send(
        JSON.stringify({ jsonrpc: '2.0', id: type, method: 'subscribe', params: { query } }),
      )
      await next()
    }
    const pending = next()
    const address = await registry.register(sender, wireOf({ wireBytes: 384 * KiB }))
    const megabytes = (message: string): string => (message.length / 1e6).toFixed(2)
    // The real one has a signature and the padding of a call besides.
    assert.equal(megabytes(await pending), '1.57')
    const registered = next()
    await registry.settle({ registered: [address] })
    const message = await registered
    assert.equal(megabytes(message), '1.05')
    const { result } = JSON.parse(message)
    const [event] = result.data.value.TxResult.result.events
    assert.deepEqual(
      event.attributes.map(({ key }: { key: string }) => key),
      ['address', 'creator', 'name', 'data', 'msg_index'],
    )
  })

  test('"total is filled without count_total when no page parameter is given", and not with one', async () => {
    const totalOf = async (query: string): Promise<string> => {
      const response = await fetch(`${registry.lcdUrl}/shinzonetwork/view/v1/views${query}`)
      return ((await response.json()) as { pagination: { total: string } }).pagination.total
    }
    const planted = { creator: sender, name: 'V', height: 1, wire: Uint8Array.of(1) }
    // "A chain may serve Views whose address does not follow from creator and bytes, or whose bytes are no bundle."
    await registry.plant({ ...planted, address: `0x${'0'.repeat(39)}7` })
    const total = await totalOf('')
    assert.ok(Number(total) > 0)
    assert.equal(await totalOf('?pagination.limit=1'), '0')
    assert.equal(await totalOf('?pagination.limit=1&pagination.count_total=true'), total)
  })

  type Answer = { result: string } | { error: { code: number; message: string } }

  async function call(method: string, params: readonly unknown[]): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(registry.rpcUrl, { method: 'POST', body })
    const { jsonrpc: _, id: __, ...answer } = (await response.json()) as Answer & Envelope
    return answer as Answer
  }

  async function estimate(wire: Uint8Array, more: Readonly<Record<string, string>> = {}) {
    const data = encodeFunctionData({
      abi: registryAbi,
      functionName: 'register',
      args: [toHex(wire)],
    })
    return await call('eth_estimateGas', [{ from: sender, to: registryAddress, data, ...more }])
  }
})

interface Envelope {
  readonly jsonrpc: string
  readonly id: number
}

interface Parts {
  readonly query: string
  readonly sdl: string
  /** Of each lens. */
  readonly args: readonly string[]
  /** The blob is as long as this leaves room for. */
  readonly wireBytes: number
  /** What the wire bytes say that it is; default: what it is. */
  readonly blobLength: number
}

/** Wire bytes by hand: what encodes Views refuses what is too large. The blob is random and the same each time. */
function wireOf(parts: Partial<Parts>): Uint8Array {
  const { query = 'Log { address }', sdl = 'type V { address: String }', args = [] } = parts
  const text = (content: string): Buffer =>
    Buffer.concat([u32(content.length), Buffer.from(content)])
  const header = Buffer.concat([
    Buffer.from('VWL\u0001'),
    ...[text(query), text(sdl), u32(args.length).subarray(0, 2)],
    ...args.flatMap((each, index) => [u32(index + 1), text(each)]),
    Buffer.of(1),
  ])
  const blob = randomBytes(Math.max(0, (parts.wireBytes ?? 0) - header.length - 4))
  return Buffer.concat([header, u32(parts.blobLength ?? blob.length), blob])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function randomBytes(count: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(count / 32) }, (_, index) =>
    createHash('sha256').update(u32(index)).digest(),
  )
  return Buffer.concat(blocks).subarray(0, count)
}
