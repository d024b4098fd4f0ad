import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { repository } from '../../support/repository.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const filter = fileURLToPath(new URL('../../../src/lenses/filter.wasm', import.meta.url))
const query = 'Log { address topics data blockNumber }'
const sdl = 'type Things { address: String }'

/** A project with the View `Things`. */
async function openProjectTerminal(context: TestContext) {
  const terminal = await openTestTerminal(context)
  await terminal.json('view', 'init')
  await terminal.json('view', 'create', 'Things', '--query', query, '--sdl', sdl)
  return terminal
}

/** Arguments of the command in the tests below. */
const addLens = ['view', 'add', 'lens', '--name', 'Things'] as const

/** Service page: "`--label <string>` always required; exactly one of `--path <local wasm file>` or `--url <remote url>`". */
test('service page: "either --path or --url must be provided"; --label is always required', async (context) => {
  const { run } = await openProjectTerminal(context)
  const page = `error: either --path or --url must be provided`
  for (const flags of [[], ['--label', 'x']]) {
    const { exitCode, stderr } = await run([...addLens, ...flags])
    assert.equal(exitCode, 2)
    assert.equal(stderr.split('\n')[0], page)
  }
  const both = await run([...addLens, '--label', 'x', '--path', 'a', '--url', 'http://b'])
  assert.match(both.stderr, /^error: either --path or --url must be provided, not both\n/)
  const unlabelled = await run([...addLens, '--path', filter])
  assert.match(
    unlabelled.stderr,
    /^error: --label is required\n[\s\S]*\nUsage: viewmesh view add lens /,
  )
})

