/** What a dry run says of a registration that was prepared, by what the chain says of it now. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { createRegistryClient } from '../../../src/registry/precompile/registry-client.ts'
import { dryRunPrepared } from '../../../src/toolkit/deploy/dry-run.ts'
import { viewIDs } from '../../../src/views/view-id.ts'

const account = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const creator = account.address
const wire = Uint8Array.of(1, 2, 3)
const raw = await account.signTransaction({
  ...{ type: 'eip1559', chainId: 7, to: creator, nonce: 5, gas: 100n },
  ...{ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
})
const hash = `0x${'2'.repeat(64)}`
const ids = viewIDs(creator, wire)
const prepared = { view: 'Things', revision: 1, ...ids, creator, chainId: 7, wire, hash, raw }

interface Said {
  readonly chainId?: number
  readonly nonce?: number
  readonly status?: 'none' | 'pending' | 'registered'
}

/** What is printed, and what is remarked beside it but for the cost. */
async function dryRun(of: typeof prepared | { raw: null; hash: null }, said: Said = {}) {
  const { chainId = 7, nonce = 5, status = 'none' } = said
  const texts = { stdout: '', stderr: '' }
  const outputTo = (name: keyof typeof texts) => ({
    write: (text: string) => {
      texts[name] += text
    },
  })
  const { signal } = new AbortController()
  const terminal = {
    ...{ stdin: Readable.from([]), stdout: outputTo('stdout'), stderr: outputTo('stderr'), signal },
    ...{ env: {}, cwd: '/', homeFolder: '/', interrupt: () => undefined },
  }
  const amounts = { gas: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, fee: 1n, balance: 9n }
  const client = {
    ...createRegistryClient('http://127.0.0.1:1', signal),
    chainId: async () => chainId,
    getView: async () => ({ status, name: '', height: 3 }),
    estimate: async () => ({ ...amounts, nonce }),
  }
  const chain = { client, endpoint: 'http://node', cometUrl: null }
  const flags = { target: 'devnet', json: true }
  await dryRunPrepared(terminal, chain, { ...prepared, ...of }, flags)
  const remarks = texts.stderr.split('\n').filter((line) => /^(?:its nonce|the node) /.test(line))
  return { printed: JSON.parse(texts.stdout) as Record<string, unknown>, remarks }
}

const shown = { view: 'Things', revision: 1, ...ids, creator, chainId: 7 }

test('what was prepared costs what its transaction says, whatever the chain asks for now', async () => {
  const { printed, remarks } = await dryRun(prepared)
  assert.deepEqual(printed, {
    ...{ ...shown, transaction: hash, state: 'not sent' },
    ...{ bytes: 3, gas: '100', fee: '200', balance: '9' },
  })
  assert.deepEqual(remarks, [])
})

test('a nonce that is not the next of the sender is remarked, and so is a chain of another ID', async () => {
  const remarks = async (said: Said): Promise<readonly string[]> =>
    (await dryRun(prepared, said)).remarks
  const nonce = (next: number, what: string): string =>
    `its nonce is 5, and the next of the sender is ${next}: ${what}`
  const [sent, waits] = [
    nonce(6, 'it was sent before, or cannot be sent any more'),
    nonce(4, 'it waits for the transactions before it'),
  ]
  assert.deepEqual(await remarks({ nonce: 6 }), [sent])
  assert.deepEqual(await remarks({ nonce: 4 }), [waits])
  assert.deepEqual(await remarks({ chainId: 8 }), [
    'the node calls its chain 8; what was prepared is for chain 7',
  ])
})

test('nothing is to be sent of a View that the chain knows, or of what has no transaction', async () => {
  const stateOf = async (of: Parameters<typeof dryRun>[0], status: NonNullable<Said['status']>) =>
    (await dryRun(of, { status })).printed
  const none = { raw: null, hash: null }
  assert.deepEqual(await stateOf(prepared, 'pending'), {
    ...{ ...shown, transaction: hash, state: 'pending' },
  })
  assert.deepEqual(await stateOf(none, 'registered'), {
    ...{ ...shown, transaction: null, state: 'registered' },
  })
  assert.deepEqual(await stateOf(none, 'none'), {
    ...{ ...shown, transaction: null, state: 'not registered' },
  })
})
