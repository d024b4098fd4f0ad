/** `view status`: which deployments it asks for, and what it makes of places that do not answer as they should. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openTestTerminal } from '../support/test-terminal.ts'

const nowhere = 'http://127.0.0.1:1'

/** The URL of a Host that answers everything so. */
async function openHost(t: TestContext, status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A project whose Views were deployed to these Hosts, each View with an ID of its own. */
async function openDeployed(t: TestContext, places: readonly (readonly [string, string])[]) {
  const terminal = await openTestTerminal(t)
  for (const name of [[], ['Things']]) await terminal.json('view', 'init', ...name)
  const deployments = places.map(([view, endpoint], index) => ({
    ...{ view, revision: 1, target: 'local', at: '2026-01-01T00:00:00.000Z', endpoint },
    ...{ id: `0x${String(index).repeat(64)}`, address: `0x${String(index).repeat(40)}` },
    ...{ creator: `0x${'0'.repeat(40)}`, transaction: null, chainId: null, state: 'registered' },
  }))
  await writeFile(join(terminal.cwd, 'deployments.json'), JSON.stringify({ deployments }))
  return terminal
}

/** A command that shows how these stand. */
async function openStatus(t: TestContext, places: Parameters<typeof openDeployed>[1]) {
  const { run } = await openDeployed(t, places)
  return async (...flags: string[]) => {
    const { exitCode, stdout, stderr } = await run(['view', 'status', '--json', ...flags])
    const shown: { deployments: { view: string; state: string }[] } = JSON.parse(stdout)
    return { exitCode, stderr, states: shown.deployments.map(({ view, state }) => [view, state]) }
  }
}

test('view status is a table, with what went wrong below it, and says on a terminal whom it asks', async (t) => {
  const [address, id] = [`0x${'0'.repeat(40)}`, `0x${'0'.repeat(64)}`]
  const report = {
    ...{ id, address, name: 'Things_1', state: 'live', rows: 7, blocks_failed: 2 },
    ...{ error: { message: 'it fails\nat block 3' }, warnings: [] },
  }
  const host = await openHost(t, 200, JSON.stringify(report))
  const { run } = await openDeployed(t, [
    ['Things', host],
    ['Others', nowhere],
  ])
  const { stdout, stderr } = await run(['view', 'status'], { isTTY: true })
  const [head, ...lines] = stdout.trimEnd().split('\n')
  assert.deepEqual(
    [head, ...lines.slice(0, 2)].map((line) => line?.split(/ {2,}/)),
    [
      ['VIEW', 'VERSION', 'TARGET', 'WHERE', 'STATE', 'SERVED AS', 'ROWS', 'ADDRESS', 'ID'],
      ['Things', '1', 'local', host, 'live', 'Things_1', '7', address, id],
      ['Others', '1', 'local', nowhere, 'not reached', '-', '-', `0x${'1'.repeat(40)}`].concat(
        `0x${'1'.repeat(64)}`,
      ),
    ],
  )
  assert.deepEqual(lines.slice(2), [
    `Things (version 1) at ${host}: 2 blocks failed; it fails at block 3`,
    `Others (version 1) at ${nowhere}: no answer from ${nowhere}`,
  ])
  const line = '\r\u001b[2K'
  const asked = `${line}Things at ${host}${line}Others at ${nowhere}${line}`
  assert.ok(stderr.startsWith(`${asked}error: no answer from `), JSON.stringify(stderr))
})

test('view status shows the remedy of a Host, and how a quarantine ends', async (t) => {
  const [address, id] = [`0x${'0'.repeat(40)}`, `0x${'0'.repeat(64)}`]
  const report = {
    ...{ id, address, name: 'Things_1', state: 'quarantined', rows: 0, blocks_failed: 20 },
    ...{ error: { message: 'lens 1 trapped', remedy: 'Correct\nthe lens.' }, warnings: [] },
  }
  const host = await openHost(t, 200, JSON.stringify(report))
  const { run, json } = await openDeployed(t, [['Things', host]])
  const remedy = `Correct the lens. POST ${host}/api/v0/views/${id}/retry with the admin token of the Host ends the quarantine.`
  const { stdout } = await run(['view', 'status'])
  assert.deepEqual(stdout.trimEnd().split('\n').slice(2), [
    `Things (version 1) at ${host}: 20 blocks failed; lens 1 trapped`,
    `What to do: ${remedy}`,
  ])
  const { deployments } = (await json('view', 'status')) as { deployments: object[] }
  assert.partialDeepStrictEqual(deployments, [{ blocksFailed: 20, remedy }])
})

test('view status shows every place, and fails for one that was not reached before all else', async (t) => {
  const foreign = await openHost(t, 200, 'no JSON')
  const places = [
    ['Things', foreign],
    ['Others', nowhere],
  ] as const
  const { exitCode, stderr, states } = await (await openStatus(t, places))()
  assert.deepEqual(states, [
    ['Things', 'not reached'],
    ['Others', 'not reached'],
  ])
  assert.deepEqual([exitCode, stderr.split('\n')[0]], [3, `error: no answer from ${nowhere}`])
  const other = await (await openStatus(t, places.slice(0, 1)))()
  assert.equal(other.exitCode, 1)
  assert.match(other.stderr, /^error: .* returned something other than JSON/)
})

test('view status of one View asks for its deployments alone', async (t) => {
  const host = await openHost(t, 404, '{}')
  const status = await openStatus(t, [
    ['Others', nowhere],
    ['Things', host],
  ])
  assert.deepEqual(await status('Things'), {
    ...{ exitCode: 0, stderr: '', states: [['Things', 'gone']] },
  })
})

test('of a Host that has none of them, only what was deployed to it is gone', async (t) => {
  const host = await openHost(t, 404, '{}')
  const status = await openStatus(t, [
    ['Things', host],
    ['Others', nowhere],
  ])
  assert.deepEqual((await status('--host', host)).states, [
    ['Things', 'gone'],
    ['Others', 'not deployed'],
  ])
})

test('delete names where a View stays and what removes it, and view status shows it still', async (t) => {
  const host = await openHost(t, 404, '{}')
  const { run, cwd, json } = await openDeployed(t, [
    ['Others', nowhere],
    ['Things', host],
    ['Things', host],
  ])
  const file = join(cwd, 'deployments.json')
  const kept: { deployments: object[] } = JSON.parse(await readFile(file, 'utf8'))
  const [first, second, third] = kept.deployments
  const again = { ...second, at: '2026-01-02T00:00:00.000Z' }
  const registered = { ...third, target: 'devnet', endpoint: nowhere, chainId: 1 }
  const refused = { ...registered, id: `0x${'3'.repeat(64)}`, state: 'refused' }
  const deployments = [first, second, again, registered, refused]
  await writeFile(file, JSON.stringify({ deployments }))
  const { stdout } = await run(['view', 'delete', 'Things'])
  const id = `0x${'1'.repeat(64)}`
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    'deleted view Things',
    `version 1 stays at ${host} (local): DELETE ${host}/api/v0/views/${id} with the admin token of the Host removes it`,
    `version 1 stays at ${nowhere} (devnet): what is registered cannot be taken back`,
  ])
  await writeFile(file, JSON.stringify({ deployments: [second] }))
  const status = (await json('view', 'status', 'Things')) as { deployments: object[] }
  assert.partialDeepStrictEqual(status.deployments, [{ view: 'Things', id }])
})

test('view status of a View that is not there fails, and does not say that nothing is deployed', async (t) => {
  const { run } = await openDeployed(t, [['Others', nowhere]])
  const { exitCode, stdout, stderr } = await run(['view', 'status', 'Nothing'])
  assert.deepEqual([exitCode, stdout], [1, ''])
  assert.match(stderr, /^error: .*Nothing/)
})
