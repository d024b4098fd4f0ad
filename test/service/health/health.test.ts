import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { after, test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { openHealthServer } from '../../../src/service/health/health.ts'
import {
  type Counters,
  counterNames,
  type HealthState,
  startingState,
  uptimeText,
} from '../../../src/service/health/health-report.ts'
import { openMetrics } from '../../../src/service/metrics.ts'
import { captureLog } from '../../support/captured-log.ts'
import { registry, views } from './support/example-views.ts'

const peer = { id: '12D3KooWPeer', addresses: ['/ip4/10.0.0.2/tcp/9171'] }
const readyState: HealthState = {
  ready: true,
  unready: null,
  chain: 'Ethereum',
  network: 'Mainnet',
  storeOpen: true,
  tail: 24_000_000,
  head: 24_000_999,
  lastProcessedMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  chainId: 1,
  genesis: `0x${'ee'.repeat(32)}`,
  identity: `02${'cd'.repeat(32)}`,
  sourceHead: 24_001_003,
  sourceHeadSinceMs: Date.UTC(2026, 0, 2, 3, 4, 6, 7),
  upstreamMode: null,
  gaps: [{ from: 24_000_010, to: 24_000_012 }],
  trust: 'bootstrap',
  signers: [
    {
      identity: `03${'ab'.repeat(32)}`,
      source: 'bootstrap',
      peer: '12D3KooWPeer',
      head: { number: 24_001_003, hash: `0x${'11'.repeat(32)}` },
      node_height: 24_001_003,
      last_heard: '2026-01-02T03:04:05.000Z',
      counted: true,
    },
  ],
  schema: { state: 'different', differing: ['Block.uncles'] },
  views,
  registry,
  errors: [
    { code: 'CHAIN_UNREACHABLE', message: 'No connection.' },
    { code: 'HOST_SCHEMA_UNAUTHORIZED', message: 'Refused.', remedy: 'Correct the token.' },
  ],
  p2p: {
    self: {
      id: '12D3KooWSelf',
      addresses: ['/ip4/127.0.0.1/tcp/9171', '/ip4/172.17.0.2/tcp/9171'],
      publicKey: 'ab'.repeat(32),
    },
    peers: [peer],
  },
}

let state: HealthState = readyState
const counters: Counters = { blocks_processed: 12, logs_processed: 34 }
const metrics = openMetrics({ thread: 'main' })
const { log, lines } = captureLog()
const anyPort = { host: '127.0.0.1', port: 0 }
const health = await openHealthServer(
  { address: anyPort, publicAddress: anyPort, program: 'host', version: '1.2.3' },
  {
    log,
    metrics,
    state: () => state,
    counters: () => counters,
    routes(server) {
      server.get('/api/v1/example', () => ({ example: true }))
      server.get('/broken', () => {
        throw new Error('a secret detail')
      })
      server.post('/echo', (request) => request.body)
    },
  },
)
after(async () => {
  metrics.close()
  await health.close()
})
const base = `http://127.0.0.1:${health.port}`

async function json(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  const response = await fetch(base + path, init)
  return (await response.json()) as Record<string, unknown>
}

/** A report without what the moment of asking decides. */
function timeless(report: unknown): object {
  return { ...(report as object), timestamp: '', uptime: '', uptime_seconds: 0 }
}

/**
 * Service page: "503 | Host `/health` while database node or pipeline is initializing (status value
 * `unhealthy`)".
 */
test('/health returns 503 and "unhealthy" during initialization, then 200 and "healthy"', async (t) => {
  t.after(() => {
    state = readyState
  })
  state = startingState('Ethereum', 'Mainnet')
  const starting = await fetch(`${base}/health`)
  assert.equal(starting.status, 503)
  assert.deepEqual(((await starting.json()) as { status: string }).status, 'unhealthy')
  state = readyState
  const ready = await fetch(`${base}/health`)
  assert.equal(ready.status, 200)
  assert.equal(((await ready.json()) as { status: string }).status, 'healthy')
})

test('/ready returns 503 and why while data is missing, when /health returns 200 already', async (t) => {
  t.after(() => {
    state = readyState
  })
  const answer = async (path: string): Promise<unknown[]> => {
    const response = await fetch(base + path)
    const body = (await response.json()) as Record<string, unknown>
    return [response.status, body['ready'] ?? body['status'], body['unready']]
  }
  const unready = { reason: 'too-few-blocks', message: 'None is stored.' } as const
  state = { ...readyState, unready }
  assert.deepEqual(await answer('/ready'), [503, false, unready])
  assert.deepEqual(await answer('/health'), [200, 'healthy', unready])
  state = readyState
  assert.deepEqual(await answer('/ready'), [200, true, null])
  assert.deepEqual(await answer('/health'), [200, 'healthy', null])
  state = startingState('Ethereum', 'Mainnet')
  const starting = { reason: 'initializing', message: 'The program starts or stops.' }
  assert.deepEqual(await answer('/ready'), [503, false, starting])
  assert.deepEqual(await answer('/health'), [503, 'unhealthy', starting])
})

test('/health has the fields that probes read and those that operators need', async () => {
  const { timestamp, uptime, uptime_seconds, ...rest } = await json('/health')
  assert.deepEqual(rest, {
    status: 'healthy',
    current_block: 24_000_999,
    last_processed: '2026-01-02T03:04:05.006Z',
    defradb_connected: true,
    p2p: {
      enabled: true,
      self: {
        id: '12D3KooWSelf',
        addresses: ['/ip4/127.0.0.1/tcp/9171', '/ip4/172.17.0.2/tcp/9171'],
        public_key: 'ab'.repeat(32),
      },
      peers: [peer],
    },
    program: 'host',
    version: '1.2.3',
    chain: 'Ethereum',
    network: 'Mainnet',
    tail: 24_000_000,
    head: 24_000_999,
    chain_id: 1,
    genesis: readyState.genesis,
    identity: readyState.identity,
    source_head: 24_001_003,
    source_head_since: '2026-01-02T03:04:06.007Z',
    lag: 4,
    upstream_mode: null,
    gaps: [{ from: 24_000_010, to: 24_000_012 }],
    trust: 'bootstrap',
    signers: readyState.signers,
    schema: { state: 'different', differing: ['Block.uncles'] },
    views,
    registry,
    unready: null,
    error: { code: 'CHAIN_UNREACHABLE', message: 'No connection.' },
    errors: [
      { code: 'CHAIN_UNREACHABLE', message: 'No connection.' },
      { code: 'HOST_SCHEMA_UNAUTHORIZED', message: 'Refused.', remedy: 'Correct the token.' },
    ],
  })
  assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.match(String(uptime), /^(\d+h)?(\d+m)?\d+(\.\d+)?s$/)
  assert.equal(typeof uptime_seconds, 'number')
})

test('before the first block and without P2P, fields are left out and peers is an empty list', async (t) => {
  t.after(() => {
    state = readyState
  })
  state = startingState('Local', 'Devnet')
  const body = await json('/health')
  assert.deepEqual(body['p2p'], { enabled: true, peers: [] })
  assert.ok(!('current_block' in body) && !('last_processed' in body))
  assert.equal(body['lag'], null)
})

test('a node ahead of what its sources announce has no lag', async (t) => {
  t.after(() => {
    state = readyState
  })
  state = { ...readyState, sourceHead: 5 }
  assert.equal((await json('/health'))['lag'], 0)
})

test('the lag behind a node that does not respond is unknown', async (t) => {
  t.after(() => {
    state = readyState
  })
  state = { ...readyState, upstreamMode: 'offline' }
  assert.equal((await json('/health'))['lag'], null)
})

for (const path of ['/health', '/ready', '/metrics', '/', '/api/v1/example']) {
  test(`HEAD ${path} returns what GET does, without a body`, async () => {
    const [head, get] = await Promise.all([
      fetch(base + path, { method: 'HEAD' }),
      fetch(base + path),
    ])
    assert.equal(head.status, get.status)
    assert.equal(head.headers.get('content-type'), get.headers.get('content-type'))
    assert.equal(await head.text(), '')
    if (!path.startsWith('/api')) assert.equal(get.headers.get('cache-control'), 'no-cache')
  })
}

test('/metrics is Prometheus text, also for curl and for Prometheus itself', async () => {
  const scraper =
    'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  for (const accept of ['*/*', scraper]) {
    const response = await fetch(`${base}/metrics`, { headers: { accept } })
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    assert.match(await response.text(), /^# HELP viewmesh_service_event_loop_delay_seconds/m)
  }
})

test('/metrics under Accept: application/json has every counter nested and at the root', async () => {
  const body = await json('/metrics', { headers: { accept: 'application/json' } })
  const nested = body['metrics'] as Record<string, unknown>
  assert.equal(body['current_block'], 24_000_999)
  assert.equal(typeof body['timestamp'], 'number')
  assert.equal(typeof body['uptime_human'], 'string')
  assert.equal(nested['most_recent_block'], 24_000_999)
  for (const name of counterNames) {
    assert.equal(nested[name], counters[name] ?? 0)
    assert.equal(body[name], nested[name])
  }
})

test('/ lists what is served', async () => {
  const { timestamp, ...rest } = await json('/')
  assert.deepEqual(rest, {
    service: 'viewmesh host',
    version: '1.2.3',
    status: 'running',
    endpoints: ['/health', '/ready', '/metrics', '/api/v1/example', '/broken'],
  })
})

const refusals: readonly (readonly [string, RequestInit, number, string])[] = [
  ['/nowhere?x=1', {}, 404, 'there is nothing at /nowhere'],
  ['/health', { method: 'POST' }, 405, 'POST is not accepted here'],
  ['/broken', {}, 500, 'internal error'],
  [
    '/echo',
    { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
    400,
    "Body is not valid JSON but content-type is set to 'application/json'",
  ],
  [
    '/echo',
    { method: 'POST', body: 'x'.repeat(70_000), headers: { 'content-type': 'text/plain' } },
    413,
    'Request body is too large',
  ],
]

for (const [path, init, status, message] of refusals) {
  test(`${init.method ?? 'GET'} ${path} is a JSON error ${status}: ${message}`, async () => {
    const response = await fetch(base + path, init)
    assert.equal(response.status, status)
    const body = (await response.json()) as { error: string; message: string }
    assert.equal(body.message, message)
    assert.match(body.error, /^[a-z_]+$/)
  })
}

test('a failing route is logged with its path; the client gets no details', async () => {
  await fetch(`${base}/broken`)
  const line = lines.find(({ msg }) => msg === 'request failed')
  assert.equal(line?.['path'], '/broken')
})

test('any Host header is accepted: probes use addresses and names we do not know', async () => {
  const socket = connect(health.port, '127.0.0.1')
  socket.write('GET /health HTTP/1.1\r\nHost: 10-0-0-1.sslip.example\r\nConnection: close\r\n\r\n')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assert.match(chunk.toString(), /^HTTP\/1\.1 200 OK/)
  socket.destroy()
})

test('what is not HTTP gets a 400 and hurts nobody', async () => {
  const socket = connect(health.port, '127.0.0.1')
  socket.write('\0\0\0\0 not http\r\n\r\n')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assert.match(chunk.toString(), /^HTTP\/1\.1 400 /)
  assert.equal((await fetch(`${base}/health`)).status, 200)
})

test('the public address serves the same /health, and nothing else', async (t) => {
  t.after(() => {
    state = readyState
  })
  const outside = `http://127.0.0.1:${health.publicPort}`
  for (const now of [startingState('Ethereum', 'Mainnet'), readyState]) {
    state = now
    const [inner, outer] = await Promise.all([fetch(`${base}/health`), fetch(`${outside}/health`)])
    assert.equal(outer.status, inner.status)
    assert.deepEqual(timeless(await outer.json()), timeless(await inner.json()))
  }
  for (const path of ['/metrics', '/', '/api/v1/example', '/api/v1/schema']) {
    const response = await fetch(outside + path)
    assert.equal(response.status, 404, path)
    assert.deepEqual(await response.json(), {
      error: 'not_found',
      message: `there is nothing at ${path}`,
      remedy: 'Look for the path, and for the port that serves it, on the page on endpoints.',
    })
  }
  assert.equal((await fetch(`${outside}/health`, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(`${outside}/health`, { method: 'POST' })).status, 405)
})

test('a public port in use is reported with its setting, and the other port is released', async () => {
  const free = await openHealthServer(
    { address: anyPort, publicAddress: null, program: 'host', version: '1.2.3' },
    { log, metrics, state: () => state },
  )
  await free.close()
  const address = { host: '127.0.0.1', port: free.port }
  const publicAddress = { host: '127.0.0.1', port: health.port }
  const options = { address, program: 'host', version: '1.2.3' } as const
  const parts = { log, metrics, state: () => state }
  await assert.rejects(openHealthServer({ ...options, publicAddress }, parts), {
    message: `HEALTH_PUBLIC_ADDR: the address 127.0.0.1:${health.port} is taken by another program`,
  })
  const next = await openHealthServer({ ...options, publicAddress: anyPort }, parts)
  await next.close()
  await assert.rejects(fetch(`http://127.0.0.1:${next.publicPort}/health`))
})

test('a port in use is reported with its setting and address', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const opening = openHealthServer(
    {
      address: { host: '127.0.0.1', port },
      publicAddress: null,
      program: 'host',
      version: '1.2.3',
    },
    { log, metrics, state: () => state },
  )
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'SERVICE_PORT_UNAVAILABLE')
    assert.equal(
      error.message,
      `HEALTH_ADDR: the address 127.0.0.1:${port} is taken by another program`,
    )
    assert.match(error.remedy ?? '', /set HEALTH_ADDR to a free address/)
    return true
  })
  other.close()
})

test('an address of another machine is reported as such', async () => {
  const opening = openHealthServer(
    {
      address: { host: '192.0.2.1', port: 0 },
      publicAddress: null,
      program: 'host',
      version: '1.2.3',
    },
    { log, metrics, state: () => state },
  )
  await assert.rejects(opening, {
    message: 'HEALTH_ADDR: the address 192.0.2.1:0 does not belong to this machine',
  })
})

test('uptime is written with the largest unit first and without leading zero units', () => {
  const durations = [456, 61_000, 3_723_456, 90_000_000]
  assert.deepEqual(durations.map(uptimeText), ['0.456s', '1m1s', '1h2m3.456s', '25h0m0s'])
})
