import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from 'viem'
import { startAnvil } from '../../src/devnet/anvil.ts'
import { openChildren } from '../../src/devnet/children.ts'
import { openLoad, planBlock } from '../../src/devnet/load.ts'
import { openReadableLog } from '../../src/devnet/readable-log.ts'
import { callNode, type RpcAddress } from '../../src/devnet/rpc.ts'
import { freePorts } from '../support/free-port.ts'

interface MinedTransaction {
  readonly type: string
  readonly hash: string
  readonly to: string | null
  readonly accessList?: readonly { readonly address: string }[]
}

interface MinedReceipt {
  readonly status: string
  readonly logs: readonly unknown[]
}

interface MinedBlock {
  readonly number: string
  readonly hash: string
  readonly transactions: readonly MinedTransaction[]
}

const accounts = Array.from({ length: 10 }, (_, index): Address => `0x${String(index).repeat(40)}`)
const warnings: string[] = []
const log = openReadableLog((line) => warnings.push(line))
const signal = AbortSignal.timeout(60_000)
const directory = await mkdtemp(join(tmpdir(), 'viewmesh-load-'))
const failures: unknown[] = []
const children = openChildren({ onFailure: (error) => failures.push(error) })
after(async () => {
  await children.close()
  await rm(directory, { recursive: true })
  assert.deepEqual(failures, [])
  assert.deepEqual(warnings, [])
})

test('no two transactions of a block of load have the same sender, so none waits for another', () => {
  for (let n = 0; n < 30; n++) {
    const senders = planBlock(accounts, n).map(({ from }) => from)
    assert.equal(new Set(senders).size, senders.length)
  }
})

test('every tenth block of load has an access list that names one entry twice (EIP-2930)', () => {
  const lists = planBlock(accounts, 10).flatMap(({ accessList }) => accessList ?? [])
  assert.equal(lists.filter((entry) => lists[0] === entry).length, 2)
})

test('the development chain mines every kind of transaction, and continues after a restart', async () => {
  const [port = 0] = await freePorts(1)
  const first = await startAnvil({ port, directory }, { children, signal })
  const load = await openLoad({ node: first.node }, { log, signal })
  const seen = await watch(first.node, [
    'type 0x0',
    'type 0x1',
    'type 0x2',
    'creation',
    'several logs',
    'refused',
  ])
  await load.close()
  const genesis = await blockAt(first.node, '0x0')
  await first.child.stop(2_000)

  const second = await startAnvil({ port, directory }, { children, signal })
  assert.deepEqual(await blockAt(second.node, '0x0'), genesis)
  assert.deepEqual(await blockAt(second.node, seen.number), seen)
  const loadAgain = await openLoad({ node: second.node }, { log, signal })
  await watch(second.node, ['several logs'])
  await loadAgain.close()
})

test('nothing is sent once all is to stop, and of a node that is gone nothing is said', async (t) => {
  const [port = 0] = await freePorts(1)
  const { node, child } = await startAnvil({ port, directory }, { children, signal })
  const stopping = new AbortController()
  const said: string[] = []
  const ownLog = openReadableLog((line) => said.push(line))
  t.mock.timers.enable({ apis: ['setInterval'] })
  const load = await openLoad({ node }, { log: ownLog, signal: stopping.signal })
  await child.stop(2_000)
  t.mock.timers.tick(1_000)
  stopping.abort()
  t.mock.timers.tick(3_000)
  await load.close()
  assert.deepEqual(said, [])
})

/** Reads new blocks until all these kinds were seen; returns the last block. */
async function watch(node: RpcAddress, kinds: readonly string[]): Promise<MinedBlock> {
  const missing = new Set(kinds)
  for (;;) {
    const block = await blockAt(node, 'latest')
    for (const transaction of block.transactions) {
      const receipt = (await callNode(node, {
        method: 'eth_getTransactionReceipt',
        params: [transaction.hash],
      })) as MinedReceipt
      missing.delete(`type ${transaction.type}`)
      if (transaction.to === null) missing.delete('creation')
      if (receipt.logs.length > 1) missing.delete('several logs')
      if (receipt.status === '0x0') missing.delete('refused')
    }
    if (missing.size === 0) return block
    await delay(200, undefined, { signal })
  }
}

async function blockAt(node: RpcAddress, number: string): Promise<MinedBlock> {
  const call = { method: 'eth_getBlockByNumber', params: [number, true] }
  return (await callNode(node, call)) as MinedBlock
}
