import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openExampleHost } from '../../docs/support/example-host.ts'
import { at, buildLens, op } from '../../lens/support/lens.ts'
import { startToolkit } from '../support/start-toolkit.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const token = 'a token of tests only, and long enough'

const env = { HOST_ADMIN_TOKEN: token }

/** A Host with blocks, and a project with a View of its logs. */
async function open(t: TestContext) {
  const host = await openExampleHost({ HOST_ADMIN_TOKEN: token })
  t.after(() => host.close())
  const terminal = await openTestTerminal(t)
  await terminal.json('view', 'init')
  const parts = ['--query', 'Log { address logIndex }', '--sdl', 'type Things { address: String }']
  await terminal.json('view', 'create', 'Things', ...parts)
  const views = async (): Promise<string[]> => {
    const response = await fetch(`${host.apiOrigin}/api/v0/views`)
    const found = (await response.json()) as { views: { name: string; id: string }[] }
    return found.views.filter(({ name }) => name.startsWith('Things')).map(({ id }) => id)
  }
  const setSdl = (text: string): void =>
    writeFileSync(join(terminal.cwd, 'views', 'Things', 'schema.graphql'), text)
  return { host, terminal, views, setSdl }
}

const json = { 'content-type': 'application/json' }

/** What a Host answers to what came to a proxy before it. */
function askHost(
  origin: string,
  { method = '', url, headers }: IncomingMessage,
  body: Buffer,
): Promise<Response> {
  const authorization = headers.authorization ?? ''
  const sent =
    body.length === 0
      ? { headers: { authorization } }
      : { headers: { authorization, ...json }, body }
  return fetch(`${origin}${url}`, { method, ...sent })
}

