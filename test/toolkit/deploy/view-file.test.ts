/** `view deploy --view-file`, in two steps as Jobs of a cluster do it, on the development registry. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { privateKeyToAddress } from 'viem/accounts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { registryChainIds } from '../../../src/registry/registry-chains.ts'
import type { RegistrationTerms } from '../../../src/toolkit/deploy/registration-terms.ts'
import { runToolkit } from '../../../src/toolkit/toolkit.ts'
import { toViewFile } from '../../../src/views/view-file.ts'
import { noSender, viewIDs } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { assertExplained } from '../../../test/docs/support/explained.ts'
import { hurry } from '../support/hurried-clock.ts'
import { openLyingNode } from '../support/lying-node.ts'
import { openTestTerminal } from '../support/test-terminal.ts'
import { pendingOf } from './support/registry-room.ts'

const wireOf = (name: string): Uint8Array =>
  encodeView({ query: 'Log { address }', sdl: `type ${name} { address: String }`, lenses: [] })

interface Outcome {
  readonly address?: string
  readonly height?: number
  readonly transaction?: string | null
  readonly gasUsed?: string | null
  readonly error?: { readonly code: string; readonly message: string; readonly remedy: string }
}

interface Room {
  readonly rpcUrl: string
  readonly registry: DevelopmentRegistry
  readonly terminal: Awaited<ReturnType<typeof openTestTerminal>>
  readonly creator: string
  /** Transactions of the key in blocks. */
  nonce(): Promise<number>
  /** The first step: its exit code and what it says. */
  prepare(
    view?: string,
    key?: string,
    ...more: string[]
  ): Promise<readonly [number, RegistrationTerms & Outcome]>
  /** The second step, on the terms that were prepared last for this View. */
  send(view?: string, ...more: string[]): Promise<readonly [number, Outcome]>
}

async function open(t: TestContext, acknowledgeMs: number | null = 50): Promise<Room> {
  const registry = await openDevelopmentRegistry({ acknowledgeMs })
  t.after(() => registry.close())
  const terminal = await openTestTerminal(t)
  const [key = '', other = ''] = registry.accounts
  const write = async (name: string, bytes: Uint8Array | string): Promise<void> =>
    await writeFile(join(terminal.cwd, name), bytes)
  for (const view of ['One', 'Two'])
    await write(view, toViewFile({ sender: noSender, wire: wireOf(view) }).bytes)
  await write('key', key)
  await write('other-key', other)
  await write('poor-key', '77'.repeat(32))
  const run = async (view: string, keyFile: string, ...flags: string[]): Promise<number> => {
    const where = ['--target', 'devnet', '--rpc', registry.rpcUrl]
    const argv = ['view', 'deploy', view, ...where, '--view-file', view, '--key-file', keyFile]
    return (await terminal.run([...argv, ...flags])).exitCode
  }
  const read = async (name: string): Promise<never> => {
    const bytes = await readFile(join(terminal.cwd, name))
    assert.ok(bytes.length <= 4_096)
    return JSON.parse(bytes.toString()) as never
  }
  return {
    ...{ rpcUrl: registry.rpcUrl, terminal, registry },
    creator: privateKeyToAddress(key as `0x${string}`),
    async nonce() {
      const params = [privateKeyToAddress(key as `0x${string}`), 'latest']
      const body = { jsonrpc: '2.0', id: 1, method: 'eth_getTransactionCount', params }
      const answer = await fetch(registry.rpcUrl, { method: 'POST', body: JSON.stringify(body) })
      return Number(((await answer.json()) as { readonly result: string }).result)
    },
    async prepare(view = 'One', keyFile = 'key', ...more) {
      // As Kubernetes makes the file of the message.
      await write(`${view}-terms`, '')
      const flags = ['--prepare', `${view}-terms`, ...more]
      return [await run(view, keyFile, ...flags), await read(`${view}-terms`)]
    },
    async send(view = 'One', keyFile = 'key', ...more) {
      const flags = ['--send', `${view}-terms`, '--report', 'outcome', ...more]
      return [await run(view, keyFile, ...flags), await read('outcome')]
    },
  }
}

