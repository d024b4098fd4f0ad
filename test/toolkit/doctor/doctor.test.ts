import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
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
  const { message = '' } = checks.find(({ name }) => name === 'project') ?? {}
  assert.match(message, /^error: views\/Broken\/view.yaml has lenses that are not a list\n/)
})

test('what answers where a Host should, and not as one does, is a warning', async (context) => {
  const { run } = await openTestTerminal(context)
  const server = createServer((_request, response) => response.end('{"views":{}}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { exitCode, stdout } = await run(['doctor', '--host', url])
  assert.equal(exitCode, 0)
  assert.equal(stdout.split('\n')[4], `warning Host: ${url} answers, and not as a Host does`)
})

test('Views are counted in the singular and the plural', async (context) => {
  const { run, json } = await openTestTerminal(context)
  await json('view', 'init', 'First')
  const projectOf = async (): Promise<string | undefined> => {
    const { stdout } = await run(['doctor', ...nowhere])
    return stdout.split('\n').find((line) => line.startsWith('passed  project: '))
  }
  assert.match(`${await projectOf()}`, /\), 1 View$/)
  await json('view', 'init', 'Second')
  assert.match(`${await projectOf()}`, /\), 2 Views$/)
})
