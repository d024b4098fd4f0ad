import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { labels } from '../../../../operator/api/annotations.ts'
import { logLines } from '../../../../operator/plugin/logs/log-lines.ts'
import { parseSince } from '../../../../operator/plugin/logs/since.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type SeenRequest, send, status } from '../../support/kubernetes-server.ts'
import { runPlugin } from '../../support/plugin-run.ts'

const room = kubernetesRoom()
const pods = '/api/v1/namespaces/apps/pods'

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function linesOf(text: string, size: number, maxLength?: number): Promise<string[]> {
  const found: string[] = []
  for await (const line of logLines(inChunks(Buffer.from(text), size), maxLength)) found.push(line)
  return found
}

test('a log is cut into the same lines wherever its pieces end', async () => {
  const line = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n'))
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      const text = lines.map((one) => `${one}\n`).join('')
      assert.deepEqual(await linesOf(text, size), lines)
    }),
  )
})

test('a line that is too long is cut where it may not go on, and says what is missing', async () => {
  assert.deepEqual(await linesOf('abcdef\nabcdefg\nlast', 4, 6), [
    'abcdef',
    'abcdef (1 more characters)',
    'last',
  ])
  assert.deepEqual(await linesOf('\n\nabc', 1, 2), ['', '', 'ab (1 more characters)'])
  assert.deepEqual(await linesOf('', 1), [])
})

test('a log that ends within a character has all the characters before it', async () => {
  const found: string[] = []
  const cut = Buffer.from('one\ntwo é').subarray(0, -1)
  for await (const line of logLines(inChunks(cut, 3))) found.push(line)
  assert.deepEqual(found, ['one', 'two \ufffd'])
})

test('spans of time are read, and anything else is refused with examples', () => {
  const spans = [
    ['90s', 90],
    ['15m', 900],
    ['1h30m', 5_400],
    ['3d', 259_200],
    ['999999s', 999_999],
    ['0h1s', 1],
  ] as const
  for (const [text, seconds] of spans) assert.equal(parseSince(text), seconds)
  for (const text of ['', '5', 'h', '-1h', '0s', '1h ', ' 1h', '1w', '1h30', '0m0s', '1000000s']) {
    assert.throws(() => parseSince(text), {
      code: 'PLUGIN_ARGUMENT_INVALID',
      remedy: 'Say for instance --since 90s, 15m, 2h or 3d.',
    })
  }
})

/** A Host with two pods, whose logs are these. */
function putPods(logs: Readonly<Record<string, string>>): SeenRequest[] {
  const asked: SeenRequest[] = []
  room.server.put(
    '/apis/viewmesh.io/v1alpha1/namespaces/apps/hosts/mainnet',
    readHost('host-minimal'),
  )
  for (const name of Object.keys(logs)) {
    const marks = { [labels.name]: 'host', [labels.instance]: 'mainnet' }
    room.server.put(`${pods}/${name}`, { metadata: { labels: marks } })
  }
  room.server.faults.add((request, response) => {
    const [, name = ''] = /pods\/([^/]+)\/log$/.exec(request.path) ?? []
    const log = logs[name]
    if (log === undefined) return false
    asked.push(request)
    if (log === 'none') send(response, 400, status(400, 'BadRequest', 'container is waiting'))
    else response.end(log)
    return true
  })
  return asked
}

test('logs of all replicas are shown in order, each line with its pod, and only of this one', async () => {
  const asked = putPods({
    'mainnet-host-10': 'third\n',
    'mainnet-host-0': 'first\x1b[2J\n',
    'mainnet-host-2': 'second\n',
    'mainnet-other-host-0': 'of another\n',
  })
  const shown = await runPlugin(room.client, [
    'logs',
    'host/mainnet',
    '--since',
    '2m',
    '--tail',
    '7',
  ])
  assert.deepEqual(shown, {
    code: 0,
    stdout: '[mainnet-host-0] first\\u001b[2J\n[mainnet-host-2] second\n[mainnet-host-10] third\n',
    stderr: '',
  })
  assert.deepEqual(asked[0]?.query, {
    container: 'host',
    follow: 'false',
    previous: 'false',
    sinceSeconds: '120',
    tailLines: '7',
  })
})

test('a replica without a log is reported, and does not keep the others from being shown', async () => {
  const asked = putPods({ 'mainnet-host-0': 'none', 'mainnet-host-1': 'well\n' })
  const shown = await runPlugin(room.client, ['logs', 'host/mainnet', '--previous'])
  assert.deepEqual(shown, {
    code: 1,
    stdout: '[mainnet-host-1] well\n',
    stderr:
      '[mainnet-host-0] has no such log: get pods/log apps/mainnet-host-0: 400 container is waiting\n',
  })
  assert.deepEqual(
    asked.map(({ query }) => query['previous']),
    ['true', 'true'],
  )
})

test('what keeps all logs from being read ends the command', async () => {
  const asked: string[] = []
  room.server.faults.add(({ path }, response) => {
    if (!path.endsWith('/log')) return false
    asked.push(path)
    send(response, 403, status(403, 'Forbidden', 'cannot get resource "pods/log" '))
    return true
  })
  putPods({ 'mainnet-host-0': 'one\n', 'mainnet-host-1': 'two\n' })
  const { code, stdout, stderr } = await runPlugin(room.client, ['logs', 'host/mainnet'])
  assert.deepEqual([code, stdout, asked.length], [2, '', 1])
  assert.match(stderr, /^error: get pods\/log apps\/mainnet-host-0: 403 .*FORBIDDEN\)\n/)
})

test('followed logs come as they are written, of all replicas at once', async () => {
  const asked = putPods({ 'mainnet-host-0': 'a\n', 'mainnet-host-1': 'b\n' })
  const second = room.server.seen(({ path }) => path.endsWith('mainnet-host-1/log'))
  const [answer] = room.server.faults
  room.server.faults.clear()
  room.server.faults.add((request, response) => {
    if (!request.path.endsWith('mainnet-host-0/log')) return answer?.(request, response) ?? false
    void second.then(() => answer?.(request, response))
    return true
  })
  const { code, stdout } = await runPlugin(room.client, ['logs', 'hosts/mainnet', '-f'])
  assert.equal(code, 0)
  assert.deepEqual(stdout.trimEnd().split('\n').toSorted(), [
    '[mainnet-host-0] a',
    '[mainnet-host-1] b',
  ])
  assert.deepEqual(
    asked.map(({ query }) => [query['follow'], query['tailLines']]),
    [
      ['true', '200'],
      ['true', '200'],
    ],
  )
})

test('whoever has read enough of followed logs ends them, and all is well', async () => {
  putPods({ 'mainnet-host-0': 'none' })
  const aborting = new AbortController()
  room.server.faults.clear()
  room.server.faults.add(({ path }, response) => {
    if (!path.endsWith('/log')) return false
    response.write('one\n', () => aborting.abort())
    return true
  })
  const args = ['logs', 'host/mainnet', '-f']
  const { code, stderr } = await runPlugin(room.client, args, { signal: aborting.signal })
  assert.deepEqual([code, stderr], [0, ''])
})

test('a Host without pods says where to look', async () => {
  putPods({})
  const { code, stderr } = await runPlugin(room.client, ['logs', 'host/mainnet'])
  assert.equal(code, 2)
  assert.match(stderr, /^error: Host apps\/mainnet has no pods \(PLUGIN_RESOURCE_MISSING\)\n/)
})
