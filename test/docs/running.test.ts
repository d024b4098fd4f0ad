/** docs/running.md: its example for one machine is run as it is printed, and its configurations by those who read them. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { generatorSettings } from '../../src/generator/config.ts'
import { hostSettings } from '../../src/host/config.ts'
import { type HealthReport, type ProgramName, ports } from '../../src/service/contract.ts'
import { type Anvil, deployEmitter, mineBusyBlocks, startAnvil } from '../support/chain/anvil.ts'
import { type FaultProxy, startFaultProxy } from '../support/chain/fault-proxy.ts'
import { freePorts } from '../support/free-port.ts'
import { onRoomyDisk } from '../support/machine-disk.ts'
import { repository } from '../support/repository.ts'
import { blocksOf, commandsOf, readPage } from './support/page.ts'

const page = 'docs/running.md'
const top = mkdtempSync(join(tmpdir(), 'viewmesh-running-'))
let anvil: Anvil
/** Stands before the node and notes what it is asked. */
let node: FaultProxy
/** The page's ports, and those that are free here. */
const freePort = new Map<string, number>()
const running: ChildProcess[] = []

before(async () => {
  // The page has a node of mainnet, whose chain ID goes with its names.
  anvil = await startAnvil({ args: ['--chain-id', '1'] })
  node = await startFaultProxy({ target: anvil.url, seed: 'calm', faults: [] })
  const nodePort = Number(new URL(node.url).port)
  const documented = ['9191', '9172', '8090', '9181', '9171', '8080', '443']
  const free = await freePorts(documented.length)
  documented.forEach((port, index) => void freePort.set(port, free[index] ?? 0))
  for (const port of ['8545', '8546']) freePort.set(port, nodePort)
})
after(async () => {
  await Promise.all(running.map(stop))
  await node.close()
  await anvil.close()
  rmSync(top, { recursive: true })
})

/** The page's text with the folders and ports that this test has. */
function adapt(text: string): string {
  return text
    .replaceAll('/srv/', `${top}/`)
    .replace(
      /\b(?:8545|8546|9191|9172|8090|9181|9171|8080|443)\b/g,
      (port) => `${freePort.get(port)}`,
    )
}

/** The one block of the page with this text in it, adapted. */
function block(text: string): string {
  const [found, ...others] = blocksOf(page).filter((each) => each.text.includes(text))
  assert.ok(found !== undefined && others.length === 0, `one block has ${text}`)
  return adapt(found.text)
}

/** Runs a block of commands in the folder of the clone, as a user without a home; returns what it prints. */
async function run(text: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ec', block(text)], shellOptions())
  return stdout
}

const shellOptions = (): { cwd: string; env: NodeJS.ProcessEnv } => ({
  cwd: repository,
  env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
})

