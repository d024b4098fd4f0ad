/** Commands in containers, against a stand-in for the API server that speaks as `kubectl exec` is answered. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { KubeConfig } from '@kubernetes/client-node'
import { type WebSocket, WebSocketServer } from 'ws'
import { type ContainerExec, createExec } from '../../../../operator/plugin/cluster/exec.ts'

const address = { namespace: 'apps', pod: 'mainnet-host-0', container: 'host' }
const path = '/api/v1/namespaces/apps/pods/mainnet-host-0/exec'
const success = { status: 'Success' }
const channel = { stdout: 1, stderr: 2, status: 3 } as const

/** What a container says, in its order. */
type Saying = readonly (readonly [keyof typeof channel, string | object])[]

interface Cluster {
  readonly exec: ContainerExec
  /** Resolves with the next command, whose container says nothing by itself. */
  next(): Promise<Called>
}

interface Called {
  readonly query: URLSearchParams
  readonly socket: WebSocket
  /** What came on standard input so far. */
  stdin(): string
  say(...saying: Saying): void
  readonly closed: Promise<unknown>
}

async function openCluster(t: TestContext): Promise<Cluster> {
  const server = createServer((_, response) => response.writeHead(403).end())
  const sockets = new WebSocketServer({ server, path, maxPayload: 1024 * 1024 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: [{ name: 'test', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }],
    users: [{ name: 'test' }],
    contexts: [{ name: 'test', cluster: 'test', user: 'test' }],
    currentContext: 'test',
  })
  return {
    exec: createExec(config),
    next: async () => {
      const [socket, { url }] = (await once(sockets, 'connection')) as [WebSocket, IncomingMessage]
      return calledBy(socket, new URL(url ?? '', 'http://localhost').searchParams)
    },
  }
}

function calledBy(socket: WebSocket, query: URLSearchParams): Called {
  const input: Buffer[] = []
  socket.on('message', (piece: Buffer) => input.push(piece.subarray(1)))
  return {
    query,
    socket,
    stdin: () => Buffer.concat(input).toString(),
    say: (...saying) => {
      for (const [on, what] of saying) {
        const text = typeof what === 'string' ? what : JSON.stringify(what)
        socket.send(Buffer.concat([Buffer.of(channel[on]), Buffer.from(text)]))
      }
    },
    closed: once(socket, 'close'),
  }
}

/** What becomes of a command whose container says this. */
async function outcome(
  t: TestContext,
  ...saying: Saying
): Promise<Awaited<ReturnType<ContainerExec>>> {
  const { exec, next } = await openCluster(t)
  const [result] = await Promise.all([
    exec(address, ['true']),
    next().then((called) => called.say(...saying)),
  ])
  return result
}

const failure = (why: string): object => ({
  code: 'PLUGIN_EXEC_FAILED',
  message: `no command can be run in container host of pod apps/mainnet-host-0: ${why}`,
})

test('a command is run in its container without standard input, and the connection closed', async (t) => {
  const { exec, next } = await openCluster(t)
  const called = next()
  const done = exec(address, ['ls', '-l', '/keys'])
  const { query, say, closed } = await called
  assert.deepEqual(query.getAll('command'), ['ls', '-l', '/keys'])
  assert.deepEqual(
    ['container', 'stdout', 'stderr', 'stdin', 'tty'].map((name) => query.get(name)),
    ['host', 'true', 'true', 'false', 'false'],
  )
  say(['stdout', 'one '], ['stderr', 'beside'], ['stdout', 'two'], ['status', success])
  assert.deepEqual(await done, { exitCode: 0, stdout: 'one two', stderr: 'beside' })
  await closed
})

test('standard input is what was given, and stays open', async (t) => {
  const { exec, next } = await openCluster(t)
  const called = next()
  const done = exec(address, ['cat'], { stdin: 'a secret' })
  const { query, say, socket, stdin } = await called
  assert.equal(query.get('stdin'), 'true')
  while (stdin().length < 8) await once(socket, 'message')
  say(['stdout', stdin()], ['status', success])
  assert.equal((await done).stdout, 'a secret')
  assert.equal(stdin(), 'a secret')
})

test('a command that failed has its exit code', async (t) => {
  const causes = [
    { reason: 'Other', message: '4' },
    { reason: 'ExitCode', message: '3' },
  ]
  const status = { status: 'Failure', message: 'exit code 3', details: { causes } }
  assert.deepEqual(await outcome(t, ['stderr', 'no such file'], ['status', status]), {
    ...{ exitCode: 3, stdout: '', stderr: 'no such file' },
  })
})

test('a command that did not run has no exit code, and the failure says why', async (t) => {
  const status = { status: 'Failure', message: 'container not found' }
  await assert.rejects(outcome(t, ['status', status]), failure('container not found'))
  await assert.rejects(
    outcome(t, ['status', { status: 'Failure' }]),
    failure('it gave no exit code'),
  )
})

test('output up to 256 KiB is read, and more is a failure', async (t) => {
  const half = 'x'.repeat(131_072)
  const full = await outcome(t, ['stdout', half], ['stdout', half], ['status', success])
  assert.equal(full.stdout.length, 262_144)
  const more: Saying = [
    ['stdout', half],
    ['stdout', half],
    ['stdout', 'x'],
    ['status', success],
  ]
  await assert.rejects(outcome(t, ...more), failure('it writes too much'))
})

test('of messages beside the output the first 64 KiB are kept', async (t) => {
  const full = 'x'.repeat(65_536)
  const { stderr } = await outcome(t, ['stderr', full], ['stderr', 'more'], ['status', success])
  assert.equal(stderr, full)
})

test('a connection that is closed before the command ended is a failure', async (t) => {
  const { exec, next } = await openCluster(t)
  const ended = next().then(({ socket }) => socket.close())
  await assert.rejects(exec(address, ['true']), failure('the connection was closed'))
  await ended
})

test('a server that refuses the command is named with its answer', async (t) => {
  const { exec } = await openCluster(t)
  await assert.rejects(exec({ ...address, pod: 'another' }, ['true']), {
    code: 'PLUGIN_EXEC_FAILED',
    message: /^no command can be run in container host of pod apps\/another: .*40[03]/,
    remedy: /you may create pods\/exec there/,
  })
})

test('a command that is given up ends at once, and its connection is closed', async (t) => {
  const { exec, next } = await openCluster(t)
  const stop = new AbortController()
  const called = next()
  const done = exec(address, ['sleep', '60'], { signal: stop.signal })
  const { closed } = await called
  const cause = new Error('stopped by the test')
  stop.abort(cause)
  await assert.rejects(done, { ...failure('it was given up'), cause })
  await closed
})