test('terms say ID, sender, nonce, fees and hash, and nothing is sent', async (t) => {
  const { creator, nonce, prepare } = await open(t)
  const [exitCode, { transaction, ...terms }] = await prepare()
  assert.equal(exitCode, 0)
  assert.deepEqual(terms, {
    kind: 'viewmesh/registration-terms/1',
    ...viewIDs(creator, wireOf('One')),
    ...{ creator, chainId: registryChainIds.local },
  })
  assert.ok(transaction)
  const { hash, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction
  assert.equal(transaction.nonce, 0)
  assert.match(hash, /^0x[0-9a-f]{64}$/)
  for (const text of [gas, maxFeePerGas, maxPriorityFeePerGas]) assert.match(text, /^\d+$/)
  assert.equal(await nonce(), 0)
})

test('what is sent is exactly what the terms say, and twice is once', async (t) => {
  const { nonce, prepare, send } = await open(t)
  const [, { transaction }] = await prepare()
  const [exitCode, first] = await send()
  assert.equal(exitCode, 0)
  assert.equal(first.transaction, transaction?.hash)
  assert.ok((first.height ?? 0) > 0)
  assert.match(first.gasUsed ?? '', /^\d+$/)
  // What is registered costs nothing more.
  const [again, second] = await send('One', 'key', '--max-fee', '0')
  assert.deepEqual([again, second], [0, first])
  assert.equal(await nonce(), 1)
})

test('a View that the chain knows is prepared without a transaction, and sent without one', async (t) => {
  const { nonce, prepare, send } = await open(t)
  await prepare()
  await send()
  const [exitCode, { transaction }] = await prepare()
  assert.deepEqual([exitCode, transaction], [0, null])
  const [sent, outcome] = await send()
  assert.deepEqual([sent, outcome.transaction, outcome.gasUsed], [0, null, null])
  assert.equal(await nonce(), 1)
})

test('of two Views prepared with one nonce the second is refused, and sends nothing', async (t) => {
  const { nonce, prepare, send } = await open(t)
  await prepare('One')
  await prepare('Two')
  assert.equal((await send('One'))[0], 0)
  const [exitCode, { error }] = await send('Two')
  assert.deepEqual([exitCode, error?.code], [1, 'TOOLKIT_NONCE_TAKEN'])
  assertExplained(error ?? assert.fail('it did not fail'))
  assert.equal(await nonce(), 1)
  await prepare('Two')
  assert.equal((await send('Two'))[0], 0)
})

test('terms are not sent with another key, for another View or for a higher fee', async (t) => {
  const { nonce, prepare, send } = await open(t)
  await prepare()
  const [, { error }] = await send('One', 'other-key')
  assert.equal(error?.code, 'TOOLKIT_SIGNER_CHANGED')
  assertExplained(error ?? assert.fail('it did not fail'))
  assert.equal(
    (await send('One', 'key', '--max-fee', '0.000000001'))[1].error?.code,
    'TOOLKIT_FEE_HIGH',
  )
  assert.equal(
    (await send('One', 'key', '--view-file', 'Two'))[1].error?.code,
    'TOOLKIT_PREPARED_INVALID',
  )
  assert.equal(await nonce(), 0)
})

test('terms that lead to another transaction than they name are not sent', async (t) => {
  const { nonce, prepare, send, terminal } = await open(t)
  const [, { transaction, ...terms }] = await prepare()
  const changed = { ...terms, transaction: { ...Object(transaction), maxPriorityFeePerGas: '1' } }
  await writeFile(join(terminal.cwd, 'One-terms'), JSON.stringify(changed))
  const [exitCode, { error }] = await send()
  assert.deepEqual(
    [exitCode, error],
    [
      1,
      {
        code: 'TOOLKIT_PREPARED_INVALID',
        message: 'the terms lead to another transaction',
        remedy: 'Make them again, with --prepare.',
      },
    ],
  )
  assert.equal(await nonce(), 0)
})

test('a nonce that is taken while the transaction is sent is reported as taken', async (t) => {
  const { nonce, prepare, send, rpcUrl } = await open(t)
  await prepare('One')
  await prepare('Two')
  await send('One')
  const late = await openLyingNode(t, rpcUrl, {
    eth_getTransactionCount: (before) => (before < 3 ? '0x0' : '0x1'),
  })
  const [exitCode, { error }] = await send('Two', 'key', '--rpc', late.url)
  assert.deepEqual([exitCode, error?.code], [1, 'TOOLKIT_NONCE_TAKEN'])
  assert.deepEqual([late.sent.length, await nonce()], [1, 1])
})

test('a transaction that the chain refuses for another reason fails with that', async (t) => {
  const { nonce, prepare, send, rpcUrl } = await open(t)
  await prepare()
  const refuse = () => {
    throw new Error('the block is full')
  }
  const node = await openLyingNode(t, rpcUrl, { eth_sendRawTransaction: refuse })
  const [exitCode, { error }] = await send('One', 'key', '--rpc', node.url)
  assert.deepEqual([exitCode, error?.code], [1, 'REGISTRY_REFUSED'])
  assert.match(error?.message ?? '', / refuses: the block is full$/)
  assert.equal(await nonce(), 0)
})

test('a View that the chain knew and dropped has to be prepared again', async (t) => {
  const { creator, prepare, send, registry } = await open(t, null)
  const address = await registry.register(creator, wireOf('One'))
  const [exitCode, { transaction }] = await prepare()
  assert.deepEqual([exitCode, transaction], [0, null])
  await registry.settle({ failed: [address] })
  const [dropped, { error }] = await send()
  assert.deepEqual(
    [dropped, error],
    [
      1,
      {
        code: 'TOOLKIT_REGISTRATION_REFUSED',
        message: `the chain knew View ${address} when it was prepared, and knows it no longer`,
        remedy: 'Prepare it again.',
      },
    ],
  )
})

test('terms whose registration failed are not sent again', async (t) => {
  const { prepare, send, registry, rpcUrl } = await open(t, null)
  await prepare()
  hurry(t, 3_000)
  const sending = send()
  await registry.settle({ failed: [await pendingOf(registry)] })
  const node = await openLyingNode(t, rpcUrl, {})
  const outcomes = [await sending, await send('One', 'key', '--rpc', node.url)]
  const refused = [1, 'TOOLKIT_REGISTRATION_REFUSED']
  assert.deepEqual(
    outcomes.map(([exitCode, { error }]) => [exitCode, error?.code]),
    [refused, refused],
  )
  assert.deepEqual(node.sent, [])
})

test('a file that is no View, or one that no Host takes, is not prepared', async (t) => {
  const { prepare, terminal } = await open(t)
  const [missing, { error }] = await prepare('One', 'key', '--view-file', 'none')
  const place = join(terminal.cwd, 'none')
  const noFile = ['VIEWS_FILE_MALFORMED', `${place} is not a file of a View`]
  assert.deepEqual([missing, error?.code, error?.message], [1, ...noFile])
  await writeFile(place, 'short')
  const [malformed, short] = await prepare('One', 'key', '--view-file', 'none')
  assert.deepEqual([malformed, short.error?.code], [1, 'VIEWS_FILE_MALFORMED'])
  assert.notEqual(short.error?.message, error?.message)
  const sdl = 'type One { address: Money }'
  const wire = encodeView({ query: 'Log { address }', sdl, lenses: [] })
  await writeFile(join(terminal.cwd, 'One'), toViewFile({ sender: noSender, wire }).bytes)
  const [refused, other] = await prepare()
  assert.deepEqual([refused, other.error?.code], [1, 'VIEWS_SDL_INVALID'])
})

test('a wrong --comet is wrong usage before anything is sent', async (t) => {
  const { nonce, prepare, send } = await open(t)
  await prepare()
  const [exitCode, { error }] = await send('One', 'key', '--comet', 'ftp://a')
  assert.deepEqual([exitCode, error?.code], [2, 'TOOLKIT_USAGE_INVALID'])
  assert.equal(await nonce(), 0)
})

test('terms are sent to their chain alone, and nothing is looked at on another one', async (t) => {
  const { nonce, prepare, send, rpcUrl } = await open(t)
  await prepare()
  const [named, other] = await send('One', 'key', '--chain-id', '1')
  assert.deepEqual([named, other.error?.code], [1, 'TOOLKIT_CHAIN_REFUSED'])
  assert.match(other.error?.message ?? '', /^--chain-id names chain 1: the terms are for chain /)
  const asked: string[] = []
  const saying = async (chainId: number) => {
    const answer = () => `0x${chainId.toString(16)}`
    const looked = (method: string) => () => void asked.push(method)
    const lies = { eth_call: looked('eth_call'), eth_getTransactionCount: looked('nonce') }
    return await openLyingNode(t, rpcUrl, { eth_chainId: answer, ...lies })
  }
  for (const chainId of [1, registryChainIds.testnet]) {
    const node = await saying(chainId)
    const [exitCode, { error }] = await send('One', 'key', '--rpc', node.url)
    assert.deepEqual([exitCode, error?.code], [1, 'TOOLKIT_CHAIN_REFUSED'])
    assertExplained(error ?? assert.fail('it did not fail'))
    const said = `the node of --rpc is on chain ${chainId}: `
    assert.ok(error?.message.startsWith(said), error?.message)
    assert.deepEqual([node.sent, asked], [[], []])
  }
  const chainId = String(registryChainIds.local)
  const misnamed = await openLyingNode(t, rpcUrl, { eth_chainId: () => '0x1' })
  const [sent] = await send('One', 'key', '--rpc', misnamed.url, '--chain-id', chainId)
  assert.deepEqual([sent, await nonce()], [0, 1])
})

test('what is signed for a chain that it is not is refused as that, and sent nowhere', async (t) => {
  const { nonce, prepare, send } = await open(t)
  assert.equal((await prepare('One', 'key', '--chain-id', '5'))[0], 0)
  const [exitCode, { error }] = await send('One', 'key', '--chain-id', '5')
  assert.deepEqual([exitCode, error?.code], [1, 'TOOLKIT_CHAIN_REFUSED'])
  assert.match(error?.message ?? '', /^the chain takes nothing that is signed for chain 5: /)
  assertExplained(error ?? assert.fail('it did not fail'))
  assert.equal(await nonce(), 0)
})

test('the View that is asked for is that of key and file, not that of the terms', async (t) => {
  const { creator, prepare, send, terminal } = await open(t)
  const [, terms] = await prepare()
  const changed = { ...terms, address: `0x${'11'.repeat(20)}` }
  await writeFile(join(terminal.cwd, 'One-terms'), JSON.stringify(changed))
  const [exitCode, outcome] = await send()
  assert.equal(exitCode, 0)
  assert.equal(outcome.address, viewIDs(creator, wireOf('One')).address)
})

test('a View whose result cannot be printed is reported as registered all the same', async (t) => {
  const { prepare, rpcUrl, terminal } = await open(t)
  const [, { transaction }] = await prepare()
  const argv = [
    'view',
    'deploy',
    'One',
    '--target',
    'devnet',
    '--rpc',
    rpcUrl,
    '--view-file',
    'One',
  ]
  const step = ['--key-file', 'key', '--send', 'One-terms', '--report', 'outcome']
  const broken = {
    write() {
      throw new Error('nobody reads this')
    },
  }
  const { cwd, homeFolder } = terminal
  const exitCode = await runToolkit([...argv, ...step], {
    ...{ cwd, homeFolder, env: {}, signal: new AbortController().signal },
    ...{ stdin: Readable.from([]), stdout: broken, stderr: { write: () => {} } },
    interrupt: () => undefined,
  }).catch(() => 1)
  assert.notEqual(exitCode, 0)
  const outcome = JSON.parse(await readFile(join(cwd, 'outcome'), 'utf8'))
  assert.deepEqual([outcome.error, outcome.transaction], [undefined, transaction?.hash])
})

test('a failure is reported with its code and what to do', async (t) => {
  const { prepare } = await open(t)
  const [exitCode, { error }] = await prepare('One', 'poor-key')
  assert.deepEqual([exitCode, error?.code], [1, 'TOOLKIT_BALANCE_LOW'])
  assert.match(error?.remedy ?? '', /Send coins to that address/)
})

test('--yes with --view-file is wrong usage: nobody is asked there', async (t) => {
  const { run } = await openTestTerminal(t)
  const argv = ['view', 'deploy', 'One', '--target', 'devnet', '--rpc', 'http://127.0.0.1:1']
  const { exitCode, stderr } = await run([...argv, '--view-file', 'One', '--prepare', 'a', '--yes'])
  assert.equal(exitCode, 2)
  assert.match(stderr, /^error: both --view-file and --yes are given\n/)
})

test('--view-file without a step is wrong usage', async (t) => {
  const { run } = await openTestTerminal(t)
  const argv = ['view', 'deploy', 'One', '--target', 'devnet', '--rpc', 'http://127.0.0.1:1']
  for (const step of [[], ['--send', 'terms'], ['--report', 'outcome']]) {
    const { exitCode, stderr } = await run([...argv, '--view-file', 'One', ...step])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--view-file is given without a step/)
  }
})
