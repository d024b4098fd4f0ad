import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startToolkit } from '../support/start-toolkit.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const waits = /waiting for changes \(Ctrl-C ends this\)\n/
const waiting = 'waiting for changes (Ctrl-C ends this)\n'

async function open(t: TestContext) {
  const terminal = await openTestTerminal(t)
  const path = (...names: string[]): string => join(terminal.cwd, ...names)
  const watch = (...argv: string[]) => {
    const started = startToolkit(['types', ...argv, '--out', 'views.ts', '--watch'], terminal)
    t.after(() => started.interrupt())
    return started
  }
  return { ...terminal, path, watch, read: () => readFileSync(path('views.ts'), 'utf8') }
}

test('--watch writes the types again after each edit, and wrong SDL leaves those that were', async (t) => {
  const { path, watch, read } = await open(t)
  const file = path('a.graphql')
  writeFileSync(file, 'type A { x: Int }')
  const started = watch('--file', 'a.graphql')
  assert.equal(await started.until(waits), `views.ts written: A\n${waiting}`)
  const before = read()

  writeFileSync(file, 'type A { x: ')
  assert.match(await started.until(waits), /^error: a\.graphql: the SDL, line 1, column 13: /)
  assert.equal(read(), before)
  // The same mistake after an edit is said again.
  writeFileSync(file, 'type A { x: ')
  assert.match(await started.until(waits), /^error: a\.graphql: the SDL, line 1, column 13: /)
  // As editors do: written beside, and renamed.
  writeFileSync(path('a.new'), 'type A { y: Int }')
  renameSync(path('a.new'), file)
  assert.equal(await started.until(waits), `views.ts written: A\n${waiting}`)
  assert.match(read(), /readonly y: number \| null/)

  rmSync(file)
  assert.match(await started.until(waits), /^error: a\.graphql cannot be read as text\n/)
  writeFileSync(file, 'type A { y: Int }')
  assert.equal(await started.until(waits), `views.ts unchanged: A\n${waiting}`)
  started.interrupt()
  assert.equal(await started.ended, 130)
})

test('--watch sees Views that come to a project, change and go', async (t) => {
  const { path, watch, json } = await open(t)
  await json('view', 'init')
  const started = watch()
  assert.match(await started.until(waits), /^error: there is no View here\n/)
  const make = (name: string) =>
    json('view', 'create', name, '--query', 'Log { address }', '--sdl', `type ${name} { a: Int }`)
  await make('One')
  assert.equal(await started.until(waits), `views.ts written: One\n${waiting}`)
  await make('Two')
  assert.equal(await started.until(waits), `views.ts written: One, Two\n${waiting}`)
  writeFileSync(path('views', 'Two', 'schema.graphql'), 'type Other { a: Int }')
  assert.equal(await started.until(waits), `views.ts written: One, Other\n${waiting}`)
  await json('view', 'delete', 'One')
  assert.equal(await started.until(waits), `views.ts written: Other\n${waiting}`)
  started.interrupt()
  assert.equal(await started.ended, 130)
})

test('--watch of a Host reads only what is new, and a Host that is away is said once', async (t) => {
  const { watch, read, path } = await open(t)
  const views = new Map([['A', 'type A { x: Int }']])
  const idOf = (name: string): string => `0x${Buffer.from(name).toString('hex').padStart(64, '0')}`
  let asked: string[] = []
  const onList = { call: (): void => undefined }
  let isAway = false
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    if (isAway) {
      response.destroy()
      return onList.call()
    }
    const found = [...views].find(([name]) => url.endsWith(idOf(name)))
    const list = [...views.keys()].map((name) => ({ id: idOf(name), name }))
    response.end(JSON.stringify(found === undefined ? { views: list } : { sdl: found[1] }))
    if (found === undefined) onList.call()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const listed = (): Promise<void> =>
    new Promise((resolve) => Object.assign(onList, { call: resolve }))
  const started = watch('--host', `http://127.0.0.1:${port}`)
  assert.equal(await started.until(waits), `views.ts written: A\n${waiting}`)
  const { mtimeNs } = statSync(path('views.ts'), { bigint: true })

  asked = []
  await listed()
  await listed()
  assert.deepEqual(new Set(asked), new Set(['/api/v0/views']))
  assert.equal(statSync(path('views.ts'), { bigint: true }).mtimeNs, mtimeNs)

  isAway = true
  assert.match(await started.until(waits), /^error: no answer from http:\/\/127\.0\.0\.1:\d+\n/)
  await listed()
  views.set('B', 'type B { y: Int }')
  isAway = false
  assert.equal(await started.until(waits), `views.ts written: A, B\n${waiting}`)
  assert.match(read(), /BQuery/)
  started.interrupt()
  assert.equal(await started.ended, 130)
})

test('--watch ends at once where it could never write, or what is given cannot be watched', async (t) => {
  const { run, path } = await open(t)
  writeFileSync(path('a.graphql'), 'type A { x: Int }')
  writeFileSync(path('views.ts'), 'export const mine = 1\n')
  mkdirSync(path('folder'))
  const argv = ['types', '--file', 'a.graphql', '--watch']
  for (const [more, code, message] of [
    [['--out', 'views.ts'], 1, /views\.ts was not written by viewmesh types\n/],
    [['--out', 'folder', '--force'], 1, /folder is no file\n/],
    [[], 2, /--watch is given without --out\n/],
    [['--out', 'v.ts', '--json'], 2, /--watch and --json are both given\n/],
    [['--out', 'v.ts', '--file', '-'], 2, /--watch is given with --file -\n/],
  ] as const) {
    const { exitCode, stderr } = await run([...argv, ...more])
    assert.deepEqual([exitCode, message.test(stderr)], [code, true], stderr)
  }
  const { exitCode, stderr } = await run(['types', '--host', 'ftp://x', '--out', 'v.ts', '--watch'])
  assert.equal(exitCode, 2)
  assert.match(stderr, /"ftp:\/\/x" is not a URL of a Host/)
})
