/** `view deploy --target devnet`, on the development registry. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { privateKeyToAddress } from 'viem/accounts'
import { openLyingNode } from '../support/lying-node.ts'
import { heightOf, openRegistryRoom, type Printed } from './support/registry-room.ts'

const views = '/shinzonetwork/view/v1/views'

test('a View is registered, followed to its end, listed by the chain and by view status', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t)
  const { exitCode, stdout, stderr } = await deploy('--yes')
  assert.equal(exitCode, 0, stderr)
  const shown: Printed = JSON.parse(stdout)
  assert.equal(shown.state, 'registered')
  assert.match(`${shown.gasUsed}`, /^\d+$/)
  assert.match(
    stderr,
    /size: +\d+ bytes of at most 393216\n +gas: +\d+ at most\n +fee: +0\.0000\d+ SHNZ/,
  )
  const listed = await fetch(`${registry.lcdUrl}${views}/${shown.address}`)
  assert.equal(listed.status, 200)
  const { deployments } = (await terminal.json('view', 'status')) as { deployments: Printed[] }
  assert.deepEqual(
    deployments.map(({ id, transaction, state }) => [id, transaction, state]),
    [[shown.id, shown.transaction, 'registered']],
  )
})

/**
 * Service page: "Deploying a View to the devnet target sends a transaction to the View Registry precompile at address `0x0210` on
 * the registry chain".
 */
test('service page: deploying to devnet sends a transaction to the precompile at 0x0210', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  const shown: Printed = JSON.parse((await deploy('--yes')).stdout)
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionByHash' },
    params: [shown.transaction],
  })
  const answer = await fetch(registry.rpcUrl, { method: 'POST', body })
  const { result } = (await answer.json()) as { readonly result: { readonly to: string } }
  assert.equal(result.to, '0x0000000000000000000000000000000000000210')
})

test('a View that is registered already is not sent again', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  const first: Printed = JSON.parse((await deploy('--yes')).stdout)
  const height = await heightOf(registry)
  const again = await deploy('--yes')
  const second: Printed = JSON.parse(again.stdout)
  assert.equal(again.exitCode, 0)
  assert.match(again.stderr, /the chain knows this View already: registered/)
  const { address, transaction, gasUsed } = second
  assert.deepEqual([address, transaction, gasUsed], [first.address, null, null])
  assert.equal(await heightOf(registry), height)
})

test('a dry run shows what it would cost and sends nothing', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  const { exitCode, stdout } = await deploy('--dry-run')
  assert.equal(exitCode, 0)
  const ids = ['view', 'revision', 'id', 'address', 'creator', 'chainId']
  const shown = JSON.parse(stdout)
  assert.deepEqual(Object.keys(shown), [...ids, 'bytes', 'gas', 'fee', 'balance', 'state'])
  assert.equal(shown.state, 'not sent')
  assert.equal(await heightOf(registry), 0)
})

test('a dry run names the View by both of its IDs, before and after it is registered', async (t) => {
  const { deploy, terminal, registry, key } = await openRegistryRoom(t)
  const argv = ['view', 'deploy', 'Payments', '--target', 'devnet', '--rpc', registry.rpcUrl]
  const dryRun = () => terminal.run([...argv, '--dry-run'], { env: { VIEWMESH_PRIVATE_KEY: key } })
  const before = await dryRun()
  const { id, address } = JSON.parse((await deploy('--yes')).stdout) as Printed
  const both = `${id} (${address})`
  assert.equal(before.stdout, `nothing was sent; Payments would be View ${both}\n`)
  assert.ok(before.stderr.includes(`  ID:      ${id}\n  address: ${address}\n`), before.stderr)
  const after = await dryRun()
  assert.equal(after.stdout, `nothing is to be sent; View ${both} is registered\n`)
  const status = await terminal.run(['view', 'status', 'Payments', '--rpc', registry.rpcUrl])
  assert.match(status.stdout, new RegExp(` ${address} +${id}\n$`))
})

test('a dry run shows the balance of an address that has too little', async (t) => {
  const { deploy } = await openRegistryRoom(t)
  const { exitCode, stdout, stderr } = await deploy('--dry-run', {
    VIEWMESH_PRIVATE_KEY: '77'.repeat(32),
  })
  assert.equal(exitCode, 0, stderr)
  assert.equal(JSON.parse(stdout).balance, '0')
})

test('without --yes and with nobody to ask nothing is sent', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  const { exitCode, stderr } = await deploy()
  assert.equal(exitCode, 2)
  assert.match(stderr, /--yes is required where nobody can be asked/)
  assert.equal(await heightOf(registry), 0)
})

test('on a terminal a View is registered once that is agreed to, and not otherwise', async (t) => {
  const { registry, terminal, key } = await openRegistryRoom(t)
  const argv = ['view', 'deploy', 'Payments', '--target', 'devnet', '--rpc', registry.rpcUrl]
  const env = { VIEWMESH_PRIVATE_KEY: key }
  const answer = (stdin: string) => terminal.run(argv, { env, isTTY: true, stdin })
  const declined = await answer('n\n')
  assert.equal(declined.exitCode, 1)
  assert.match(
    declined.stderr,
    /Register it\? It is permanent .* \[y\/N\] error: nothing was sent\n/,
  )
  assert.equal(await heightOf(registry), 0)
  const agreed = await answer('y\n')
  assert.equal(agreed.exitCode, 0, agreed.stderr)
  assert.match(agreed.stdout, /^Payments \(version 1\) is registered at /)
  const line = '\r\u001b[2K'
  assert.ok(agreed.stderr.includes(`${line}waiting for a block${line}`), agreed.stderr)
  assert.ok(agreed.stderr.endsWith(line), agreed.stderr)
})

