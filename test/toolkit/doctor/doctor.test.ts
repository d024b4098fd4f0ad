import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openTestTerminal } from '../support/test-terminal.ts'

const nowhere = ['--host', 'http://127.0.0.1:1']

/**
 * Service page: "it needs the environment variables WASMER_ROOT, WASMER_LIB_PATH and, for library search, DYLD_LIBRARY_PATH (macOS)
 * or LD_LIBRARY_PATH (Linux)". Here nothing does.
 */
test('service page: variables of a native WebAssembly library are ignored, which doctor says', async (context) => {
  const { run } = await openTestTerminal(context)
  const variables = ['WASMER_ROOT', 'WASMER_LIB_PATH', 'DYLD_LIBRARY_PATH', 'LD_LIBRARY_PATH']
  const env = Object.fromEntries(variables.map((name) => [name, '/nowhere']))
  const { exitCode, stdout } = await run(['doctor', ...nowhere], { env })
  assert.equal(exitCode, 0)
  const [node, library, lenses, project, host] = stdout.split('\n')
  assert.match(`${node}`, /^passed {2}Node.js: \d+\./)
  assert.equal(
    library,
    `passed  native WebAssembly library: ${variables.join(', ')} are ignored: lenses run in Node.js itself`,
  )
  assert.equal(lenses, 'passed  lens process: runs a lens that ships')
  assert.match(
    `${project}`,
    /^passed {2}project: .*home folder, as there is no project\), 0 Views$/,
  )
  assert.match(`${host}`, /^warning Host: no answer from http:\/\/127.0.0.1:1: /)
})

test('a View that cannot be read fails the check of the project, with exit code 1', async (context) => {
  const { run, json, cwd } = await openTestTerminal(context)
  await json('view', 'init')
  await mkdir(join(cwd, 'views/Broken'), { recursive: true })
  await writeFile(join(cwd, 'views/Broken/view.yaml'), 'lenses: 3')
  const { exitCode, stdout, stderr } = await run(['doctor', '--json', ...nowhere])
  assert.equal(exitCode, 1)
  assert.match(stderr, /^error: 1 of the checks failed\n/)
  const { checks } = JSON.parse(stdout) as { checks: { name: string; message: string }[] }
  const messageOf = (wanted: string): string =>
    checks.find(({ name }) => name === wanted)?.message ?? ''
  const none = 'none is needed: lenses run in Node.js itself'
  assert.equal(messageOf('native WebAssembly library'), none)
  assert.match(
    messageOf('project'),
    /^error: views\/Broken\/view.yaml has lenses that are not a list\n/,
  )
})

test('a doctor that is interrupted reports nothing', async (context) => {
  const { run } = await openTestTerminal(context)
  const interrupted = await run(['doctor', ...nowhere], { signal: AbortSignal.abort() })
  assert.deepEqual(interrupted, { exitCode: 130, stdout: '', stderr: '' })
  const controller = new AbortController()
  const server = createServer(() => controller.abort())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => server.close())
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const late = await run(['doctor', '--host', host], { signal: controller.signal })
  assert.deepEqual(late, interrupted)
})

/** The URL of what answers so, whoever asks. */
async function openServer(context: TestContext, status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('what answers where a Host should, and not as one does, is a warning', async (context) => {
  const { run } = await openTestTerminal(context)
  const url = await openServer(context, 200, '{"views":{}}')
  const { exitCode, stdout } = await run(['doctor', '--host', url])
  assert.equal(exitCode, 0)
  assert.equal(stdout.split('\n')[4], `warning Host: ${url} answers, and not as a Host does`)
})

test('another program where a Host should be is named as one, and no Host is said to be missing', async (context) => {
  const { run, json, cwd } = await openTestTerminal(context)
  await json('view', 'init')
  const url = await openServer(context, 404, 'Not found')
  const { exitCode, stdout } = await run(['doctor', '--json', '--host', url])
  assert.equal(exitCode, 0)
  const { checks } = JSON.parse(stdout) as { checks: Record<string, string>[] }
  const [project, { outcome, message } = {}] = checks.slice(-2)
  assert.equal(project?.['message'], `${cwd} (project), 0 Views`)
  assert.equal(outcome, 'warning')
  const [first, ...rest] = `${message}`.split('\n')
  assert.equal(first, `error: ${url} returned something other than JSON: "Not found"`)
  assert.match(`${rest.at(-1)}`, /^What to do: Name the API port of a Host \(9181 by default\)/)
})

test('Views and variables are reported in the singular and the plural, and a Host by its answer', async (context) => {
  const { run, json } = await openTestTerminal(context)
  await json('view', 'init', 'First')
  const linesOf = async (host: string): Promise<readonly string[]> => {
    const env = { LD_LIBRARY_PATH: '/nowhere' }
    return (await run(['doctor', '--host', host], { env })).stdout.split('\n')
  }
  const busy = await openServer(context, 503, '{"views":[]}')
  const [, library, , first, answer] = await linesOf(busy)
  assert.match(`${library}`, /: LD_LIBRARY_PATH is ignored: /)
  assert.match(`${first}`, /^passed {2}project: .*\), 1 View$/)
  assert.equal(answer, `warning Host: ${busy} answers with the status 503`)
  await json('view', 'init', 'Second')
  const right = await openServer(context, 200, '{"views":[]}')
  const [, , , second, host] = await linesOf(right)
  assert.match(`${second}`, /^passed {2}project: .*\), 2 Views$/)
  assert.equal(host, `passed  Host: ${right}`)
})
