import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lensHash } from '../../../src/views/lens-hash.ts'
import { startChild } from '../../support/child-program.ts'
import { freePorts } from '../../support/free-port.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { repository } from '../../support/repository.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const token = 'a token of tests only, and long enough'
const parts = ['--query', 'Log { address }', '--sdl', 'type Things { address: String }']

/** Where a Host that is started for a project keeps its data. */
function hostFolder(homeFolder: string, project: string): string {
  const name = createHash('sha256').update(realpathSync(project)).digest('hex')
  return join(homeFolder, '.viewmesh/hosts', name)
}

/** A Host with an admin token, and a project with the View `Things`. */
async function openDeployment(context: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'viewmesh-deploy-'))
  const [port = 0] = await freePorts(1)
  const env = { DB_API_ADDR: `127.0.0.1:${port}`, HOST_ADMIN_TOKEN: token }
  const host = await openHostInProcess(context, home, env)
  context.after(() => rm(home, { recursive: true }))
  await host.opened
  const terminal = await openTestTerminal(context)
  await terminal.json('view', 'init')
  await terminal.json('view', 'create', 'Things', ...parts)
  const url = `http://127.0.0.1:${port}`
  const deploy = (flags: readonly string[] = [], given = token) =>
    terminal.run(['view', 'deploy', 'Things', '--target', 'local', '--host', url, ...flags], {
      env: given === '' ? {} : { HOST_ADMIN_TOKEN: given },
    })
  return { ...terminal, url, deploy, host }
}

/** A View whose deployment starts a Host, on free ports. */
async function ownHost(context: TestContext) {
  const { cwd, homeFolder, json } = await openTestTerminal(context)
  await json('view', 'create', 'Things', ...parts)
  const [api = 0, p2p = 0, health = 0] = await freePorts(3)
  const addresses = {
    DB_API_ADDR: `127.0.0.1:${api}`,
    DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
    HEALTH_ADDR: `127.0.0.1:${health}`,
  }
  const deploy = (more: Readonly<Record<string, string>> = {}) => {
    const child = startChild('test/toolkit/support/run-toolkit.ts', {
      args: [cwd, 'view', 'deploy', 'Things', '--target', 'local', '--json'],
      env: { HOME: homeFolder, ...addresses, ...more },
    })
    // It stops its Host before it ends.
    context.after(async () => {
      child.process.kill('SIGTERM')
      await child.ended()
    })
    return child
  }
  return { homeFolder, api, deploy }
}

test('service page: "collection already exists" is informational, the existing one is used', async (context) => {
  const { deploy, json, url } = await openDeployment(context)
  const first = await deploy(['--json'])
  assert.deepEqual([first.exitCode, first.stderr], [0, ''])
  const { id, isNew, name } = JSON.parse(first.stdout)
  assert.deepEqual([isNew, name], [true, 'Things'])
  const again = await deploy(['--json'])
  assert.equal(again.exitCode, 0)
  const [said, remedy] = again.stderr.split('\n')
  assert.equal(said, 'collection already exists')
  assert.ok(remedy?.includes(`DELETE ${url}/api/v0/views/${id} with the admin token`), remedy)
  assert.equal(JSON.parse(again.stdout).id, id)
  const response = await fetch(`${url}/api/v0/views`)
  const { views } = (await response.json()) as { views: unknown[] }
  assert.equal(views.length, 1)
  const { deployments } = (await json('view', 'status')) as { deployments: { state: string }[] }
  assert.deepEqual(
    deployments.map(({ state }) => state),
    ['waiting'],
  )
})

test('a View of another chain than that of the Host is noted as deployed, and shown as foreign', async (context) => {
  const { run, json, url } = await openDeployment(context)
  const query = 'Sepolia__Testnet__Log { address }'
  await json('view', 'create', 'Away', '--query', query, ...parts.slice(2))
  const { exitCode, stdout, stderr } = await run(
    ['view', 'deploy', 'Away', '--target', 'local', '--host', url],
    { env: { HOST_ADMIN_TOKEN: token } },
  )
  assert.equal(exitCode, 0, stderr)
  assert.match(stdout, /^Away \(version 1\) is kept by http:\S+ as foreign: it reads another chain/)
  assert.doesNotMatch(stdout, /try:/)
  const { deployments } = (await json('view', 'status', 'Away')) as { deployments: object[] }
  assert.partialDeepStrictEqual(deployments, [{ state: 'foreign', served: null, rows: 0 }])
})

