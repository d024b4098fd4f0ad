/** What the development registry keeps when it is started again, also after it was killed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { encodeFunctionData, type Hex } from 'viem'
import { anvilState } from '../../../src/devnet/anvil-state.ts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { registryAbi, registryAddress } from '../../../src/registry/precompile/abi.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { callNode } from '../../support/chain/anvil.ts'
import { until } from '../../support/p2p-room.ts'

const sender = `0x${'22'.repeat(20)}`

test('Views, their heights and their states stand after a restart', async (t) => {
  const folder = join(folderFor(t), 'registry')
  const first = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  const kept = await first.register(sender, wireOf('Kept'))
  await first.settle({ registered: [kept] })
  const waiting = await first.register(sender, wireOf('Waiting'))
  const before = await shown(first)
  const height = await callNode(first.rpcUrl, 'eth_blockNumber', [])
  await first.close()
  const journal = readFileSync(join(folder, 'registry.jsonl'), 'utf8')
  const second = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  assert.deepEqual(await shown(second), before)
  assert.equal(await callNode(second.rpcUrl, 'eth_blockNumber', []), height)
  assert.equal(readFileSync(join(folder, 'registry.jsonl'), 'utf8'), journal, 'nothing is new')
  assert.deepEqual([await statusOf(second, kept), await statusOf(second, waiting)], [2, 1])
  await second.close()
  const third = await openDevelopmentRegistry({ folder, acknowledgeMs: 1 })
  t.after(() => third.close())
  await until(async () => (await shown(third)).length === 2)
})

test('nothing that was confirmed is lost when the registry is killed', async (t) => {
  const folder = folderFor(t)
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./registry-child.ts', import.meta.url)), folder],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.after(() => child.kill('SIGKILL'))
  const confirmed: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    confirmed.push(line)
    if (confirmed.length === 7) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  // As if it had been killed while it wrote.
  appendFileSync(join(folder, 'registry.jsonl'), '{"kind":"views","transac')
  const again = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  t.after(() => again.close())
  const states = await Promise.all(confirmed.map((address) => statusOf(again, address)))
  assert.deepEqual(
    states,
    confirmed.map((_, n) => (n % 2 === 0 ? 2 : 1)),
  )
  const next = await again.register(sender, wireOf('Next'))
  assert.equal(await statusOf(again, next), 1)
})

test('what the node has and the journal has not yet is taken up at the next start', async (t) => {
  const folder = folderFor(t)
  const first = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  const known = await first.register(sender, wireOf('Known'))
  const journal = readFileSync(join(folder, 'registry.jsonl'))
  const unknown = await first.register(sender, wireOf('Unknown'))
  await first.close()
  // As if it had been killed before it wrote.
  writeFileSync(join(folder, 'registry.jsonl'), journal)
  const second = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  t.after(() => second.close())
  await second.settle({ registered: [known, unknown] })
  assert.equal((await shown(second)).length, 2)
  assert.deepEqual([await statusOf(second, known), await statusOf(second, unknown)], [2, 2])
})

test('what the journal has and the node has lost is done again at the next start', async (t) => {
  const folder = folderFor(t)
  const first = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  const known = await first.register(sender, wireOf('Known'))
  await first.close()
  const state = readFileSync(anvilState(folder))
  const second = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  const lost = await second.register(sender, wireOf('Lost'))
  await second.settle({ registered: [known] })
  const before = await shown(second)
  await second.close()
  // As if it had been killed before the node wrote its state.
  writeFileSync(anvilState(folder), state)
  const third = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
  t.after(() => third.close())
  assert.deepEqual(await shown(third), before)
  assert.deepEqual([await statusOf(third, known), await statusOf(third, lost)], [2, 1])
})

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-test-registry-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function shown(registry: DevelopmentRegistry): Promise<readonly unknown[]> {
  const response = await fetch(`${registry.lcdUrl}/shinzonetwork/view/v1/views?include_data=true`)
  return ((await response.json()) as { views: unknown[] }).views
}

async function statusOf(registry: DevelopmentRegistry, address: string): Promise<number> {
  const data = encodeFunctionData({
    abi: registryAbi,
    functionName: 'getView',
    args: [address as Hex],
  })
  const request = { to: registryAddress, data }
  const result = await callNode<Hex>(registry.rpcUrl, 'eth_call', [request, 'latest'])
  return Number(`0x${result.slice(2 + 5 * 64, 2 + 6 * 64)}`)
}

function wireOf(name: string): Uint8Array {
  return encodeView({
    query: 'Log { address }',
    sdl: `type ${name} { address: String }`,
    lenses: [],
  })
}