/** Runs a block of commands whose last one stays. */
function start(text: string): ChildProcess {
  const child = spawn('bash', ['-ec', block(text)], {
    ...shellOptions(),
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.resume()
  running.push(child)
  return child
}

/** Ends the shell and the program in it, and waits until both are gone. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.stdout?.closed !== false) return
  const closed = once(child, 'close')
  process.kill(-(child.pid ?? assert.fail()), 'SIGTERM')
  await closed
}

/** The health report of a program on this port of the page, as soon as it is so. */
async function health(
  port: '8090' | '8080',
  isSo: (report: HealthReport) => boolean,
): Promise<HealthReport> {
  for (;;) {
    const url = `http://127.0.0.1:${freePort.get(port)}/health`
    const response = await fetch(url).catch(() => null)
    const report = (await response?.json()) as HealthReport | undefined
    if (response?.status === 200 && report !== undefined && isSo(report)) return report
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

interface RpcBlock {
  readonly number: string
  readonly hash: string
  readonly transactions: readonly string[]
}

const blockAt = (at: string): Promise<RpcBlock> => anvil.rpc('eth_getBlockByNumber', at, false)

describe('the example for one machine', () => {
  let generator: ChildProcess
  let identity: Pick<HealthReport, 'identity'> & { readonly peer: string | undefined }

  test('answers over GraphQL what the node has, by two programs', async () => {
    await mineBusyBlocks(anvil, await deployEmitter(anvil), 12)
    for (const { language, text } of blocksOf(page).filter((each) => each.language === 'yaml')) {
      const path = adapt(/^# (\S+)\n/.exec(text)?.[1] ?? assert.fail(language))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, adapt(text))
    }
    await run('openssl rand -base64 32 > /srv/viewmesh/$name.secret')
    generator = start('src/viewmesh.js generator')
    const latest = await blockAt('latest')
    const height = Number(latest.number)
    const { p2p, identity: key } = await health(
      '8090',
      ({ head, upstream_mode: mode }) => head === height && mode === 'websocket',
    )
    identity = { identity: key, peer: p2p.self?.id }
    start('src/viewmesh.js host --config /srv')
    const report = await health('8080', ({ head }) => head === height)
    assert.deepEqual(JSON.parse(await run('{ Block(order')), {
      data: { Block: [{ number: height, hash: latest.hash }] },
    })
    assert.equal(report.schema?.state, 'current')
    assert.deepEqual(
      report.p2p.peers.map(({ id }) => id),
      [p2p.self?.id],
    )
  })

  test('shows at /health what the troubleshooting page looks at first', async () => {
    const [command = ''] = commandsOf('docs/troubleshooting.md', '/health | jq')
    const { stdout } = await promisify(execFile)('bash', ['-ec', adapt(command)], shellOptions())
    const report = JSON.parse(stdout)
    assert.deepEqual(Object.keys(report), [
      ...['status', 'head', 'lag', 'upstream_mode', 'peers', 'errors'],
    ])
    const { status, errors } = onRoomyDisk(report)
    assert.deepEqual([status, report.peers, errors], ['healthy', 1, []])
  })

  test('says who it is to what the page runs within a container', async () => {
    const [, command] = /^docker exec generator (node .*)$/s.exec(askContainer) ?? []
    const path = `${dirname(process.execPath)}:${process.env['PATH']}`
    const options = { ...shellOptions(), env: { ...shellOptions().env, PATH: path } }
    const { stdout } = await promisify(execFile)('bash', ['-ec', adapt(`${command}`)], options)
    const { p2p } = await health('8080', () => true)
    assert.equal(stdout, `${p2p.self?.id}\n`)
  })

  test('asks the node for what the page lists, each block and each receipt once', async () => {
    const { tail, head } = await health('8090', () => true)
    assert.ok(tail !== null && head !== null && head - tail === 10)
    const calls = node.requests.flat()
    const listed = [...readPage(page).matchAll(/^\| `(eth_\w+)`/gm)].map(([, method]) => method)
    assert.deepEqual(new Set(calls.map(({ method }) => method)), new Set(listed.slice(0, 3)))
    assert.deepEqual(listed, [
      'eth_getBlockByNumber',
      'eth_getTransactionReceipt',
      'eth_chainId',
      'eth_getBlockReceipts',
      'eth_subscribe',
    ])
    const heights = Array.from({ length: head - tail + 1 }, (_, index) => tail + index)
    const whole = calls.filter(({ params }) => params[1] === true).map(({ params }) => params[0])
    assert.deepEqual(
      whole.map(Number).toSorted((a, b) => a - b),
      heights,
    )
    const blocks = await Promise.all(heights.map((each) => blockAt(`0x${each.toString(16)}`)))
    const receipts = node.requests.filter(([call]) => call?.method === 'eth_getTransactionReceipt')
    assert.deepEqual(
      receipts.map((batch) => batch.map(({ params }) => params[0]).join()).toSorted(),
      blocks
        .map(({ transactions }) => transactions.join())
        .filter((hashes) => hashes !== '')
        .toSorted(),
      'one batch a block',
    )
  })

  test('nginx passes queries, subscriptions and health over TLS, and nothing else', async (t) => {
    if (spawnSync('nginx', ['-v']).error !== undefined) return t.skip('nginx is not installed')
    const { certificate, key } = await makeCertificate()
    const server = block('proxy_buffering')
      .replace(/(ssl_certificate) .*;/, `$1 ${certificate};`)
      .replace(/(ssl_certificate_key) .*;/, `$1 ${key};`)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${top}/nginx-${name};`)
      .join(' ')
    const file = join(top, 'nginx.conf')
    const own = `daemon off; pid ${top}/nginx.pid; error_log stderr; events {}`
    writeFileSync(file, `${own} http { access_log off; ${temporary} ${server} }`)
    await proxied(t, spawn('nginx', ['-c', file, '-e', 'stderr'], { stdio: 'ignore' }))
  })

  test('Caddy passes queries, subscriptions and health over TLS, and nothing else', async (t) => {
    if (spawnSync('caddy', ['version']).error !== undefined) return t.skip('Caddy is not installed')
    const { certificate, key } = await makeCertificate()
    const site = block('flush_interval').replace(
      'view.example.org {',
      `https://view.example.org:${freePort.get('443')} {\n\ttls ${certificate} ${key}`,
    )
    const file = join(top, 'Caddyfile')
    writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
    const env = { ...process.env, HOME: top, XDG_DATA_HOME: top, XDG_CONFIG_HOME: top }
    const args = ['run', '--config', file, '--adapter', 'caddyfile']
    await proxied(t, spawn('caddy', args, { stdio: 'ignore', env }))
  })

  test('is who it was after keys and secret were restored from the backup', async () => {
    await run('cp -a /srv/viewmesh/generator/keys')
    await stop(generator)
    rmSync(join(top, 'viewmesh/generator'), { recursive: true })
    rmSync(join(top, 'viewmesh/generator.secret'))
    await run('cp -a /srv/backup/keys/generator /srv/viewmesh')
    start('src/viewmesh.js generator')
    const { p2p, identity: key } = await health('8090', ({ head }) => head !== null)
    assert.deepEqual({ identity: key, peer: p2p.self?.id }, identity)
  })
})

/** A certificate for the page's name that its maker signed. */
async function makeCertificate(): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(top, 'view.pem'), join(top, 'view.key')]
  const subject = [
    '-subj',
    '/CN=view.example.org',
    '-addext',
    'subjectAltName=DNS:view.example.org',
  ]
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-days', '2', ...subject, '-keyout', key, '-out', certificate],
  ])
  return { certificate, key }
}