/**
 * Service page: "View definition (name, query, SDL, ordered lens list with label, WebAssembly source and string-valued
 * arguments, materialization flag)". The flag is in the SDL, and `service-page.test.ts` of Views shows what it does. Labels stay
 * in the project: the wire bytes have no place for them.
 */
test('service page: a View is "name, query, SDL, ordered lens list" in a project and at a Host', async (context) => {
  const { run, json, url } = await openDeployment(context)
  const query = 'Log { address topics data blockNumber transaction { hash from to } }'
  const sdl = 'type Moves @materialized(if: false) { event: String }'
  const event = { type: 'event', name: 'Moved', inputs: [{ name: 'to', type: 'address' }] }
  const lenses = [
    { label: 'z', lens: 'decode_log', args: { abi: JSON.stringify([event]) } },
    { label: 'a', lens: 'filter', args: { src: 'event', value: 'Moved' } },
    { label: 'b', lens: 'filter', args: { src: 'hash', value: '0x1' } },
  ].map((each) => ({ ...each, path: `${repository}/src/lenses/${each.lens}.wasm` }))
  const flags = lenses.flatMap(({ label, path, args }) => {
    return ['--lens', `${label}:${path}:${JSON.stringify(args)}`]
  })
  await json('view', 'create', 'Moves', '--query', query, '--sdl', sdl, ...flags)
  const modules = await Promise.all(
    lenses.map(async ({ path }) => {
      const wasm = await readFile(path)
      return { hash: lensHash(wasm), bytes: wasm.length }
    }),
  )
  assert.deepEqual(await json('view', 'inspect', 'Moves'), {
    ...{ name: 'Moves', revision: 1, query, sdl },
    lenses: lenses.map(({ label, args }, index) => {
      return { label, file: `lenses/Moves.${label}.wasm`, args, ...modules[index] }
    }),
  })
  const target = ['--target', 'local', '--host', url, '--json']
  const options = { env: { HOST_ADMIN_TOKEN: token } }
  const { stdout } = await run(['view', 'deploy', 'Moves', ...target], options)
  const shown = await fetch(`${url}/api/v0/views/${JSON.parse(stdout).id}`)
  const kept = (await shown.json()) as Readonly<Record<string, unknown>>
  assert.deepEqual([kept['name'], kept['query'], kept['sdl']], ['Moves', query, sdl])
  assert.deepEqual(
    kept['lenses'],
    lenses.map(({ args }, index) => ({ ...modules[index], args: JSON.stringify(args) })),
  )
})

test('what a Host warns of is printed on standard error with its remedy, and in --json', async (context) => {
  const { deploy, run, json, url } = await openDeployment(context)
  assert.deepEqual(JSON.parse((await deploy(['--json'])).stdout).warnings, [])
  const lens = `${repository}/src/lenses/erc20_balances.wasm`
  await json(
    ...['view', 'create', 'Sums', '--query', 'Log { address topics data blockNumber }'],
    ...['--sdl', 'type Sums @materialized(if: true) { account: String balance: String }'],
    ...['--lens', `sums:${lens}:{"tokenAddress": "0x${'11'.repeat(20)}"}`],
  )
  const argv = ['view', 'deploy', 'Sums', '--target', 'local', '--host', url, '--json']
  const { exitCode, stdout, stderr } = await run(argv, { env: { HOST_ADMIN_TOKEN: token } })
  assert.equal(exitCode, 0, stderr)
  assert.match(
    stderr,
    /^warning: lens 1 adds up: .*\nWhat to do: Store the single steps as rows, .*\n$/,
  )
  const { warnings } = JSON.parse(stdout) as { warnings: { code: string }[] }
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['AGGREGATES_PER_BLOCK'],
  )
})

test('a View of another Host is not deployed to the one that is asked, and a deleted one is gone', async (context) => {
  const { deploy, run, cwd, url } = await openDeployment(context)
  const { id } = JSON.parse((await deploy(['--json'])).stdout)
  const headers = { authorization: `Bearer ${token}` }
  await fetch(`${url}/api/v0/views/${id}`, { method: 'DELETE', headers })
  const stateAt = async (host: string): Promise<string> =>
    JSON.parse((await run(['view', 'status', '--host', host, '--json'])).stdout).deployments[0]
      .state
  assert.equal(await stateAt(url), 'gone')
  const file = join(cwd, 'deployments.json')
  const recorded = await readFile(file, 'utf8')
  await writeFile(file, recorded.replaceAll(url, 'http://127.0.0.1:1'))
  assert.equal(await stateAt(url), 'not deployed')
})

