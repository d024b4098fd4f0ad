/** docs/troubleshooting.md: programs are brought into its cases, and what they say is found there by its exact text. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { multiaddr } from '@multiformats/multiaddr'
import { pino } from 'pino'
import { openIdentity } from '../../src/identity/identity.ts'
import { dialCause } from '../../src/p2p/peers/dial-error.ts'
import type { HealthReport, ProgramName } from '../../src/service/contract.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { type Anvil, startAnvil } from '../support/chain/anvil.ts'
import { isRoot, makeReadable, otherUser } from '../support/other-user/leave-root.ts'
import { readSourceFiles } from '../support/source-files.ts'
import { assertExplained, explanations, troubleshooting } from './support/explained.ts'
import { explainedElsewhere } from './support/explained-elsewhere.ts'
import {
  type Failure,
  type LogLine,
  type Started,
  startProgram,
} from './support/failing-program.ts'
import { commandsOf } from './support/page.ts'
import { copyReadablePrograms } from './support/readable-programs.ts'

/** Rows of the service page's "Messages and remedies" that programs of today can say. */
const serviceRows = [
  'Failed to load existing identity',
  'Permission denied on the key directory',
  'WebSocket unavailable, will use HTTP-only mode',
  'peer id mismatch: expected A, but remote key matches B',
  'all dials failed / no route to host / i/o timeout',
  'dial tcp4 ... i/o timeout',
  'image not found / library not loaded (WebAssembly runtime library)',
  "invalid target 'testnet'. Must be one of: local, devnet, mainnet",
  '--rpc is required when --target is devnet',
  'either --path or --url must be provided',
  'invalid --args JSON',
  'collection already exists',
]

/** The node stands in for one of mainnet, whose names programs have by default. */
const mainnet = ['--chain-id', '1']
const stranger = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'
const top = mkdtempSync(join(tmpdir(), 'viewmesh-failures-'))
/** Headings that were said here. */
const said = new Set<string>()
let anvil: Anvil
let readable = ''

before(async () => {
  anvil = await startAnvil({ blockTime: 1, args: mainnet })
  readable = copyReadablePrograms()
  chmodSync(top, 0o755)
})
after(async () => {
  await anvil.close()
  for (const folder of [top, readable]) rmSync(folder, { recursive: true })
})

/** A folder of its own. */
const folderOf = (name: string): string => mkdtempSync(join(top, `${name}-`))

/** Starts a program with a home of its own; `as` another user from a copy that everybody can read. */
function start(
  t: TestContext,
  name: ProgramName,
  env: Readonly<Record<string, string>> = {},
  as?: 'other user',
): Promise<Started> {
  const from = as === undefined ? null : readable
  return startProgram(t, name, { home: folderOf(name), env, readable: from })
}

/** Why a program ended at its start, and that the page explains it. */
async function refusal(started: Promise<Started>): Promise<Failure> {
  const { child, lines } = await started
  assert.equal((await child.ended()).code, 1, child.stdout())
  const [fatal, ...others] = lines().filter(({ level }) => level === 'fatal')
  assert.deepEqual(others, [])
  assert.equal(fatal?.msg, 'failed')
  const { err } = fatal
  assert.ok(err)
  said.add(assertExplained(err))
  return err
}

/** A failure with this code at `/health`, as soon as it is there, and that the page explains it. */
async function reported({ reports }: Started, code: string): Promise<HealthReport> {
  const report = await reports(({ errors }) => errors.some((each) => each.code === code))
  const failure = report.errors.find((each) => each.code === code)
  assert.ok(failure)
  const { message } = failure
  const shown = code.startsWith('P2P_PEER_ID') ? message.replace(/, at \S+$/, '') : message
  said.add(assertExplained({ ...failure, message: shown }))
  assert.equal(report.status, 'healthy')
  return report
}

/** An execution node that says this to everything. */
async function fakeNode(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const rpcError =
  (code: number, message: string): RequestListener =>
  (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } }))
  }