interface ProxyAnswer {
  readonly status: number | undefined
  /** Whole, or up to the first of the wanted texts. */
  readonly text: string
}

/** Asks the proxy until it listens; stops reading where `until` was read. */
async function askProxy(path: string, query?: string, until?: string): Promise<ProxyAnswer> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<ProxyAnswer | null>()
    const asked = request({
      ...{ host: '127.0.0.1', port: freePort.get('443'), path, rejectUnauthorized: false },
      ...{ servername: 'view.example.org', method: query === undefined ? 'GET' : 'POST' },
      headers: { host: 'view.example.org', 'content-type': 'application/json' },
    })
    asked.once('error', () => resolve(null))
    asked.once('response', (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk
        if (until === undefined || !text.includes(until)) return
        resolve({ status: response.statusCode, text })
        asked.destroy()
      })
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
    asked.end(query === undefined ? undefined : JSON.stringify({ query }))
    const answer = await promise
    if (answer !== null) return answer
    await new Promise((again) => setTimeout(again, 50))
  }
}

/** That a proxy before the Host lets through what the page says. */
async function proxied(t: TestContext, proxy: ChildProcess): Promise<void> {
  const ended = once(proxy, 'exit')
  t.after(async () => {
    proxy.kill()
    await ended
  })
  const answered = await Promise.race([askProxy('/health'), ended.then(() => null)])
  assert.ok(answered !== null, `ended with ${proxy.exitCode}`)
  assert.equal(JSON.parse(answered.text).program, 'host')
  assert.equal((await askProxy('/metrics')).status, 404)
  const graphql = '/api/v0/graphql'
  const asked = await askProxy(graphql, '{ Block(limit: 1) { _docID } }')
  assert.equal(JSON.parse(asked.text).data.Block.length, 1)
  const opened = askProxy(graphql, 'subscription { Block { number } }', 'event: next')
  const mining = setInterval(() => void anvil.rpc('evm_mine').catch(() => undefined), 500)
  t.after(() => clearInterval(mining))
  assert.match((await opened).text, /event: next\ndata: \{"data":\{"Block":/)
}

test('systemd finds nothing wrong with the unit', (t) => {
  const file = join(top, 'viewmesh-host.service')
  writeFileSync(file, block('LoadCredential').replaceAll('/opt/viewmesh', repository))
  const { error, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file])
  if (error !== undefined) return t.skip('systemd is not installed')
  const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('viewmesh-host'))
  assert.deepEqual(about, [])
})