test('changed content is a second View with an ID of its own, and a rollback has the first again', async (context) => {
  const { deploy, json } = await openDeployment(context)
  const { id } = JSON.parse((await deploy(['--json'])).stdout)
  await json('view', 'add', 'sdl', 'type Things { address: String @index }', '--name', 'Things')
  const second = JSON.parse((await deploy(['--json'])).stdout)
  assert.notEqual(second.id, id)
  assert.equal(second.name, `Things_${second.id.slice(2, 10)}`)
  await json('view', 'rollback', 'Things')
  const third = JSON.parse((await deploy(['--json'])).stdout)
  assert.deepEqual([third.id, third.isNew, third.revision], [id, false, 3])
  const { deployments } = (await json('view', 'status', 'Things')) as { deployments: unknown[] }
  assert.equal(deployments.length, 2)
})

test('without the token of the Host a deployment is refused with what to set', async (context) => {
  const { deploy, json } = await openDeployment(context)
  const none = await deploy([], '')
  assert.equal(none.exitCode, 1)
  const remedy =
    /What to do: Give the token that this Host has in its HOST_ADMIN_TOKEN or HOST_ADMIN_TOKEN_FILE .* by --admin-token-file\./
  assert.match(none.stderr, remedy)
  const other = await deploy([], 'another token')
  assert.match(other.stderr, remedy)
  assert.deepEqual(await json('view', 'status'), { deployments: [] })
})

test('what a Host refuses of a View is shown with its code and remedy', async (context) => {
  const { deploy, cwd } = await openDeployment(context)
  await writeFile(join(cwd, 'views/Things/query.graphql'), 'Log { adress }')
  const { exitCode, stderr } = await deploy()
  assert.equal(exitCode, 1)
  assert.match(stderr, /^error: http:.* refuses: the query, line 1, column 7: /)
  assert.match(stderr, /^ {2}code: VIEWS_QUERY_INVALID$/m)
})

test('a Host that is named and not there ends with 3, and no other is started', async (context) => {
  const { run, json } = await openTestTerminal(context)
  await json('view', 'create', 'Things', ...parts)
  const [port = 0] = await freePorts(1)
  const host = ['--target', 'local', '--host', `http://127.0.0.1:${port}`]
  const { exitCode, stderr } = await run(['view', 'deploy', 'Things', ...host])
  assert.equal(exitCode, 3)
  assert.match(stderr, /^error: no answer from http:/)
})

test('status of a Host that went away says so and ends with 3', async (context) => {
  const { deploy, run, host } = await openDeployment(context)
  await deploy()
  await host.close()
  const { exitCode, stdout } = await run(['view', 'status', 'Things', '--json'])
  assert.equal(exitCode, 3)
  assert.equal(JSON.parse(stdout).deployments[0].state, 'not reached')
})

test('status of two Hosts of which one went away shows both and ends with 3', async (context) => {
  const { deploy, run, cwd } = await openDeployment(context)
  await deploy()
  const file = join(cwd, 'deployments.json')
  const { deployments } = JSON.parse(await readFile(file, 'utf8')) as { deployments: object[] }
  const away = { ...deployments[0], endpoint: 'http://127.0.0.1:1' }
  await writeFile(file, JSON.stringify({ deployments: [away, ...deployments] }))
  const { exitCode, stdout, stderr } = await run(['view', 'status', 'Things', '--json'])
  const shown = JSON.parse(stdout) as { deployments: { state: string }[] }
  assert.deepEqual(
    shown.deployments.map(({ state }) => state),
    ['not reached', 'waiting'],
  )
  assert.deepEqual(
    [exitCode, stderr.split('\n')[0]],
    [3, 'error: no answer from http://127.0.0.1:1'],
  )
})