test('a dry run of a pending View shows its state, waits for nothing and notes nothing', async (t) => {
  const { registry, deploy, terminal, key } = await openRegistryRoom(t, null)
  const file = join(terminal.cwd, 'prepared.json')
  await deploy('--prepare', file)
  const { wire } = JSON.parse(await readFile(file, 'utf8')) as { wire: string }
  await registry.register(privateKeyToAddress(key as `0x${string}`), Buffer.from(wire, 'base64'))
  const { exitCode, stdout } = await deploy('--dry-run')
  assert.deepEqual([exitCode, JSON.parse(stdout).state], [0, 'pending'])
  assert.deepEqual(await terminal.json('view', 'status'), { deployments: [] })
})

test('a chain that signs with another ID than its RPC says names --chain-id', async (t) => {
  const { deploy } = await openRegistryRoom(t, 100, { signingChainId: 9001 })
  const refused = await deploy('--yes')
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /invalid chain id[\s\S]*\nWhat to do: .*--chain-id N/)
  const given = await deploy('--yes', '--chain-id', '9001')
  assert.equal(given.exitCode, 0, given.stderr)
})

test('nothing is signed for a chain that is no registry chain, unless --chain-id names it', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  const lying = await openLyingNode(t, registry.rpcUrl, { eth_chainId: () => '0x1' })
  const refused = await deploy('--yes', '--rpc', lying.url)
  assert.deepEqual([refused.exitCode, lying.sent], [1, []])
  assert.match(refused.stderr, /on chain 1: Ethereum Mainnet, no registry chain\n.*--chain-id/)
  const given = await deploy('--yes', '--rpc', lying.url, '--chain-id', String(registry.chainId))
  assert.equal(given.exitCode, 0, given.stderr)
  assert.match(given.stderr, /calls its chain 1; what is signed is for chain 91273003/)
})

test('a fee above 0.1 SHNZ is shown and not signed, unless --max-fee allows it', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  const price = (): string => '0x38d7ea4c68000'
  const lying = await openLyingNode(t, registry.rpcUrl, { eth_maxPriorityFeePerGas: price })
  const flags = ['--yes', '--rpc', lying.url]
  for (const refused of [
    await deploy(...flags),
    await deploy(...flags, '--prepare', 'prepared.json'),
    await deploy(...flags, '--max-fee', '1'),
  ]) {
    assert.deepEqual([refused.exitCode, lying.sent], [1, []])
    assert.match(refused.stderr, /registering may cost \d+\.\d+ SHNZ, and at most \S+ SHNZ may/)
  }
  assert.equal((await deploy(...flags, '--dry-run')).exitCode, 0)
  const allowed = await deploy(...flags, '--max-fee', '1000')
  assert.equal(allowed.exitCode, 0, allowed.stderr)
  assert.equal((await deploy('--yes', '--max-fee', 'much')).exitCode, 2)
})

test('what no chain answers is refused as that before anything is signed', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  for (const [method, ...answers] of [
    ['eth_estimateGas', -1, '0xzz', {}],
    ['eth_getTransactionCount', -1, '0xzz', {}],
    ['eth_getBalance', -1, '0xzz', {}],
    ['eth_maxPriorityFeePerGas', -1],
  ] as const)
    for (const answer of answers) {
      const lying = await openLyingNode(t, registry.rpcUrl, { [method]: () => answer })
      const { exitCode, stderr } = await deploy('--yes', '--rpc', lying.url)
      assert.deepEqual([method, answer, exitCode, lying.sent], [method, answer, 1, []])
      assert.match(stderr, /^error: .* does not answer as its JSON-RPC does\n.*\nWhat to do: /m)
    }
})

test('an address without coins is told what it needs', async (t) => {
  const { deploy } = await openRegistryRoom(t)
  const { exitCode, stderr } = await deploy('--yes', { VIEWMESH_PRIVATE_KEY: '77'.repeat(32) })
  assert.equal(exitCode, 1)
  assert.match(stderr, /0x[0-9a-fA-F]{40} has 0 SHNZ, and registering may cost 0\.0000\d+ SHNZ/)
})

test('a chain that is not there ends with 3, a key that is not there with 1', async (t) => {
  const { terminal, key } = await openRegistryRoom(t)
  const argv = ['view', 'deploy', 'Payments', '--target', 'devnet', '--yes', '--rpc']
  const env = { VIEWMESH_PRIVATE_KEY: key }
  const gone = await terminal.run([...argv, 'http://127.0.0.1:1'], { env })
  assert.equal(gone.exitCode, 3, gone.stderr)
  const keyless = await terminal.run([...argv, 'http://127.0.0.1:1'])
  assert.equal(keyless.exitCode, 1)
  assert.match(keyless.stderr, /there is no wallet/)
})

test('a View that no Host could read is refused before anything is signed', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t)
  await terminal.run(['view', 'init', 'Empty'])
  const argv = ['view', 'deploy', 'Empty', '--target', 'devnet', '--rpc', registry.rpcUrl, '--yes']
  assert.equal((await terminal.run(argv)).exitCode, 1)
  assert.equal((await deploy('--send', join(terminal.cwd, 'nothing.json'))).exitCode, 1)
  assert.equal(await heightOf(registry), 0)
})

test('a View of another chain whose query every Host refuses is not registered', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t)
  const text = join(terminal.homeFolder, '.viewmesh/views/Payments/query.graphql')
  await writeFile(text, 'Arbitrum__One__Log { nothing }')
  const query = await deploy('--yes')
  assert.equal(query.exitCode, 1, query.stderr)
  assert.match(query.stderr, /Cannot query field "nothing"/)
  assert.equal(await heightOf(registry), 0)
})
