/** What people read of the Views of a project, whole. */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lensHash } from '../../../src/views/lens-hash.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const filter = fileURLToPath(new URL('../../../src/lenses/filter.wasm', import.meta.url))
const wasm = await readFile(filter)
const args = { src: 'address', value: '0x1' }

/** A project with an empty View and one with two lenses. */
async function openProject(context: TestContext) {
  const terminal = await openTestTerminal(context)
  const { json } = terminal
  await json('view', 'init')
  await json('view', 'create', 'Empty')
  const sdl = 'type Full { address: String }'
  await json('view', 'create', 'Full', '--query', 'Log { address data }', '--sdl', sdl)
  const add = ['view', 'add', 'lens', '--name', 'Full', '--path', filter, '--label']
  await json(...add, 'first', '--args', JSON.stringify(args))
  await json(...add, 'second')
  const printed = async (...argv: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await terminal.run(['view', ...argv])
    assert.deepEqual([exitCode, stderr], [0, ''])
    return stdout
  }
  return { ...terminal, printed }
}

test('view list has version and lenses of each View, and why one cannot be read', async (t) => {
  const { cwd, json, printed } = await openProject(t)
  const broken = join(cwd, 'views/Broken')
  await mkdir(broken)
  await writeFile(join(broken, 'view.yaml'), 'lenses: 3')
  const error = 'views/Broken/view.yaml has lenses that are not a list'
  assert.equal(
    await printed('list'),
    [
      'NAME    VERSION  LENSES',
      `Broken  -        ${error}`,
      'Empty   1        (no lenses)',
      'Full    3        first > second',
      '',
    ].join('\n'),
  )
  assert.deepEqual(await json('view', 'list'), {
    folder: cwd,
    views: [
      { name: 'Broken', revision: null, lenses: [], error },
      { name: 'Empty', revision: 1, lenses: [], error: null },
      { name: 'Full', revision: 3, lenses: ['first', 'second'], error: null },
    ],
  })
})

test('view list shows no more than a line of why a View of a stranger cannot be read', async (t) => {
  const { cwd, json } = await openProject(t)
  const reasonFor = async (text: string): Promise<string> => {
    await writeFile(join(cwd, 'views/Full/view.yaml'), text)
    const { views } = (await json('view', 'list')) as { readonly views: { error: string | null }[] }
    return views.flatMap(({ error }) => error ?? []).join()
  }
  const name = 'long '.repeat(16).trim()
  assert.equal(
    await reasonFor(`{ ${'long '.repeat(10_000)} }`),
    `views/Full/view.yaml has ${name}… in it, which is not known`,
  )
  const unclosed = await reasonFor(`query: "${'long '.repeat(10_000)}`)
  assert.match(unclosed, /^views\/Full\/view\.yaml .{1,280}$/)
  const file = 'a/'.repeat(200)
  const missing = await reasonFor(`lenses: [{ label: first, file: ${file}lens.wasm }]`)
  assert.equal(missing, `the lens first has no file ${file}`.slice(0, 300))
})

test('view init says whether the folder was a project before', async (t) => {
  const { cwd, run } = await openTestTerminal(t)
  assert.equal((await run(['view', 'init'])).stdout, `${cwd} is a project now\n`)
  assert.equal((await run(['view', 'init'])).stdout, `${cwd} is a project already\n`)
})

test('view list says where there are no Views', async (t) => {
  const { cwd, run } = await openTestTerminal(t)
  await run(['view', 'init'])
  assert.equal((await run(['view', 'list'])).stdout, `no Views in ${cwd}\n`)
})

test('view inspect shows every part of a View, and which are missing', async (t) => {
  const { json, printed } = await openProject(t)
  const hash = lensHash(wasm)
  const lens = (label: string): string =>
    `  - ${label} (lenses/Full.${label}.wasm, ${wasm.length} bytes, ${hash})`
  assert.equal(
    await printed('inspect', 'Full'),
    [
      'View: Full\nVersion: 3',
      'Query:\n  Log { address data }',
      'SDL:\n  type Full { address: String }',
      `Lenses:\n${lens('first')}\n      src: address\n      value: 0x1\n${lens('second')}\n      (no arguments)\n`,
    ].join('\n'),
  )
  assert.equal(
    await printed('inspect', 'Empty'),
    'View: Empty\nVersion: 1\nQuery:\n  (none)\nSDL:\n  (none)\nLenses:\n  (none)\n',
  )
  const listed = (label: string, given: object | null) => ({
    ...{ label, file: `lenses/Full.${label}.wasm`, hash, bytes: wasm.length, args: given },
  })
  assert.deepEqual(await json('view', 'inspect', 'Full'), {
    ...{ name: 'Full', revision: 3, query: 'Log { address data }' },
    sdl: 'type Full { address: String }',
    lenses: [listed('first', args), listed('second', null)],
  })
})

test('view size has bytes, limit and share of every part', async (t) => {
  const { json, printed } = await openProject(t)
  const { parts } = (await json('view', 'size', 'Full')) as {
    parts: { part: string; bytes: number; limit: number }[]
  }
  const [wire, ...others] = parts
  assert.equal(wire?.limit, 384 * 1024)
  assert.deepEqual(others, [
    { part: 'query', bytes: 20, limit: 8_192 },
    { part: 'SDL', bytes: 29, limit: 8_192 },
    { part: 'arguments of first', bytes: JSON.stringify(args).length, limit: 65_536 },
    { part: 'arguments of second', bytes: 0, limit: 65_536 },
    { part: 'lenses, not compressed', bytes: 2 * wasm.length, limit: 10 * 1024 * 1024 },
  ])
  const lines = (await printed('size', 'Full')).split('\n')
  assert.match(lines[0] ?? '', /^PART +BYTES +LIMIT +USED$/)
  assert.match(lines[2] ?? '', /^query +20 +8192 +0\.2 %$/)
  await json(
    'view',
    'add',
    'query',
    'Log { address }'.replace(' ', ' '.repeat(8_178)),
    '--name',
    'Full',
  )
  assert.match(await printed('size', 'Full'), /^query +8192 +8192 +100\.0 %$/m)
})
