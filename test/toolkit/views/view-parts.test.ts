/** What is refused of a query, an SDL, arguments and modules before a View is changed, and where modules are kept. */
import assert from 'node:assert/strict'
import { copyFile, mkdir, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseLensArguments } from '../../../src/toolkit/views/lens-arguments.ts'
import { checkQuery, checkSdl } from '../../../src/toolkit/views/view-parts.ts'
import { viewLimits } from '../../../src/views/view.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const filter = fileURLToPath(new URL('../../../src/lenses/filter.wasm', import.meta.url))

test('a query, an SDL and arguments may be as long as those of a View, and no longer', () => {
  const quoted = (bytes: number): string => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`
  const parts = [
    ['the query', viewLimits.query, (bytes: number) => checkQuery('Log { data }'.padEnd(bytes))],
    ['the SDL', viewLimits.sdl, (bytes: number) => checkSdl('type A { a: Int }'.padEnd(bytes))],
    ['--args', viewLimits.args, (bytes: number) => parseLensArguments(quoted(bytes))],
  ] as const
  for (const [name, limit, check] of parts) {
    check(limit)
    assert.throws(() => check(limit + 2), {
      code: 'VIEWS_TOO_LARGE',
      message: `${name} has ${limit + 2} bytes, and ${limit} are accepted`,
    })
  }
})

test('a module may be as large as all of a View, and no larger', async (context) => {
  const { run, json, cwd } = await openTestTerminal(context)
  await json('view', 'init', 'Things')
  const file = join(cwd, 'lens.wasm')
  await writeFile(file, '')
  const add = async (bytes: number): Promise<string> => {
    await truncate(file, bytes)
    const argv = ['view', 'add', 'lens', '--name', 'Things', '--label', 'a', '--path', 'lens.wasm']
    return (await run(argv)).stderr.split('\n')[0] ?? ''
  }
  assert.match(await add(viewLimits.blob), /^error: the module of a lens is refused: /)
  const message = `error: the module has ${viewLimits.blob + 1} bytes, and ${viewLimits.blob} are accepted`
  assert.equal(await add(viewLimits.blob + 1), message)
})

test('a View has 256 lenses at most, and one more is refused before it is kept', async (context) => {
  const { run, json, cwd } = await openTestTerminal(context)
  await json('view', 'init')
  await json('view', 'init', 'Things')
  await mkdir(join(cwd, 'lenses'))
  await copyFile(filter, join(cwd, 'lenses/all.wasm'))
  const listed = Array.from(
    { length: 255 },
    (_, index) => `  - { label: l${index}, file: lenses/all.wasm }\n`,
  )
  await writeFile(join(cwd, 'views/Things/view.yaml'), `lenses:\n${listed.join('')}`)
  const add = ['view', 'add', 'lens', '--name', 'Things', '--path', filter, '--label']
  const { lenses } = (await json(...add, 'last')) as { lenses: readonly unknown[] }
  assert.equal(lenses.length, 256)
  const given = Array.from({ length: 257 }, (_, index) => ['--lens', `l${index}:${filter}`])
  for (const argv of [
    [...add, 'other'],
    ['view', 'create', 'Others', ...given.flat()],
  ])
    assert.deepEqual(await run(argv), {
      ...{ exitCode: 1, stdout: '' },
      stderr:
        'error: a View has at most 256 lenses\nWhat to do: Remove one first, or give fewer.\n',
    })
  const { views } = (await json('view', 'list')) as { views: readonly { revision: number }[] }
  assert.deepEqual(
    views.map(({ revision }) => revision),
    [3],
  )
})

test('a View whose query and SDL do not go together is neither made nor changed', async (context) => {
  const { run, json } = await openTestTerminal(context)
  await json('view', 'init')
  const stored = 'type Things { data: String }'
  const computed = 'type Things @materialized(if: false) { data: String }'
  const ofTop = 'Log(limit: 1) { data }'
  const refused = async (...argv: string[]): Promise<void> => {
    const { exitCode, stderr } = await run(['view', ...argv])
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error: the query, .*limit says nothing about a block alone/)
  }
  await refused('create', 'Things', '--query', ofTop, '--sdl', stored)
  await json('view', 'create', 'Things', '--query', ofTop, '--sdl', computed)
  await refused('add', 'sdl', stored, '--name', 'Things')
  await json('view', 'create', 'Others', '--query', 'Log { data }', '--sdl', stored)
  await refused('add', 'query', ofTop, '--name', 'Others')
  const wrong = await run(['view', 'create', 'Wrong', '--sdl', 'type A { b: Money }'])
  assert.match(wrong.stderr, /^error: the SDL, line 1, column 13: the field b has the type Money\n/)
  const { views } = (await json('view', 'list')) as { views: { name: string; revision: number }[] }
  assert.deepEqual(
    views.map(({ name, revision }) => [name, revision]),
    [
      ['Others', 1],
      ['Things', 1],
    ],
  )
})

test('flags that create and add lens would ignore are wrong usage', async (context) => {
  const { run, json } = await openTestTerminal(context)
  await json('view', 'init', 'Things')
  const abi = ['--from-abi', 'abi.json', '--event', 'Transfer']
  const made = '--from-abi makes query, SDL and lens itself'
  const cases = [
    [['create', 'New', ...abi, '--query', 'Log { data }'], made],
    [['create', 'New', ...abi, '--sdl', 'type A { a: Int }'], made],
    [['create', 'New', ...abi, '--lens', 'a:a.wasm'], made],
    [['create', 'New', ...abi.slice(0, 2)], '--event is required with --from-abi'],
    [['create', 'New', '--event', 'Transfer'], '--event and --address are for --from-abi'],
    [['create', 'New', '--address', '0x'], '--event and --address are for --from-abi'],
    [['create', 'New', '--lens', 'a/b:a.wasm'], '"a/b" cannot be the label of a lens'],
    [['create', 'New', '--lens', 'x'.repeat(201)], `--lens takes no "${'x'.repeat(200)}"`],
    [
      ['add', 'lens', '--name', 'Things', '--label', 'a', '--path', filter, '--sha256', 'x'],
      '--sha256 is for --url',
    ],
  ] as const
  for (const [argv, message] of cases) {
    const { exitCode, stderr } = await run(['view', ...argv])
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [2, `error: ${message}`])
  }
})

test('a query is text: a file of other bytes is refused', async (context) => {
  const { run, json, cwd } = await openTestTerminal(context)
  await json('view', 'init', 'Things')
  await writeFile(join(cwd, 'query'), Buffer.from('Log { data } # \u00e9', 'latin1'))
  const argv = ['view', 'add', 'query', '--name', 'Things', '--file', 'query']
  const { exitCode, stderr } = await run(argv)
  assert.deepEqual([exitCode, stderr.split('\n')[0]], [1, 'error: query cannot be read as text'])
})

for (const [what, path, isProject] of [
  ['right among the lenses of a project', 'lenses/a.wasm', true],
  ['in a folder of a project that is not that of lenses', 'mine/build/a.wasm', true],
  ['below the lenses of the home folder, which is no project', 'lenses/mine/a.wasm', false],
] as const)
  test(`a module ${what} is copied, as what lies there is not built for the View`, async (context) => {
    const { json, cwd, homeFolder } = await openTestTerminal(context)
    if (isProject) await json('view', 'init')
    const given = join(isProject ? cwd : join(homeFolder, '.viewmesh'), path)
    await mkdir(dirname(given), { recursive: true })
    await copyFile(filter, given)
    const made = await json('view', 'create', 'Things', '--lens', `a:${given}`)
    const { lenses } = made as { lenses: { file: string }[] }
    assert.deepEqual(
      lenses.map(({ file }) => file),
      ['lenses/Things.a.wasm'],
    )
  })