describe('a program that does not start says what the page explains', () => {
  test('when its secret differs: "Failed to load existing identity"', async (t) => {
    const keyPath = folderOf('keys')
    await openIdentity({ keyPath, secret: 'the first', program: 'host' })
    const { facts, remedy } = await refusal(start(t, 'host', { DB_KEY_PATH: keyPath }))
    assert.equal(facts['file'], join(keyPath, 'host.json'))
    assert.match(remedy ?? '', /restore the original value and restart/)
  })

  const roots = { skip: isRoot ? false : 'only root can make a directory of root' }
  for (const [program, denied, message] of [
    ['generator', ['keys', 'store'], 'Permission denied on the key directory'],
    ['host', ['keys'], 'Permission denied on the key directory'],
    ['host', ['store'], 'Permission denied on the data directory'],
    ['generator', ['store'], 'Permission denied on the data directory'],
  ] as const)
    test(`a ${program} that is 1001 refuses ${denied.join(' and ')} of root`, roots, async (t) => {
      const home = folderOf('denied')
      makeReadable(home)
      for (const name of ['keys', 'store']) {
        mkdirSync(join(home, name))
        if (!(denied as readonly string[]).includes(name)) chmodSync(join(home, name), 0o777)
      }
      const path = join(home, denied[0])
      const env = { DB_KEY_PATH: join(home, 'keys'), DB_STORE_PATH: join(home, 'store') }
      const failure = await refusal(start(t, program, env, 'other user'))
      assert.equal(failure.message, message)
      assert.deepEqual(failure.facts, { path, owner: '0:0', user: '1001:1001' })
      const remedy = `Stop, change ownership of the data directories to 1001:1001 (chown -R 1001:1001 ${path}), start.`
      const more =
        denied[0] === 'keys' ? '' : ` ${troubleshooting} has more under "${serviceRows[1]}".`
      assert.equal(failure.remedy, `${remedy}${more}`)
    })

  test('when its key directory is missing, below one of root', roots, async (t) => {
    const home = folderOf('denied')
    makeReadable(home)
    const path = join(home, 'deep', 'keys')
    const { facts, remedy } = await refusal(start(t, 'host', { DB_KEY_PATH: path }, 'other user'))
    assert.deepEqual(facts, { path, owner: '0:0', user: otherUser, nearest: home })
    assert.ok(remedy?.includes(`(mkdir -p ${path} && chown -R 1001:1001 ${path})`))
  })

  test('the command of the page gives directories to the user of the images', roots, () => {
    const home = folderOf('data')
    const paths = ['data/keys', 'data/generator'].map((path) => join(home, path))
    for (const path of paths) mkdirSync(path, { recursive: true })
    const [command = ''] = commandsOf(troubleshooting, 'chown')
    execFileSync('sh', ['-c', command], { cwd: home })
    const owners = paths.map((path) => statSync(path)).map(({ uid, gid }) => `${uid}:${gid}`)
    assert.deepEqual(owners, ['1001:1001', '1001:1001'])
  })

  test('when a setting is missing, and when a port is taken', async (t) => {
    await refusal(start(t, 'host', { DB_KEYRING_SECRET: '' }))
    const server = createTcpServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    await refusal(start(t, 'host', { DB_API_ADDR: `127.0.0.1:${port}` }))
  })

  test('when its store is open, of another program or network, or cut short', async (t) => {
    const path = folderOf('store')
    const network = 'Ethereum__Mainnet'
    const options = { path, network, retainBlocks: null, program: 'generator' } as const
    const store = await openWriter(options, { log: pino({ enabled: false }) })
    await refusal(start(t, 'generator', { DB_STORE_PATH: path }))
    await store.close()
    await refusal(start(t, 'host', { DB_STORE_PATH: path }))
    await refusal(start(t, 'generator', { DB_STORE_PATH: path, CHAIN_NETWORK: 'Sepolia' }))
    truncateSync(join(path, 'data.mdb'), 8_192)
    const { code, facts } = await refusal(start(t, 'host', { DB_STORE_PATH: path }))
    assert.deepEqual([code, facts['bytes']], ['STORE_DAMAGED', 8_192])
  })
})

