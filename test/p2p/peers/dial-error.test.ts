import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { multiaddr } from '@multiformats/multiaddr'
import { dialCause } from '../../../src/p2p/peers/dial-error.ts'
import type { CapturedLog, LogLine } from '../../support/captured-log.ts'
import { openRoom, type TestRoom, until } from '../../support/p2p-room.ts'
import type { DialReport } from '../support/dial-program.ts'

const stranger = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'

const dialled = multiaddr(`/ip4/127.0.0.1/tcp/1/p2p/${stranger}`)

/** A TCP server that does with its connections what the test says. */
async function listen(
  t: TestContext,
  onConnection: Parameters<typeof createServer>[1],
): Promise<string> {
  const server: Server = createServer(onConnection)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}`
}

async function closedPort(): Promise<string> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `/ip4/127.0.0.1/tcp/${port}`
}

/**
 * Opens a room with these bootstrap peers and waits for the line it logs. A short time limit of a dial is
 * for peers that stay silent; the others respond whenever the machine lets them.
 */
async function dialling(
  t: TestContext,
  bootstrapPeers: readonly string[],
  message: string,
  limits: { readonly dialTimeoutMs?: number } = {},
): Promise<{ room: TestRoom; line: LogLine }> {
  const room = await openRoom(t, { options: { bootstrapPeers }, limits })
  return { room, line: await warning(room.captured, message) }
}

async function warning(captured: CapturedLog, message: string): Promise<LogLine> {
  const line = await captured.line(message)
  assert.equal(line.level, 'warn')
  return line
}

function port(address: string): string {
  return address.split('/').at(-1) ?? ''
}

test('"peer id mismatch: expected A, but remote key matches B" says where the current ID is', async (t) => {
  const other = await openRoom(t)
  const wrong = other.address.replace(other.id, stranger)
  const { room, line } = await dialling(
    t,
    [wrong],
    `peer id mismatch: expected ${stranger}, but remote key matches ${other.id}`,
  )
  assert.equal(line['code'], 'P2P_PEER_ID_MISMATCH')
  assert.equal(line['peer'], stranger)
  assert.match(
    String(line['remedy']),
    /^Take the current ID from the Generator's health endpoint .* set BOOTSTRAP_PEERS\.$/,
  )
  assert.deepEqual(room.p2p.peers(), [])
  assert((await room.metric('viewmesh_p2p_dial_failures_total', { reason: 'mismatch' })) >= 1)
})

test('"all dials failed" with "connection refused": nothing listens on the port', async (t) => {
  const address = await closedPort()
  const { room, line } = await dialling(t, [`${address}/p2p/${stranger}`], 'all dials failed')
  assert.equal(line['code'], 'P2P_ALL_DIALS_FAILED')
  assert.equal(
    line['causes'],
    `[${address}] dial tcp4 127.0.0.1:${port(address)}: connect: connection refused`,
  )
  assert.match(String(line['remedy']), /Generator is up .* outbound port 9171 is open/)
  assert((await room.metric('viewmesh_p2p_dial_failures_total', { reason: 'refused' })) >= 1)
})

test('"dial tcp4 ... i/o timeout": use a dual-stack host or enable NAT64/DNS64', async (t) => {
  const address = await listen(t, () => {})
  const peers = [`${address}/p2p/${stranger}`]
  const { line } = await dialling(t, peers, 'all dials failed', { dialTimeoutMs: 300 })
  assert.equal(line['causes'], `[${address}] dial tcp4 127.0.0.1:${port(address)}: i/o timeout`)
  assert.equal(
    line['remedy'],
    'Confirm that the Generator is up and that outbound port 9171 is open; an IPv6-only machine needs a dual-stack host or NAT64/DNS64.',
  )
})

/**
 * Dials in a network of its own that has nothing but what the shell makes; undefined where the
 * machine lets nobody make one.
 */
async function dialInOwnNetwork(
  shell: string,
  addresses: readonly string[],
): Promise<DialReport | undefined> {
  const program = fileURLToPath(new URL('../support/dial-program.ts', import.meta.url))
  const inside = [process.execPath, program, ...addresses]
  const child = spawn(
    'unshare',
    ['--map-root-user', '--net', 'sh', '-c', `${shell} && exec "$@"`, 'sh', ...inside],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const failed = once(child, 'error').then(() => '')
  const said = await Promise.race([text(child.stdout), failed])
  return said.startsWith('{') ? (JSON.parse(said) as DialReport) : undefined
}

test('"all dials failed / no route to host" asks for a running Generator and an open port 9171', async (t) => {
  const unroutable = '/ip4/203.0.113.1/tcp/9171'
  const elsewhere = '/ip4/198.51.100.1/tcp/9171'
  const report = await dialInOwnNetwork(
    'ip link set lo up && ip route add unreachable 203.0.113.1',
    [unroutable, elsewhere].map((address) => `${address}/p2p/${stranger}`),
  )
  if (report === undefined) return t.skip('this machine lets nobody make a network of his own')
  assert.equal(
    report.causes,
    [
      `[${unroutable}] dial tcp4 203.0.113.1:9171: connect: no route to host`,
      `[${elsewhere}] dial tcp4 198.51.100.1:9171: connect: network is unreachable`,
    ].join('; '),
  )
  assert.match(
    report.remedy,
    /^Confirm that the Generator is up and that outbound port 9171 is open/,
  )
  assert.equal(report.noRoute, 2)
})

test('something else than a peer listens on the port', async (t) => {
  const address = await listen(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const { line } = await dialling(t, [`${address}/p2p/${stranger}`], 'all dials failed')
  assert.match(String(line['causes']), /failed to negotiate security protocol|connection reset/)
})

test('each address of a peer is tried and reported with its own cause', async (t) => {
  const other = await openRoom(t)
  const closed = await closedPort()
  const silent = await listen(t, () => {})
  const taken = other.address.replace(`/p2p/${other.id}`, '')
  const peers = [closed, silent, taken].map((address) => `${address}/p2p/${stranger}`)
  const { line } = await dialling(t, peers, 'all dials failed')
  assert.equal(
    line['causes'],
    [
      `[${closed}] dial tcp4 127.0.0.1:${port(closed)}: connect: connection refused`,
      `[${silent}] dial tcp4 127.0.0.1:${port(silent)}: i/o timeout`,
      `[${taken}] peer id mismatch: expected ${stranger}, but remote key matches ${other.id}`,
    ].join('; '),
  )
})

test('the same failure is a warning once, however often the peer is tried again', async (t) => {
  const address = await closedPort()
  const { room } = await dialling(t, [`${address}/p2p/${stranger}`], 'all dials failed')
  await until(() => room.captured.lines.some((line) => line['failures'] === 3))
  assert.deepEqual(room.captured.messages('warn'), ['all dials failed'])
})

test('of what went wrong 300 characters are reported', () => {
  const { text: said } = dialCause(dialled, new Error('x'.repeat(1_000)), false)
  assert.equal(said, `dial tcp4 127.0.0.1:1: ${'x'.repeat(300)}`)
})

/** An error as libp2p throws it, known by its name. */
const named = (name: string): Error => Object.assign(new Error('it failed'), { name })

test('a dial that takes too long is a timeout, whoever ends it', () => {
  const place = { address: '/ip4/127.0.0.1/tcp/1' }
  const timeout = { ...place, text: 'dial tcp4 127.0.0.1:1: i/o timeout', reason: 'timeout' }
  assert.deepEqual(dialCause(dialled, named('AbortError'), true), timeout)
  assert.deepEqual(dialCause(dialled, named('TimeoutError'), false), timeout)
  const other = { ...place, text: 'dial tcp4 127.0.0.1:1: it failed', reason: 'other' }
  assert.deepEqual(dialCause(dialled, named('AbortError'), false), other)
})

test('who cannot encrypt, or share a connection, is no peer', () => {
  for (const name of ['EncryptionFailedError', 'MuxerUnavailableError']) {
    const { text: said, reason } = dialCause(dialled, named(name), false)
    const expected = 'dial tcp4 127.0.0.1:1: failed to negotiate security protocol: it failed'
    assert.deepEqual([said, reason], [expected, 'not a peer'])
  }
})

test('of several errors the first is the cause, and what is no error is said as it is', () => {
  const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
  const reasonOf = (error: unknown): string => dialCause(dialled, error, false).text
  const prefix = 'dial tcp4 127.0.0.1:1'
  const said = [
    new AggregateError([refused, named('TimeoutError')], 'all failed'),
    new AggregateError([named('TimeoutError'), refused], 'all failed'),
    new AggregateError([], 'all failed'),
    'a text',
  ].map(reasonOf)
  assert.deepEqual(said, [
    `${prefix}: connect: connection refused`,
    `${prefix}: i/o timeout`,
    `${prefix}: all failed`,
    `${prefix}: a text`,
  ])
})

/** What cannot be had from a real dial within the time of a test, and how IPv6 addresses are written. */
const systemErrors: Readonly<Record<string, string>> = {
  EHOSTUNREACH: 'dial tcp6 [2001:db8::1]:9171: connect: no route to host',
  ETIMEDOUT: 'dial tcp6 [2001:db8::1]:9171: i/o timeout',
}

for (const [code, text] of Object.entries(systemErrors)) {
  test(`the system's ${code} reads "${text}"`, () => {
    const error = Object.assign(new Error(`connect ${code}`), { code })
    const address = multiaddr(`/ip6/2001:db8::1/tcp/9171/p2p/${stranger}`)
    assert.equal(dialCause(address, error, false).text, text)
  })
}