/** Service page: "`--args <json object>` optional, all values must be strings", and its row in "Limits". */
for (const [args, what] of [
  ['{"a": 1}', 'the value of a is not a string'],
  ['{"abi": ["x"]}', 'the value of abi is not a string'],
  ['["a"]', 'it is not an object'],
  ['null', 'it is not an object'],
  ['{', "Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
] as const)
  test(`service page: "invalid --args JSON" for ${args}; make every value a string`, async (context) => {
    const { run } = await openProjectTerminal(context)
    const result = await run([...addLens, '--label', 'x', '--path', filter, '--args', args])
    assert.equal(result.exitCode, 2)
    const [message, remedy] = result.stderr.split('\n')
    assert.equal(message, `error: invalid --args JSON: ${what}`)
    assert.match(`${remedy}`, /^What to do: Make every value a string;/)
  })

/**
 * Service page: "Adding or removing a lens or SDL creates a new revision", "Local Views keep revisions; each add or
 * remove makes a new revision, and rollback returns to an earlier one"; its states: "View (local) revision n", moved by "each lens
 * or SDL add or remove", to "revision n+1".
 */
test('service page: each lens or SDL add or remove is the next revision', async (context) => {
  const { json } = await openProjectTerminal(context)
  const revisionAfter = async (...argv: string[]): Promise<unknown> => {
    const { revision } = (await json('view', ...argv, '--name', 'Things')) as { revision: number }
    return revision
  }
  const args = '{"src": "address", "value": "0x1"}'
  assert.equal(
    await revisionAfter('add', 'lens', '--label', 'a', '--path', filter, '--args', args),
    2,
  )
  assert.equal(await revisionAfter('add', 'sdl', 'type Things { address: String @index }'), 3)
  assert.equal(await revisionAfter('remove', 'sdl'), 4)
  assert.equal(await revisionAfter('remove', 'lens', '--label', 'a'), 5)
  assert.equal(await revisionAfter('add', 'query', 'Log { data }'), 6)
  assert.equal(await revisionAfter('remove', 'query'), 7)
})

/** Service page: "replaces the whole SDL; it does not merge, so the complete type definition must be supplied". */
test('service page: add sdl replaces the whole SDL', async (context) => {
  const { json } = await openProjectTerminal(context)
  const other = 'type Things { data: String }'
  const changed = await json('view', 'add', 'sdl', other, '--name', 'Things')
  assert.equal((changed as { sdl: string }).sdl, other)
})

test('service page: inspect --verbose shows the full revision history, with what changed', async (context) => {
  const { run, json } = await openProjectTerminal(context)
  const added = 'type Things {\n  address: String\n  data: String\n}'
  await json('view', 'add', 'sdl', 'type Things {\n  address: String\n}', '--name', 'Things')
  await json('view', 'add', 'sdl', added, '--name', 'Things')
  const { stdout } = await run(['view', 'inspect', 'Things', '--verbose'])
  const history = stdout.slice(stdout.indexOf('\n\n') + 2).replaceAll(/, \d{4}-.*Z:/g, ':')
  assert.equal(
    history,
    `Version 3: add sdl
  SDL:
    +   data: String

Version 2: add sdl
  SDL:
    - type Things { address: String }
    + type Things {
    +   address: String
    + }

Version 1: create
  query:
    + Log { address topics data blockNumber }
  SDL:
    + type Things { address: String }
`,
  )
})

test('service page: rollback reverts a local View to a previous version', async (context) => {
  const { run, json } = await openProjectTerminal(context)
  const before = await json('view', 'inspect', 'Things')
  await json(...addLens, '--label', 'a', '--path', filter)
  const { exitCode, stdout, stderr } = await run(['view', 'rollback', 'Things', '--json'])
  assert.deepEqual([exitCode, stderr], [0, 'version 3 of Things is version 1 again\n'])
  assert.deepEqual(JSON.parse(stdout), { ...(before as object), revision: 3 })
  const none = await run(['view', 'rollback', 'Things', '--version', '0'])
  assert.equal(none.exitCode, 2)
})

test('rollback writes a lost lens again, and an earlier version after it', async (context) => {
  const { run, json, cwd } = await openProjectTerminal(context)
  await json(...addLens, '--label', 'a', '--path', filter)
  const before = await json('view', 'inspect', 'Things')
  await rm(join(cwd, 'lenses'), { recursive: true })
  const lost = await run(['view', 'inspect', 'Things'])
  assert.match(lost.stderr, /^error: the lens a has no file lenses\/Things\.a\.wasm\n/)
  const { exitCode, stderr } = await run(['view', 'rollback', 'Things'])
  assert.deepEqual([exitCode, stderr], [0, 'the files of Things are version 2 again\n'])
  assert.deepEqual(await json('view', 'inspect', 'Things'), before)
  await rm(join(cwd, 'lenses/Things.a.wasm'))
  const earlier = await run(['view', 'rollback', 'Things', '--version', '1'])
  assert.deepEqual(
    [earlier.exitCode, earlier.stderr],
    [0, 'version 3 of Things is version 1 again\n'],
  )
})

test('inspect shows what was kept of a View whose files cannot be read, and fails', async (context) => {
  const { run, json, cwd } = await openProjectTerminal(context)
  await json(...addLens, '--label', 'a', '--path', filter)
  await rm(join(cwd, 'lenses'), { recursive: true })
  const text = await run(['view', 'inspect', 'Things'])
  assert.equal(text.exitCode, 1)
  assert.match(
    text.stdout,
    /^View: Things, as it was kept: its files cannot be read now\n\nVersion 2, /,
  )
  assert.doesNotMatch(text.stdout, /Version 1/)
  assert.match(text.stdout, /\+ a \(\d+ bytes, sha256 [0-9a-f]{64}\)/)
  const { stdout } = await run(['view', 'inspect', 'Things', '--json', '--verbose'])
  const { revision, error, lenses, revisions } = JSON.parse(stdout)
  assert.equal(error, 'the lens a has no file lenses/Things.a.wasm')
  assert.deepEqual([revision, lenses[0].label, revisions.length], [2, 'a', 2])
  assert.match((await run(['view', 'inspect', 'Things', '--verbose'])).stdout, /\nVersion 1, /)
  const short = await run(['view', 'inspect', 'Things', '--json'])
  assert.ok(!('revisions' in JSON.parse(short.stdout)))
  await json('view', 'init', 'Once')
  await writeFile(join(cwd, 'views/Once/view.yaml'), 'lenses: 3')
  const once = await run(['view', 'inspect', 'Once', '--json'])
  assert.equal(JSON.parse(once.stdout).revision, 1)
  await rm(join(cwd, '.viewmesh'), { recursive: true })
  assert.equal((await run(['view', 'inspect', 'Things'])).stdout, '')
})

test('a lens whose module is lost can be removed, and comes back with a rollback', async (context) => {
  const { json, cwd } = await openProjectTerminal(context)
  const withLens = await json(...addLens, '--label', 'a', '--path', filter)
  await rm(join(cwd, 'lenses/Things.a.wasm'))
  const removed = await json('view', 'remove', 'lens', '--label', 'a', '--name', 'Things')
  assert.deepEqual((removed as { lenses: unknown[] }).lenses, [])
  const again = await json('view', 'rollback', 'Things')
  assert.deepEqual(again, { ...(withLens as object), revision: 4 })
})

test('rollback writes a broken view.yaml again and keeps what was edited beside it', async (context) => {
  const { run, json, cwd } = await openProjectTerminal(context)
  await json(...addLens, '--label', 'a', '--path', filter)
  const before = await json('view', 'inspect', 'Things')
  await writeFile(join(cwd, 'views/Things/view.yaml'), 'lenses: 3')
  await writeFile(join(cwd, 'views/Things/query.graphql'), 'Log { data }')
  assert.equal((await run(['view', 'inspect', 'Things'])).exitCode, 1)
  const restored = await json('view', 'rollback', 'Things')
  assert.deepEqual(restored, { ...(before as object), revision: 3, query: 'Log { data }' })
})

/** Service page: "Lens labels identify individual lenses in a chain for removal". */
test('service page: lens labels identify individual lenses in a chain for removal', async (context) => {
  const { json } = await openProjectTerminal(context)
  for (const label of ['a', 'b', 'c']) await json(...addLens, '--label', label, '--path', filter)
  const removed = await json('view', 'remove', 'lens', '--name', 'Things', '--label', 'b')
  const { lenses } = removed as { readonly lenses: readonly { readonly label: string }[] }
  assert.deepEqual(
    lenses.map(({ label }) => label),
    ['a', 'c'],
  )
})

test('a second lens of one label, and one that is not there, are refused with exit code 1', async (context) => {
  const { run, json } = await openProjectTerminal(context)
  await json(...addLens, '--label', 'decode', '--path', filter)
  const twice = await run([...addLens, '--label', 'decode', '--path', filter])
  assert.equal(twice.exitCode, 1)
  assert.match(twice.stderr, /^error: lens with label "decode" already exists\n/)
  const unknown = await run(['view', 'remove', 'lens', '--name', 'Things', '--label', 'decoed'])
  assert.equal(unknown.exitCode, 1)
  assert.match(
    unknown.stderr,
    /^error: view 'Things' has no lens with the label "decoed"; did you mean decode\?\n/,
  )
})

for (const label of ['..', '../x', 'a/b', '.hidden', 'a..b', 'x.', ''])
  test(`the label ${JSON.stringify(label)} is refused, and no file is written`, async (context) => {
    const { run, cwd } = await openProjectTerminal(context)
    const result = await run([...addLens, '--label', label, '--path', filter])
    assert.equal(result.exitCode, 2)
    assert.match(result.stderr, /cannot be the label of a lens\n/)
    assert.ok(!(await readdir(cwd)).includes('lenses'))
  })

test('what is wrong with a part is said with its place before anything is kept', async (context) => {
  const { run, json } = await openProjectTerminal(context)
  const before = await json('view', 'inspect', 'Things')
  const inQuery = await run(['view', 'add', 'query', 'Log { adress }', '--name', 'Things'])
  assert.match(inQuery.stderr, /^error: the query, line 1, column 7: .*adress.*\n/)
  const inSdl = await run(['view', 'add', 'sdl', 'type A { b: Money }', '--name', 'Things'])
  assert.match(inSdl.stderr, /^error: the SDL, line 1, column 13: the field b has the type Money\n/)
  const limit = await run(['view', 'add', 'query', 'Log(limit: 1) { data }', '--name', 'Things'])
  assert.match(limit.stderr, /limit says nothing about a block alone/)
  const module = await run([...addLens, '--label', 'a', '--path', join(repository, 'package.json')])
  assert.equal(module.exitCode, 1)
  assert.match(module.stderr, /WebAssembly|module/)
  const missing = await run([...addLens, '--label', 'a', '--path', 'nowhere.wasm'])
  assert.match(missing.stderr, /^error: the lens nowhere.wasm cannot be read\n/)
  assert.deepEqual(await json('view', 'inspect', 'Things'), before)
})

test('a part is checked also where there is nothing that it has to go with', async (context) => {
  const { run, json } = await openTestTerminal(context)
  await json('view', 'init', 'Bare')
  const refused = async (...argv: string[]): Promise<string | undefined> =>
    (await run(['view', ...argv])).stderr.split('\n')[0]
  const inQuery = /^error: the query, line 1, column 7: .*adress/
  assert.match(`${await refused('add', 'query', 'Log { adress }', '--name', 'Bare')}`, inQuery)
  assert.match(`${await refused('create', 'New', '--query', 'Log { adress }')}`, inQuery)
  const inSdl = /^error: the SDL, line 1, column 13: the field b has the type Money/
  assert.match(`${await refused('add', 'sdl', 'type A { b: Money }', '--name', 'Bare')}`, inSdl)
  const long = 'Log { data }'.padEnd(8_193)
  assert.match(`${await refused('add', 'query', long, '--name', 'Bare')}`, /8192 are accepted$/)
  const { views } = (await json('view', 'list')) as { views: unknown }
  assert.deepEqual(views, [{ name: 'Bare', revision: 1, lenses: [], error: null }])
})

test('queries and SDLs come from files and standard input as well', async (context) => {
  const { run, json, cwd } = await openProjectTerminal(context)
  await writeFile(join(cwd, 'q'), 'Log { data }\n')
  const flags = ['--name', 'Things', '--json']
  await json('view', 'add', 'query', '--file', 'q', '--name', 'Things')
  const piped = await run(['view', 'add', 'sdl', '--file', '-', ...flags], {
    stdin: 'type Things { data: String }\n',
  })
  assert.deepEqual(
    [JSON.parse(piped.stdout).query, JSON.parse(piped.stdout).sdl],
    ['Log { data }', 'type Things { data: String }'],
  )
  const both = await run(['view', 'add', 'query', 'x', '--file', 'q', ...flags])
  assert.equal(both.exitCode, 2)
})

test('without --name the View to change is asked for', async (context) => {
  const { run } = await openProjectTerminal(context)
  const { exitCode, stderr } = await run(['view', 'add', 'query', 'Log { data }'])
  assert.equal(exitCode, 2)
  assert.match(stderr, /^error: view name is required \(use --name\)\n/)
})

test('create makes a whole View with its lenses, or nothing', async (context) => {
  const { run, json } = await openTestTerminal(context)
  const lens = `keep:${filter}:{"src": "address", "value": "0x1"}`
  const parts = ['--query', query, '--sdl', sdl]
  const refused = await run(['view', 'create', 'New', ...parts, '--lens', lens, '--lens', lens])
  assert.match(refused.stderr, /^error: two lenses have the label keep\n/)
  assert.deepEqual(((await json('view', 'list')) as { views: unknown[] }).views, [])
  const others = ['--lens', lens, '--lens', `other:${filter}`]
  const made = await json('view', 'create', 'New', ...parts, ...others)
  const { lenses, revision } = made as { lenses: { label: string; args: unknown }[]; revision: 1 }
  assert.deepEqual(
    [revision, lenses.map(({ label, args }) => [label, args])],
    [
      1,
      [
        ['keep', { src: 'address', value: '0x1' }],
        ['other', null],
      ],
    ],
  )
})

test('create refuses a name that no View can have before it reads a lens', async (context) => {
  const { run } = await openTestTerminal(context)
  const lens = 'decode:https://127.0.0.1:1/never-asked.wasm'
  const argv = ['view', 'create', 'not a name', '--query', query, '--sdl', sdl, '--lens', lens]
  const { exitCode, stderr } = await run(argv)
  assert.equal(exitCode, 2)
  assert.equal(stderr.split('\n')[0], 'error: "not a name" cannot be the name of a View')
})

test('a lens that a project within this one builds is read in place, others are copied', async (context) => {
  const { json, cwd } = await openProjectTerminal(context)
  await mkdir(join(cwd, 'lenses/mine/build'), { recursive: true })
  const built = join(cwd, 'lenses/mine/build/mine.wasm')
  await copyFile(filter, built)
  await json(...addLens, '--label', 'mine', '--path', built)
  await json(...addLens, '--label', 'copied', '--path', filter)
  const { lenses } = (await json('view', 'inspect', 'Things')) as { lenses: { file: string }[] }
  assert.deepEqual(
    lenses.map(({ file }) => file),
    ['lenses/mine/build/mine.wasm', 'lenses/Things.copied.wasm'],
  )
  await copyFile(join(filter, '../decode_log.wasm'), built)
  const { revision } = (await json('view', 'inspect', 'Things')) as { revision: number }
  assert.equal(revision, 4)
  await json('view', 'rollback', 'Things')
  assert.notDeepEqual(await readFile(built), await readFile(filter))
})

test('size shows each part beside its limit, and what is incomplete has none', async (context) => {
  const { run, json } = await openProjectTerminal(context)
  const { parts } = (await json('view', 'size', 'Things')) as { parts: { part: string }[] }
  assert.deepEqual(parts.slice(1), [
    { part: 'query', bytes: 39, limit: 8192 },
    { part: 'SDL', bytes: 31, limit: 8192 },
    { part: 'lenses, not compressed', bytes: 0, limit: 10_485_760 },
  ])
  await json('view', 'remove', 'sdl', '--name', 'Things')
  const { exitCode, stderr } = await run(['view', 'size', 'Things'])
  assert.equal(exitCode, 1)
  assert.match(stderr, /^error: view 'Things' has no SDL yet\n/)
})

test('a deleted View is gone, and what is mistyped is not deleted', async (context) => {
  const { run, json } = await openProjectTerminal(context)
  const mistyped = await run(['view', 'delete', 'Thing'])
  assert.match(mistyped.stderr, /^error: view 'Thing' does not exist; did you mean Things\?\n/)
  assert.deepEqual(await json('view', 'delete', 'Things'), { deleted: 'Things', deployments: [] })
  assert.equal((await run(['view', 'inspect', 'Things'])).exitCode, 1)
})