async function passOn(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Promise<void> {
  const answer = await askHost(origin, request, body)
  response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
}

/** The URL of a proxy, which a test writes the responses of. */
async function openProxy(
  t: TestContext,
  respond: (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown,
): Promise<string> {
  const proxy = createServer(async (request, response) => {
    await respond(request, response, Buffer.concat(await request.toArray()))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.after(() => proxy.close())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** The URL of a proxy before a Host that refuses some of the Views that are posted, by their number. */
function openRefusing(
  t: TestContext,
  origin: string,
  refusal: (posted: number) => string | null,
): Promise<string> {
  let posted = 0
  return openProxy(t, async (request, response, body) => {
    if (request.method === 'POST') posted += 1
    const message = request.method === 'POST' ? refusal(posted) : null
    if (message === null) await passOn(origin, request, response, body)
    else response.writeHead(422).end(JSON.stringify({ message }))
  })
}

const waits = /waiting for changes \(Ctrl-C ends this\)\n/

test('view dev tests again after each change, and keeps the one that passes at the Host', async (t) => {
  const { host, terminal, views, setSdl } = await open(t)
  const blocks = ['--from', host.apiOrigin, '--host', host.apiOrigin]
  const dev = startToolkit(['view', 'dev', 'Things', ...blocks], { ...terminal, env })
  assert.match(
    await dev.until(waits),
    /Things passed\n[\s\S]*deployed as Things: 0x[0-9a-f]{64} \(0x[0-9a-fA-F]{40}\)\n/,
  )
  const [first] = await views()

  setSdl('type Things { address: String logIndex: String }')
  assert.match(await dev.until(waits), /OUTPUT_TYPE_MISMATCH[\s\S]*Things failed: 1 error\n/)
  setSdl('type Things { address: ')
  assert.match(await dev.until(waits), /SDL_PARSE_FAILED[\s\S]*Things failed: 1 error\n/)
  assert.deepEqual(await views(), [first])

  setSdl('type Things { address: String logIndex: Int }')
  assert.match(
    await dev.until(waits),
    /Things passed\n[\s\S]*deployed as Things: 0x[0-9a-f]{64} \(0x[0-9a-fA-F]{40}\)\n/,
  )
  const [second, ...others] = await views()
  assert.notEqual(second, first)
  assert.deepEqual(others, [])
  dev.interrupt()
  assert.equal(await dev.ended, 130)

  const again = startToolkit(['view', 'dev', 'Things', ...blocks], { ...terminal, env })
  assert.match(await again.until(waits), new RegExp(`collection already exists: ${second} `))
  setSdl('type Things { logIndex: Int }')
  assert.match(await again.until(waits), /deployed as Things: /)
  const [third, ...older] = await views()
  assert.deepEqual(older, [])
  again.interrupt()
  assert.equal(await again.ended, 130)
  const text = readFileSync(join(terminal.cwd, 'deployments.json'), 'utf8')
  const { deployments } = JSON.parse(text) as { deployments: { id: string }[] }
  assert.deepEqual(
    deployments.map(({ id }) => id),
    [first, second, third],
  )
})

test('view dev tests again where blocks, expected rows or a module outside its folder change', async (t) => {
  const { cwd, ...terminal } = await openTestTerminal(t)
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), content)
  }
  const address = `0x${'ab'.repeat(20)}`
  write('given/blocks.json', JSON.stringify({ blocks: [{ logs: [{ address }] }] }))
  write('wanted/rows.json', JSON.stringify([{ address }]))
  write('lenses/mine/lens.wasm', buildLens())
  await terminal.json('view', 'init')
  const parts = ['--query', 'Log { address }', '--sdl', 'type Things { address: String }']
  await terminal.json('view', 'create', 'Things', ...parts, '--lens', 'a:lenses/mine/lens.wasm')
  const files = ['--fixture', 'given/blocks.json', '--expect', 'wanted/rows.json']
  const dev = startToolkit(['view', 'dev', 'Things', ...files], { ...terminal, cwd, env })
  t.after(() => dev.interrupt())
  assert.match(await dev.until(waits), /\nThings passed\n/)
  write('wanted/rows.json', '[{}, {}]')
  assert.match(
    await dev.until(waits),
    / 2 rows expected, 1 found [\s\S]*\nThings failed: 1 error\n/,
  )
  write('given/blocks.json', JSON.stringify({ blocks: [{ logs: [{ address }, { address }] }] }))
  assert.match(await dev.until(waits), /\nThings passed\n/)
  write('lenses/mine/lens.wasm', buildLens({ transform: op.const(at.error) }))
  assert.match(await dev.until(waits), /LENS_FAILED[\s\S]*\nThings failed: 1 error\n/)
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})

test('view dev removes no View that another command posted, whatever the project says', async (t) => {
  const { host, terminal, views, setSdl } = await open(t)
  const deploy = ['view', 'deploy', 'Things', '--target', 'local', '--host', host.apiOrigin]
  const deployed = await terminal.run(deploy, { env: { HOST_ADMIN_TOKEN: token } })
  assert.equal(deployed.exitCode, 0)
  const [posted] = await views()
  const blocks = ['--from', host.apiOrigin, '--host', host.apiOrigin]
  const dev = startToolkit(['view', 'dev', 'Things', ...blocks], { ...terminal, env })
  // The list of the project has it, its history the very bytes, and this run posts them again.
  assert.match(await dev.until(waits), /collection already exists: /)
  setSdl('type Things { logIndex: Int }')
  assert.match(await dev.until(waits), /deployed as Things_[0-9a-f]{8}: /)
  assert.equal((await views()).length, 2)
  assert.ok((await views()).includes(`${posted}`))
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})

test('view dev deploys the same bytes once a Host that was away is there, and says so once', async (t) => {
  const { host, terminal, views } = await open(t)
  const again = Promise.withResolvers<void>()
  let [asked, isAway] = [0, true]
  const url = await openProxy(t, async (request, response, body) => {
    asked += 1
    if (asked === 2) again.resolve()
    if (isAway) response.destroy()
    else await passOn(host.apiOrigin, request, response, body)
  })
  const blocks = [{ logs: [{ address: `0x${'ab'.repeat(20)}` }] }]
  writeFileSync(join(terminal.cwd, 'blocks.json'), JSON.stringify({ blocks }))
  const argv = ['view', 'dev', 'Things', '--fixture', 'blocks.json', '--host', url]
  const dev = startToolkit(argv, { ...terminal, env })
  t.after(() => dev.interrupt())
  assert.match(await dev.until(waits), /Things passed\nerror: no answer from /)
  await again.promise
  isAway = false
  const deployed = /^deployed as Things: 0x[0-9a-f]{64} \(0x[0-9a-fA-F]{40}\)\n/
  assert.match(await dev.until(waits), deployed, 'it is not tested again')
  assert.equal((await views()).length, 1)
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})

test('view dev posts a version later whose Host is away once the former one is removed', async (t) => {
  const { host, terminal, views, setSdl } = await open(t)
  let isAway = false
  const url = await openProxy(t, async (request, response, body) => {
    if (isAway && request.method === 'POST') response.destroy()
    else await passOn(host.apiOrigin, request, response, body)
  })
  const dev = startToolkit(['view', 'dev', 'Things', '--host', url], { ...terminal, env })
  t.after(() => dev.interrupt())
  await dev.until(waits)
  isAway = true
  setSdl('type Things { address: String logIndex: Int }')
  assert.match(await dev.until(waits), /Things passed\nerror: no answer from /)
  assert.deepEqual(await views(), [])
  isAway = false
  assert.match(await dev.until(waits), /^deployed as Things: 0x[0-9a-f]{64} /)
  assert.equal((await views()).length, 1)
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})

test('view dev puts the former version back under its name where the Host refuses the new one', async (t) => {
  const { host, terminal, views, setSdl } = await open(t)
  const url = await openRefusing(t, host.apiOrigin, (posted) =>
    posted === 2 ? 'not this one' : null,
  )
  const dev = startToolkit(['view', 'dev', 'Things', '--host', url], { ...terminal, env })
  t.after(() => dev.interrupt())
  assert.match(await dev.until(waits), /deployed as Things: 0x[0-9a-f]{64} \(0x[0-9a-fA-F]{40}\)\n/)
  const former = await views()
  setSdl('type Things { address: String logIndex: Int }')
  assert.match(
    await dev.until(waits),
    /the former version is deployed again as Things: 0x[0-9a-f]{64} \(0x[0-9a-fA-F]{40}\)\nerror: .* refuses: not this one\n/,
  )
  assert.deepEqual(await views(), former)
  // It is this command's own again: the next version takes its place.
  setSdl('type Things { logIndex: Int }')
  assert.match(await dev.until(waits), /deployed as Things: 0x[0-9a-f]{64} \(0x[0-9a-fA-F]{40}\)\n/)
  const [next, ...others] = await views()
  assert.deepEqual([next === former[0], others], [false, []])
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})

test('view dev says so where the former version cannot be put back either, and goes on', async (t) => {
  const { host, terminal, views, setSdl } = await open(t)
  const url = await openRefusing(t, host.apiOrigin, (posted) =>
    posted === 2 || posted === 3 ? `not post ${posted}` : null,
  )
  const dev = startToolkit(['view', 'dev', 'Things', '--host', url], { ...terminal, env })
  t.after(() => dev.interrupt())
  await dev.until(waits)
  setSdl('type Things { address: String logIndex: Int }')
  assert.match(
    await dev.until(waits),
    /\nthe former version could not be deployed again: .* refuses: not post 3\nerror: .* refuses: not post 2\n/,
  )
  assert.deepEqual(await views(), [])
  setSdl('type Things { logIndex: Int }')
  assert.match(await dev.until(waits), /deployed as Things: 0x[0-9a-f]{64} /)
  assert.equal((await views()).length, 1)
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})

test('view dev shows what the Host warns of', async (t) => {
  const { host, terminal } = await open(t)
  const url = await openProxy(t, async (request, response, body) => {
    const answer = await askHost(host.apiOrigin, request, body)
    const warning = { code: 'A_CODE', message: 'two\u001b[2Jlines\nin it', remedy: 'read it' }
    const changed = { ...((await answer.json()) as object), warnings: [warning] }
    response.writeHead(answer.status).end(JSON.stringify(changed))
  })
  const dev = startToolkit(['view', 'dev', 'Things', '--host', url], { ...terminal, env })
  assert.match(
    await dev.until(waits),
    /deployed as Things: 0x[0-9a-f]{64} \(0x[0-9a-fA-F]{40}\)\nwarning: twolines in it\nWhat to do: read it\n/,
  )
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})

test('view dev ends at once where there is no such View, with the one that may be meant', async (t) => {
  const { terminal } = await open(t)
  const argv = ['view', 'dev', 'Thing']
  const { exitCode, stderr } = await terminal.run(argv, { cwd: terminal.cwd })
  assert.equal(exitCode, 1)
  assert.match(stderr, /^error: view 'Thing' does not exist; did you mean Things\?\n/)
  assert.equal((await terminal.run(['view', 'dev', 'no name'])).exitCode, 2)
})

test('view dev ends at once for flags that no change of a file mends', async (t) => {
  const { terminal } = await open(t)
  for (const flags of [
    ['--blocks', '5'],
    ['--fixture', 'blocks.json', '--from', 'http://127.0.0.1:9'],
  ]) {
    const { exitCode, stderr } = await terminal.run(['view', 'dev', 'Things', ...flags])
    assert.equal(exitCode, 2)
    assert.match(stderr, /\nUsage: viewmesh view dev /)
  }
})

test('view dev waits for a View that cannot be read, and goes on where its Host is away', async (t) => {
  const { terminal } = await open(t)
  const file = join(terminal.cwd, 'views', 'Things', 'view.yaml')
  mkdirSync(join(terminal.cwd, 'lenses'), { recursive: true })
  writeFileSync(file, 'lenses: 7')
  const dev = startToolkit(['view', 'dev', 'Things', '--host', 'http://127.0.0.1:9'], {
    ...terminal,
    env,
  })
  t.after(() => dev.interrupt())
  assert.match(await dev.until(waits), /^error: views\/Things\/view\.yaml /)
  // The same mistake after an edit is said again.
  writeFileSync(file, 'lenses: 7')
  assert.match(await dev.until(waits), /^error: views\/Things\/view\.yaml /)
  writeFileSync(file, 'lenses: []')
  assert.match(
    await dev.until(waits),
    /Things passed\nerror: no answer from http:\/\/127\.0\.0\.1:9\n/,
  )
  dev.interrupt()
  assert.equal(await dev.ended, 130)
})