describe('a Generator whose node fails says what the page explains', { concurrency: 3 }, () => {
  test('when its node is of another chain', async (t) => {
    const path = folderOf('store')
    const first = await start(t, 'generator', { NODE_RPC_URL: anvil.url, DB_STORE_PATH: path })
    await first.reports(({ head, genesis }) => head !== null && genesis !== null)
    await first.stop()
    const other = await startAnvil({
      blockTime: 1,
      args: [...mainnet, '--timestamp', '1700000000'],
    })
    t.after(other.close)
    await refusal(start(t, 'generator', { NODE_RPC_URL: other.url, DB_STORE_PATH: path }))
  })

  test('when nobody listens at the address of its node', async (t) => {
    const report = await reported(await start(t, 'generator'), 'CHAIN_UNREACHABLE')
    assert.equal(report.upstream_mode, 'offline')
  })

  for (const [code, level, answer] of [
    ['CHAIN_UNAUTHORIZED', 'error', (_, response) => response.writeHead(401).end()],
    ['CHAIN_METHOD_MISSING', 'warn', rpcError(-32601, 'the method does not exist')],
    ['CHAIN_RPC_ERROR', 'warn', rpcError(4444, 'pruned history unavailable')],
  ] satisfies [string, string, RequestListener][])
    test(`when its node causes ${code}`, async (t) => {
      const generator = await start(t, 'generator', { NODE_RPC_URL: await fakeNode(t, answer) })
      const report = await reported(generator, code)
      assert.equal(report.upstream_mode, 'offline')
      const line = await generator.logs('execution node fails, will try again until it answers')
      assert.deepEqual([line.level, line['code']], [level, code])
    })

  test('and nothing when its node lacks the block of the start height', async (t) => {
    const header = (number: string) => ({
      ...{ number, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'cd'.repeat(32)}` },
      transactions: [],
    })
    const asked = Promise.withResolvers<void>()
    let times = 0
    const url = await fakeNode(t, (request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        const { id, method, params } = JSON.parse(text)
        const known: Readonly<Record<string, unknown>> = {
          latest: header('0x64'),
          '0x0': header('0x0'),
          eth_chainId: '0x1',
        }
        if (params[0] === '0x5' && ++times === 5) asked.resolve()
        response.setHeader('content-type', 'application/json')
        response.end(
          JSON.stringify({ jsonrpc: '2.0', id, result: known[params[0] ?? method] ?? null }),
        )
      })
    })
    const env = { NODE_RPC_URL: url, GENERATOR_START_HEIGHT: '5', LOG_LEVEL: 'debug' }
    const generator = await start(t, 'generator', env)
    await asked.promise
    const { head, source_head: source, errors } = await generator.reports(() => true)
    assert.deepEqual({ head, source, errors }, { head: null, source: 100, errors: [] })
    const attempt = generator.lines().find(({ msg }) => msg === 'attempt failed')
    assert.deepEqual([attempt?.level, attempt?.['code']], ['debug', 'CHAIN_BLOCK_UNAVAILABLE'])
    assert.deepEqual(
      generator.lines().filter(({ level }) => ['warn', 'error'].includes(level)),
      [],
    )
  })
})

test('every failure of peers says what the page explains', async (t) => {
  const network = { CHAIN_NAME: 'Local', CHAIN_NETWORK: 'Devnet' }
  const generator = await start(t, 'generator', {
    ...network,
    NODE_RPC_URL: anvil.url,
    NODE_WS_URL: 'ws://127.0.0.1:1',
  })
  const { p2p } = await generator.reports(({ status }) => status === 'healthy')
  const address = `/ip4/127.0.0.1/tcp/${generator.p2pPort}/p2p`
  const hostWith = (env: Readonly<Record<string, string>>): Promise<Started> =>
    start(t, 'host', { ...network, DB_KEYRING_SECRET: 'of the Host', ...env })

  const unavailable = 'WebSocket unavailable, will use HTTP-only mode'
  assert.equal((await generator.logs(unavailable)).level, 'warn')
  said.add(assertExplained({ message: unavailable }))
  const polling = await generator.reports(({ head }) => head !== null)
  assert.deepEqual([polling.upstream_mode, polling.errors], ['http', []])

  const [mistaken, alone, elsewhere] = await Promise.all([
    hostWith({ BOOTSTRAP_PEERS: `${address}/${stranger}` }),
    hostWith({ BOOTSTRAP_PEERS: `/ip4/127.0.0.1/tcp/1/p2p/${stranger}` }),
    hostWith({ BOOTSTRAP_PEERS: `${address}/${p2p.self?.id}`, CHAIN_NETWORK: 'Other' }),
  ])
  const mismatch = `peer id mismatch: expected ${stranger}, but remote key matches ${p2p.self?.id}`
  assert.equal((await mistaken.logs(mismatch)).level, 'warn')
  const { errors } = await reported(mistaken, 'P2P_PEER_ID_MISMATCH')
  assert.equal(errors.find(({ code }) => code === 'P2P_PEER_ID_MISMATCH')?.expected_peer, stranger)

  const dials = await alone.logs('all dials failed')
  assert.equal(dials.level, 'warn')
  const { code, remedy } = dials as LogLine & { code: string; remedy: string }
  said.add(assertExplained({ code, remedy, message: dials.msg }))
  const none = await reported(alone, 'HOST_NO_SIGNER')
  assert.deepEqual(none.p2p.peers, [])

  await reported(elsewhere, 'P2P_OTHER_NETWORK')
  const strange = await elsewhere.logs('a connected peer does not serve our network')
  assert.equal(strange.level, 'warn')
})

test('the reasons of a failed dial are named on the page', () => {
  const address = multiaddr(`/ip4/203.0.113.1/tcp/9171/p2p/${stranger}`)
  const text = explanations().find(({ heading }) => heading === serviceRows[4])?.text ?? ''
  for (const [system, reason] of [
    ['ECONNREFUSED', 'connection refused'],
    ['EHOSTUNREACH', 'no route to host'],
    ['ENETUNREACH', 'network is unreachable'],
    ['ENOTFOUND', 'no such host'],
    ['ETIMEDOUT', 'i/o timeout'],
  ] as const) {
    const cause = dialCause(address, Object.assign(new Error(), { code: system }), false)
    assert.ok(cause.text.endsWith(reason), cause.text)
    assert.ok(text.includes(`\`${reason}\``), reason)
    if (reason === 'i/o timeout') said.add(assertExplained({ message: cause.text }))
  }
})

test('every row of the service page that today’s programs can say is a heading, word for word', () => {
  const headings = explanations().map(({ heading }) => heading.replace(/: <[^>]+>$/, ''))
  assert.deepEqual(
    serviceRows.filter((row) => !headings.includes(row)),
    [],
  )
})

test('every message of the page is said by a program here, or in the test that is named', () => {
  const files = readSourceFiles('test')
  const asserts = (path: string): boolean =>
    files.some(
      ({ path: at, text }) => at === path && /assertExplained\(|explainedFailure\(/.test(text),
    )
  const missing = explanations().filter(({ heading, text }) => {
    const [, code = heading] = /^\n`([A-Z0-9_]+)`$/m.exec(text) ?? []
    const elsewhere = explainedElsewhere[code]
    return !(said.has(heading) || (elsewhere !== undefined && asserts(elsewhere)))
  })
  const isPermission = (heading: string): boolean => heading.startsWith('Permission denied')
  assert.deepEqual(
    missing.map(({ heading }) => heading).filter((heading) => isRoot || !isPermission(heading)),
    [],
  )
})
