/** Registrations that the other chain refuses, or does not answer. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { blocksOf } from '../../docs/support/page.ts'
import { until } from '../../support/p2p-room.ts'
import { hurry } from '../support/hurried-clock.ts'
import { openLyingNode } from '../support/lying-node.ts'
import { openRegistryRoom, type Printed, pendingOf, untilStatus } from './support/registry-room.ts'

/** What is written down of deployments, whatever the chain says now. */
async function recordedOf({
  homeFolder,
}: {
  readonly homeFolder: string
}): Promise<readonly Printed[]> {
  const text = await readFile(join(homeFolder, '.viewmesh/deployments.json'), 'utf8')
  return JSON.parse(text).deployments
}

const refusal = 'the other chain refused it: ABCI code: 1: error handling packet'

test('a refusal of the other chain is explained, written down, and ends with 1', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t, null)
  const deploying = deploy('--yes')
  const address = await pendingOf(registry)
  await registry.settle({ failed: [address] })
  const { exitCode, stdout, stderr } = await deploying
  assert.deepEqual([exitCode, stdout], [1, ''])
  assert.match(stderr, /the registration failed: the other chain refused it\n.*--comet URL/)
  const { deployments } = (await terminal.json('view', 'status')) as { deployments: Printed[] }
  assert.deepEqual(
    deployments.map(({ state }) => state),
    ['not registered'],
  )
  const recorded = await recordedOf(terminal)
  assert.deepEqual(
    recorded.map(({ state }) => state),
    ['refused'],
  )
})

test('a deployment that is interrupted is noted as pending, with its transaction', async (t) => {
  const { registry, terminal, key } = await openRegistryRoom(t, null)
  const stop = new AbortController()
  const argv = ['view', 'deploy', 'Payments', '--target', 'devnet', '--rpc', registry.rpcUrl]
  const env = { VIEWMESH_PRIVATE_KEY: key }
  const deploying = terminal.run([...argv, '--yes'], { env, signal: stop.signal })
  const noted = async (): Promise<readonly Printed[]> =>
    ((await terminal.json('view', 'status')) as { deployments: Printed[] }).deployments
  await until(async () => (await noted()).length === 1)
  stop.abort()
  const { exitCode, stderr } = await deploying
  assert.equal(exitCode, 130)
  const [recorded] = await recordedOf(terminal)
  assert.equal(recorded?.state, 'pending')
  assert.ok(stderr.includes(`sent ${recorded?.transaction}\n`), stderr)
})

test('the reason of a refusal is that of the event of the chain, also in view status', async (t) => {
  const { registry, deploy, terminal, key } = await openRegistryRoom(t, null)
  const { cometUrl } = registry
  // One that failed before is not taken for this one.
  await deploy('--prepare', 'prepared.json')
  const { wire } = JSON.parse(await readFile(join(terminal.cwd, 'prepared.json'), 'utf8'))
  const address = await registry.register(
    privateKeyToAddress(key as Hex),
    new Uint8Array(Buffer.from(wire, 'base64')),
  )
  await registry.settle({ timedOut: [address] })
  await registry.openChannel()
  const deploying = deploy('--yes', '--comet', cometUrl)
  await untilStatus(registry, address, 'pending')
  await registry.settle({ failed: [address] })
  const { exitCode, stderr } = await deploying
  assert.equal(exitCode, 1)
  const shown = blocksOf('docs/views/deploying.md').find(({ text }) => text.includes(refusal))
  assert.ok(shown !== undefined && stderr.includes(shown.text), stderr)
  const status = ['view', 'status', '--comet', cometUrl]
  const { deployments } = (await terminal.json(...status)) as { deployments: object[] }
  const [{ state, error } = { state: '', error: '' }] = deployments as [Printed & { error: string }]
  assert.deepEqual([state, error], ['not registered', refusal])
  const receipt = { status: '0x1', blockNumber: '0xffff', gasUsed: '0x1', logs: [] }
  const node = await openLyingNode(t, registry.rpcUrl, { eth_getTransactionReceipt: () => receipt })
  const later = (await terminal.json(...status, '--rpc', node.url)) as { deployments: object[] }
  assert.equal(Object(later.deployments[0]).error, null, 'what failed before is not this one')
  const { stdout } = await terminal.run(['view', 'status'], {
    env: { REGISTRY_RPC_URL: `${cometUrl.replace('http', 'ws')}/websocket` },
  })
  assert.match(stdout, new RegExp(`^Payments \\(version 1\\) at http://\\S+: ${refusal}$`, 'm'))
})

test('what was prepared and has failed is not sent again, and is said to have been sent', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t, null)
  const prepared = await deploy('--prepare', 'prepared.json')
  hurry(t, 3_000)
  const deploying = deploy('--send', 'prepared.json')
  await registry.settle({ failed: [await pendingOf(registry)] })
  assert.equal((await deploying).exitCode, 1)
  const node = await openLyingNode(t, registry.rpcUrl, {})
  const { exitCode, stderr } = await deploy('--send', 'prepared.json', '--rpc', node.url)
  assert.deepEqual([exitCode, node.sent], [1, []])
  assert.ok(stderr.includes(`it was sent before: ${JSON.parse(prepared.stdout).transaction}\n`))
  assert.match(stderr, /the registration failed: the other chain refused it\n/)
})

test('a View that the other chain does not answer for in time is noted as pending', async (t) => {
  const { deploy, terminal } = await openRegistryRoom(t, null)
  hurry(t, 600_000)
  const { exitCode, stderr } = await deploy('--yes')
  assert.equal(exitCode, 3)
  assert.match(stderr, /0x[0-9a-fA-F]{40} is still pending\n/)
  assert.deepEqual(
    (await recordedOf(terminal)).map(({ state }) => state),
    ['pending'],
  )
})

test('where nobody can say why a View was refused, that is said, and view status ends with 3', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t, null)
  const away = { REGISTRY_RPC_URL: 'http://127.0.0.1:1' }
  const deploying = deploy('--yes', '--comet', away.REGISTRY_RPC_URL)
  await registry.settle({ failed: [await pendingOf(registry)] })
  const { exitCode, stderr } = await deploying
  assert.equal(exitCode, 1)
  assert.match(
    stderr,
    /the other chain refused it\n.*reason cannot be asked for: .*127\.0\.0\.1:1 does/,
  )
  const status = await terminal.run(['view', 'status', '--json'], { env: away })
  assert.equal(status.exitCode, 3)
  assert.match(JSON.parse(status.stdout).deployments[0].error, /127\.0\.0\.1:1 does not answer/)
  const wrong = await terminal.run(['view', 'status', '--comet', 'ftp://a'])
  assert.equal(wrong.exitCode, 2)
})

test('a time-out of the other chain is told from a refusal, and so is the closed channel', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t, null)
  const deploying = deploy('--yes')
  const address = await pendingOf(registry)
  await registry.settle({ timedOut: [address] })
  const timedOut = await deploying
  assert.equal(timedOut.exitCode, 1)
  assert.match(timedOut.stderr, /the other chain did not answer within five minutes/)
  const after = await deploy('--yes')
  assert.equal(after.exitCode, 1)
  assert.match(after.stderr, /no active channel[\s\S]*\nWhat to do: The channel .* is closed/)
})

test('view status asks for no consensus RPC where no View was deployed to a chain', async (t) => {
  const { terminal } = await openRegistryRoom(t)
  const env = { REGISTRY_RPC_URL: 'not a URL' }
  const { exitCode, stdout, stderr } = await terminal.run(['view', 'status'], { env })
  assert.deepEqual([exitCode, stdout], [0, 'nothing is deployed\n'], stderr)
})
