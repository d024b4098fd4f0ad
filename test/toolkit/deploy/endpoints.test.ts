/** Hosts and nodes behind a path: deployed to, and found again by `view status`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDevelopmentRegistry } from '../../../src/devnet/registry/development-registry.ts'
import { openExampleHost } from '../../docs/support/example-host.ts'
import { openLyingNode } from '../support/lying-node.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const token = 'a token of tests only, and long enough'
const parts = ['--query', 'Log { address }', '--sdl', 'type Things { address: String }']

interface Listed {
  readonly deployments: readonly { readonly state: string; readonly endpoint: string }[]
}

test('a Host behind a path is asked there by view status, and its URLs have the path', async (t) => {
  const host = await openExampleHost({ HOST_ADMIN_TOKEN: token })
  t.after(() => host.close())
  const proxy = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = Buffer.concat(await request.toArray())
    if (!url.startsWith('/one/')) return void response.writeHead(404).end('{}')
    const authorization = headers.authorization ?? ''
    const target = `${host.apiOrigin}${url.slice('/one'.length)}`
    const json = { authorization, 'content-type': 'application/json' }
    const sent = body.length === 0 ? {} : { headers: json, body }
    const answer = await fetch(target, { method, ...sent })
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.after(() => proxy.close())
  const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/one`
  const { cwd, json, run } = await openTestTerminal(t)
  await json('view', 'init')
  await json('view', 'create', 'Things', ...parts)
  const deploy = ['view', 'deploy', 'Things', '--target', 'local', '--host']
  const env = { HOST_ADMIN_TOKEN: token }
  const direct = await run([...deploy, host.apiOrigin], { env })
  const playground = new URL(host.apiOrigin)
  playground.port = String(Number(playground.port) + 1)
  assert.ok(direct.stdout.includes(`\nplayground: ${playground.href}\n`), direct.stdout)
  const { stdout, stderr } = await run([...deploy, `${base}/?key=secret`], { env })
  assert.match(stdout, new RegExp(`^GraphQL: +${base}/api/v0/graphql$`, 'm'), stderr)
  assert.doesNotMatch(stdout, /playground/)
  const recorded = await readFile(join(cwd, 'deployments.json'), 'utf8')
  assert.doesNotMatch(recorded, /secret/)
  const { deployments } = (await json('view', 'status')) as Listed
  const endpoints = deployments.map(({ endpoint }) => endpoint)
  assert.deepEqual(endpoints, [host.apiOrigin, base])
  assert.ok(deployments.every(({ state }) => !['gone', 'not reached'].includes(state)))
  const asked = (await json('view', 'status', '--host', host.apiOrigin)) as Listed
  assert.deepEqual(
    asked.deployments.map(({ endpoint }) => endpoint),
    [host.apiOrigin],
  )
})

test('of a node behind a path only the origin is recorded, and --rpc asks it whole', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: 100 })
  t.after(() => registry.close())
  const node = await openLyingNode(t, registry.rpcUrl, {})
  const rpc = `${node.url}/v3/secret?key=secret`
  const { cwd, json, run } = await openTestTerminal(t)
  await json('view', 'init')
  await json('view', 'create', 'Things', ...parts)
  const [key = ''] = registry.accounts
  const deploy = ['view', 'deploy', 'Things', '--target', 'devnet', '--rpc', rpc, '--yes']
  const deployed = await run(deploy, { env: { VIEWMESH_PRIVATE_KEY: key } })
  assert.equal(deployed.exitCode, 0, deployed.stderr)
  const recorded = await readFile(join(cwd, 'deployments.json'), 'utf8')
  assert.doesNotMatch(recorded, /secret/)
  const { exitCode, stdout, stderr } = await run(['view', 'status'])
  assert.equal(exitCode, 3)
  assert.match(stdout, /not reached/)
  assert.match(stderr, /only the origin is recorded: .*\n[\s\S]*Give its whole URL with --rpc\./)
  const { deployments } = (await json('view', 'status', '--rpc', rpc)) as Listed
  assert.deepEqual(
    deployments.map(({ state, endpoint }) => [state, endpoint]),
    [['registered', `${node.url}/…`]],
  )
})

test('of one chain view status shows what it knows where --rpc reaches nobody', async (t) => {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: 100 })
  t.after(() => registry.close())
  const { json, run } = await openTestTerminal(t)
  await json('view', 'create', 'Things', ...parts)
  const deploy = [
    'view',
    'deploy',
    'Things',
    '--target',
    'devnet',
    '--rpc',
    registry.rpcUrl,
    '--yes',
  ]
  const env = { VIEWMESH_PRIVATE_KEY: `${registry.accounts[0]}` }
  assert.equal((await run(deploy, { env })).exitCode, 0)
  const { exitCode, stdout } = await run(['view', 'status', '--rpc', 'http://127.0.0.1:1'])
  assert.equal(exitCode, 3)
  assert.match(stdout, /not reached/)
})

test('of several chains view status --rpc asks for the deployments on the chain that it names', async (t) => {
  const chains = [91_273_002, 91_273_003]
  const opened = chains.map((chainId) => openDevelopmentRegistry({ acknowledgeMs: 100, chainId }))
  const registries = await Promise.all(opened)
  for (const registry of registries) t.after(() => registry.close())
  const { json, run } = await openTestTerminal(t)
  await json('view', 'create', 'Things', ...parts)
  for (const { rpcUrl, accounts } of registries) {
    const deploy = ['view', 'deploy', 'Things', '--target', 'devnet', '--rpc', rpcUrl, '--yes']
    const { exitCode, stderr } = await run(deploy, {
      env: { VIEWMESH_PRIVATE_KEY: `${accounts[0]}` },
    })
    assert.equal(exitCode, 0, stderr)
  }
  const [first = '', second = ''] = registries.map(({ rpcUrl }) => rpcUrl)
  const other = await openLyingNode(t, second, {})
  const { deployments } = (await json('view', 'status', '--rpc', other.url)) as Listed
  assert.deepEqual(
    deployments.map(({ state, endpoint }) => [state, endpoint]),
    [
      ['registered', first],
      ['registered', other.url],
    ],
  )
})