/** The commands of the page that run a container and ask it who it is. */
const [, startContainer = '', askContainer = ''] = commandsOf(page, 'docker run')

test('docker takes every option of the container that is shown, whose settings exist', async (t) => {
  // Another program of that name would not ask the daemon, and start the container.
  if (!`${spawnSync('docker', ['--version']).stdout}`.startsWith('Docker version'))
    return t.skip('docker is not installed')
  const env = { ...shellOptions().env, DOCKER_HOST: `unix://${top}/no-daemon` }
  const { stderr } = spawnSync('bash', ['-ec', startContainer], { env, encoding: 'utf8' })
  assert.match(stderr, /no-daemon/, 'it is refused for the daemon alone')
  const named = [...startContainer.matchAll(/--env (\w+)=/g)].map(([, name]) => name)
  const known = Object.values(generatorSettings).flatMap(({ env }) => [env, `${env}_FILE`])
  assert.deepEqual(
    named.filter((name) => !known.includes(`${name}`)),
    [],
  )
  assert.equal(named.length, 3)
})

interface ComposeService {
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly secrets: readonly { readonly source: string; readonly target: string }[]
  readonly ports: readonly string[]
}

test('docs/compose.yaml names settings, ports, images and volumes that there are', () => {
  const { services, volumes, secrets } = parse(readPage('docs/compose.yaml')) as {
    readonly services: Readonly<Record<ProgramName, ComposeService>>
    readonly volumes: Readonly<Record<string, unknown>>
    readonly secrets: Readonly<Record<string, unknown>>
  }
  const settings = { generator: generatorSettings, host: hostSettings }
  for (const name of ['generator', 'host'] as const) {
    const service = services[name]
    const known = Object.values(settings[name]).flatMap(({ env }) => [env, `${env}_FILE`])
    const named = Object.keys(service.environment)
    assert.deepEqual(
      named.filter((each) => !known.includes(each)),
      [],
    )
    assert.equal(service.image, `localhost/viewmesh-${name}:dev`)
    assert.deepEqual(service.volumes, [`${name}:/app/.viewmesh`])
    assert.ok(name in volumes && name in secrets)
    const [secret] = service.secrets
    assert.equal(service.environment['DB_KEYRING_SECRET_FILE'], `/run/secrets/${secret?.target}`)
    const inside = service.ports.map((each) => Number(each.split(':').at(-1)))
    const served: readonly number[] = Object.values(ports)
    assert.deepEqual(
      inside.filter((port) => !served.includes(port)),
      [],
    )
  }
  const outside = Object.values(services).flatMap((service) =>
    service.ports.map((each) => each.split(':').at(-2)),
  )
  assert.equal(new Set(outside).size, outside.length, 'no port is published twice')
})
