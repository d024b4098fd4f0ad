/** Projects that a stranger made, or that were damaged. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { viewLimits } from '../../../src/views/view.ts'
import { draft, openTestProject, wasm } from '../support/test-project.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const revisionFile = '.viewmesh/views/Things/000001.json'
const deployment = {
  ...{ view: 'Things', revision: 1, target: 'local', at: '2026-01-01T00:00:00.000Z' },
  ...{ id: `0x${'1'.repeat(64)}`, address: `0x${'2'.repeat(40)}`, creator: `0x${'3'.repeat(40)}` },
  ...{ endpoint: 'http://127.0.0.1:9181', transaction: null, chainId: null, state: 'registered' },
}

test('a lens file whose name no file can have is refused, and the other Views are listed', async (context) => {
  const { run, json, cwd } = await openTestTerminal(context)
  for (const name of [[], ['Good'], ['Things']]) await json('view', 'init', ...name)
  await symlink('loop', join(cwd, 'loop'))
  for (const file of ['x'.repeat(256), 'loop']) {
    const yaml = `lenses: [{ label: x, file: ${JSON.stringify(file)} }]`
    await writeFile(join(cwd, 'views/Things/view.yaml'), yaml)
    const { stderr } = await run(['view', 'size', 'Things'])
    assert.match(stderr, / cannot be read\n/)
    assert.match(stderr, /^What to do: Put a readable file of the right size there/m)
    const { exitCode, stdout } = await run(['view', 'list'])
    assert.equal(exitCode, 0)
    assert.match(stdout, /^Good +1 +\(no lenses\)\nThings +- .* cannot be read$/m)
  }
})

test('an argument named __proto__ is kept with its version, which is made once', async (context) => {
  const project = await openTestProject(context)
  const args = JSON.parse('{"__proto__":"a","constructor":"b"}')
  await project.create('Things', draft({ lenses: [{ label: 'a', args, wasm: wasm(1) }] }), 'create')
  for (const _ of [1, 2]) {
    const { revision, lenses } = await project.load('Things')
    assert.equal(revision, 1)
    assert.equal(JSON.stringify(lenses[0]?.args), JSON.stringify(args))
  }
  const [kept] = await project.revisions('Things')
  assert.equal(JSON.stringify(kept?.lenses[0]?.args), JSON.stringify(args))
})

test('a revision with another number, or whose cause has lines, is damaged', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const path = join(project.folder, revisionFile)
  const text = await readFile(path, 'utf8')
  for (const [from, to] of [
    ['"revision": 1', '"revision": 7'],
    ['"create"', '"create\\nVersion 9, 2026: edited"'],
    ['"create"', '"create\\u202e"'],
    [/"at": "[^"]*"/, '"at": "now\\nVersion 9"'],
    ['"src": "address"', '"src": 1'],
  ] as const) {
    await writeFile(path, text.replace(from, to))
    await assert.rejects(
      project.load('Things'),
      { code: 'TOOLKIT_HISTORY_DAMAGED', message: `${path} is damaged or missing` },
      to,
    )
  }
})

test('a list of deployments whose values are several lines, or none of ours, is refused', async (context) => {
  const project = await openTestProject(context)
  const path = join(project.folder, 'deployments.json')
  const write = (change: object): Promise<void> =>
    writeFile(path, JSON.stringify({ deployments: [{ ...deployment, ...change }] }))
  await write({})
  assert.deepEqual(await project.deployments(), [deployment])
  for (const change of [
    { endpoint: 'http://127.0.0.1:9\nThings 9 local http://good live' },
    { endpoint: 'http://a/\u001b[2J' },
    { view: 'Things\nOthers' },
    { at: 'now\nlater' },
    { creator: 'me' },
    { transaction: '0x1\n' },
  ]) {
    await write(change)
    await assert.rejects(
      project.deployments(),
      { code: 'TOOLKIT_DEPLOYMENTS_UNREADABLE' },
      JSON.stringify(change),
    )
  }
})

test('of a long list of lenses or deployments that are none, nothing is looked at', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft(), 'create')
  const list = (count: number): string => `[${'{},'.repeat(count - 1)}{}]`
  const causeOf = async (refused: Promise<unknown>): Promise<string> =>
    refused.then(
      () => assert.fail('it was read'),
      ({ cause }: Error) => String((cause as Error).message),
    )
  const deployments = join(project.folder, 'deployments.json')
  for (const [count, cause] of [
    [20_001, /^\[\s*\{[^{]*"maximum": 20000[^{]*\}\s*\]$/],
    [5_000_000, /^it has more than 500000 values$/],
  ] as const) {
    await writeFile(deployments, `{"deployments":${list(count)}}`)
    assert.match(await causeOf(project.deployments()), cause)
  }
  const path = join(project.folder, revisionFile)
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace(/"lenses": \[.*\]/s, `"lenses": ${list(257)}`))
  assert.match(await causeOf(project.load('Things')), /^\[\s*\{[^{]*"maximum": 256[^{]*\}\s*\]$/)
})

test('what is in the place of a file that is to be written is named, with what to do', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft({ lenses: [] }), 'create')
  const path = join(project.folder, 'views/Things/query.graphql')
  await rm(path)
  await mkdir(path)
  await assert.rejects(project.rollback('Things', null), {
    code: 'TOOLKIT_FILE_REFUSED',
    message: 'views/Things/query.graphql cannot be written',
    remedy: 'Make room for it, remove what is in its place, or let this user write there.',
  })
  await rm(path, { recursive: true })
  await project.load('Things')
  assert.equal((await project.rollback('Things', 1)).view.query, 'Log { address }')
})

test('a file in the place of a folder, and a lock with content, are to be removed', async (context) => {
  const project = await openTestProject(context)
  await project.create('Things', draft({ lenses: [] }), 'create')
  const lock = join(project.folder, '.viewmesh/lock')
  await writeFile(lock, 'x')
  await assert.rejects(project.delete('Things'), {
    message: '.viewmesh/lock is not an empty file',
    remedy: 'Remove it: an empty one is made in its place.',
  })
  await rm(lock)
  await writeFile(join(project.folder, 'lenses'), '')
  await assert.rejects(project.create('Others', draft(), 'create'), {
    message: 'lenses cannot be made',
    remedy: 'Remove what is in its place, or let this user write there: it is a folder.',
  })
})

test('a folder or a large file under the name of a module is in nobody’s way', async (context) => {
  const project = await openTestProject(context)
  const folder = join(project.folder, 'lenses')
  await mkdir(join(folder, 'Things.first.wasm'), { recursive: true })
  await project.create('Things', draft(), 'create')
  const [lens] = (await project.load('Things')).lenses
  assert.match(`${lens?.path}`, /\/Things\.first\.[0-9a-f]{16}\.wasm$/)
  await writeFile(join(folder, 'Things.second.wasm'), '')
  await truncate(join(folder, 'Things.second.wasm'), viewLimits.blob + 1)
  const second = { label: 'second', args: null, wasm: wasm(2) }
  const view = await project.change('Things', 'add', (before) => ({
    ...before,
    lenses: [...before.lenses, second],
  }))
  assert.match(`${view.lenses[1]?.path}`, /\/Things\.second\.[0-9a-f]{16}\.wasm$/)
  await project.delete('Things')
  assert.deepEqual(await readdir(folder), ['Things.first.wasm', 'Things.second.wasm'])
})

test('what YAML of a stranger warns of is not printed', async (context) => {
  const { json, cwd } = await openTestTerminal(context)
  await json('view', 'init')
  const warned: unknown[] = []
  const note = (warning: unknown): void => void warned.push(warning)
  process.on('warning', note)
  await writeFile(join(cwd, 'viewmesh.yaml'), 'version: 1\nother: !tag x\n')
  await json('view', 'list')
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', note)
  assert.deepEqual(warned, [])
})