test('without a Host one is started, with its playground and its data kept, until interrupted', async (context) => {
  const { homeFolder, api, deploy } = await ownHost(context)
  const folder = hostFolder(homeFolder, join(homeFolder, '.viewmesh'))
  for (const [isNew, signal] of [
    [true, 'SIGINT'],
    [false, 'SIGHUP'],
  ] as const) {
    const child = deploy()
    await child.says(`"isNew": ${isNew}`)
    const playground = await fetch(`http://127.0.0.1:${api + 1}/`)
    assert.match(await playground.text(), /GraphiQL|graphiql/)
    // Another command meanwhile finds that one, and starts none.
    const second = await deploy().ended()
    assert.deepEqual([second.code, JSON.parse(second.stdout).isNew], [0, false])
    assert.doesNotMatch(second.stderr, /starting one/)
    child.process.kill(signal)
    const { code, stderr } = await child.ended()
    assert.equal(code, 130)
    assert.equal(
      stderr.split('\n')[0],
      `no Host at http://127.0.0.1:9181: starting one, which keeps its data in ${folder}`,
    )
    assert.match(stderr, /\nit knows no Generator, so it gets no blocks; set BOOTSTRAP_PEERS/)
    assert.match(stderr, /\nthe Host runs until you interrupt this command \(Ctrl-C\)\n/)
    assert.ok(existsSync(join(folder, 'store')))
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
    // Nothing is left that listens.
    await assert.rejects(fetch(`http://127.0.0.1:${api}/`))
  }
})

/** Resolves when nobody listens there any more who does now. */
async function untilGone(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  // Where it is killed there is an error before.
  await new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
}

test('several signals at once interrupt a deployment as one does', async (context) => {
  const { api, deploy } = await ownHost(context)
  const peer = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWSGZofmiJw3d9Fk7TJDVmLpcbzeHkMAQXhoDhxNv9Zjda'
  const child = deploy({ BOOTSTRAP_PEERS: peer })
  await child.says('"isNew": true')
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) child.process.kill(signal)
  const { code, stderr } = await child.ended()
  assert.equal(code, 130)
  assert.doesNotMatch(stderr, /it knows no Generator/)
  await assert.rejects(fetch(`http://127.0.0.1:${api}/`))
})

test('a Host of the toolkit ends with it, also where that is killed', async (context) => {
  const { api, deploy } = await ownHost(context)
  const child = deploy()
  await child.says('"isNew": true')
  const gone = untilGone(api)
  child.process.kill('SIGKILL')
  await gone
  const next = deploy()
  await next.says('"isNew": false')
})

test('a later signal ends a deployment whose Host does not stop, and that Host', async (context) => {
  const { api, deploy } = await ownHost(context)
  const child = deploy()
  await child.says('"isNew": true')
  const gone = untilGone(api)
  for (const pid of childrenOf(child.process.pid)) {
    const isHost = readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith('\0host\0')
    if (isHost) process.kill(pid, 'SIGSTOP')
  }
  const ended = child.ended()
  const repeated = setInterval(() => child.process.kill('SIGTERM'), 100)
  context.after(() => clearInterval(repeated))
  assert.equal((await ended).signal, 'SIGTERM')
  await gone
})

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

test('whoever listens where a Host of the toolkit was gets a token that no later one takes', async (context) => {
  const { api, deploy } = await ownHost(context)
  const run = async (whileItRuns: () => Promise<void>): Promise<void> => {
    const child = deploy()
    await child.says('"isNew": ')
    await whileItRuns()
    child.process.kill('SIGINT')
    await child.ended()
  }
  await run(async () => {})
  const heard: string[] = []
  const stranger = createServer(({ headers }, response) => {
    heard.push(`${headers.authorization}`)
    response.writeHead(401).end()
  }).listen(api, '127.0.0.1')
  await once(stranger, 'listening')
  const { code } = await deploy().ended()
  stranger.close()
  assert.deepEqual([code, heard.length], [1, 1])
  assert.match(`${heard[0]}`, /^Bearer .{43}$/)
  await run(async () => {
    const headers = { authorization: `${heard[0]}` }
    const answer = await fetch(`http://127.0.0.1:${api}/api/v0/views`, { method: 'POST', headers })
    assert.equal(answer.status, 403)
  })
})

test('a link in the place of the folder of a Host is refused, and nothing is written behind it', async (context) => {
  const { cwd, homeFolder, run, json } = await openTestTerminal(context)
  await json('view', 'init')
  await json('view', 'create', 'Things', ...parts)
  const outside = join(homeFolder, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'log'), 'kept')
  await mkdir(join(homeFolder, '.viewmesh/hosts'), { recursive: true })
  await symlink(outside, hostFolder(homeFolder, cwd))
  const { exitCode, stderr } = await run(['view', 'deploy', 'Things', '--target', 'local'])
  assert.equal(exitCode, 1)
  assert.match(stderr, /^error: .* is a link, or cannot be made$/m)
  assert.equal(await readFile(join(outside, 'log'), 'utf8'), 'kept')
})
