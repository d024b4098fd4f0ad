import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startChild } from '../../support/child-program.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { compileErrors } from '../support/compile.ts'
import { modulesToWrite } from '../support/modules-to-write.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const transfers = 'type Transfers { from: String @index to: String @index amount: BigInt }'
const balances = 'type Balances @materialized(if: false) { account: String balance: BigInt }'

/** A folder with the SDL of two Views. */
async function open(t: TestContext) {
  const terminal = await openTestTerminal(t)
  const path = (name: string): string => join(terminal.cwd, name)
  const read = (name: string): string => readFileSync(path(name), 'utf8')
  const write = (name: string, text: string): void => writeFileSync(path(name), text)
  write('transfers.graphql', transfers)
  write('balances.graphql', balances)
  return { ...terminal, path, read, write }
}

const both = ['types', '--file', 'transfers.graphql', '--file', 'balances.graphql'] as const

test('types of files are printed, and with --out they are written, the same and ready to compile', async (t) => {
  const { run, read } = await open(t)
  const { stdout } = await run(both)
  assert.deepEqual(compileErrors({ 'views.ts': stdout }), [])
  assert.deepEqual(await run([...both, '--out', 'views.ts']), {
    exitCode: 0,
    stdout: 'views.ts written: Balances, Transfers\n',
    stderr: '',
  })
  assert.equal(read('views.ts'), stdout)
  const { stdout: fromInput } = await run(['types', '--file', '-'], { stdin: transfers })
  assert.deepEqual(await run(['types', '--file', 'transfers.graphql']), {
    ...{ exitCode: 0, stdout: fromInput, stderr: '' },
  })
})

test('a file that has the types already is left as it is, so that nothing builds again', async (t) => {
  const { run, path, json, write, read } = await open(t)
  await run([...both, '--out', 'views.ts'])
  const { ino, mtimeNs } = statSync(path('views.ts'), { bigint: true })
  const views = ['Balances', 'Transfers']
  assert.deepEqual(await json(...both, '--out', 'views.ts'), {
    ...{ file: 'views.ts', outcome: 'unchanged', views },
  })
  const after = statSync(path('views.ts'), { bigint: true })
  assert.deepEqual([after.ino, after.mtimeNs], [ino, mtimeNs])

  write('balances.graphql', balances.replace('account', 'owner'))
  assert.deepEqual(await json(...both, '--out', 'views.ts'), {
    ...{ file: 'views.ts', outcome: 'written', views },
  })
  assert.match(read('views.ts'), /readonly owner: string \| null/)
})

test('of more than ten Views the first ten are named, with the number of the others', async (t) => {
  const { run, write } = await open(t)
  const namedOf = async (count: number): Promise<string> => {
    const files = Array.from({ length: count }, (_, index) => `v${10 + index}`)
    for (const file of files) write(file, `type V${file.slice(1)} { a: Int }`)
    const { stdout } = await run([
      ...['types', '--out', `${count}.ts`],
      ...files.flatMap((file) => ['--file', file]),
    ])
    return stdout
  }
  const ten = Array.from({ length: 10 }, (_, index) => `V${10 + index}`).join(', ')
  assert.equal(await namedOf(10), `10.ts written: ${ten}\n`)
  assert.equal(await namedOf(11), `11.ts written: ${ten} and 1 more\n`)
})

test('the types of a project are those of all its Views, or of the named ones', async (t) => {
  const { run, json } = await open(t)
  await json('view', 'init')
  await json('view', 'create', 'Transfers', '--query', 'Log { address }', '--sdl', transfers)
  await json('view', 'create', 'Sums', '--query', 'Log { address }', '--sdl', balances)
  const views = async (...argv: string[]) =>
    ((await json('types', ...argv)) as { views: unknown }).views
  assert.deepEqual(await views(), ['Balances', 'Transfers'])
  assert.deepEqual(await views('Sums', 'Sums'), ['Balances'])
  assert.deepEqual(await run(['types', 'Transfer']), {
    exitCode: 1,
    stdout: '',
    stderr:
      "error: view 'Transfer' does not exist; did you mean Transfers?\n" +
      'What to do: viewmesh view list shows the Views of this project.\n',
  })
  assert.equal((await run(['__complete', '--', 'types', 'S'])).stdout, 'Sums\n')
  await json('view', 'init', 'Empty')
  assert.match((await run(['types'])).stderr, /^error: the View Empty has no SDL\n/)
})

test('wrong SDL is refused with its file and place, and what was written before stays', async (t) => {
  const { run, read, write } = await open(t)
  await run([...both, '--out', 'views.ts'])
  const before = read('views.ts')
  write('balances.graphql', 'type Balances {\n  account: Text\n}')
  assert.deepEqual(await run([...both, '--out', 'views.ts']), {
    exitCode: 1,
    stdout: '',
    stderr:
      'error: balances.graphql: the SDL, line 2, column 12: the field account has the type Text\n' +
      '  line: 2\n  column: 12\n' +
      'What to do: Accepted are String, Int, Float, Boolean, ID, BigInt, JSON and lists of them; any value may be null, so no type ends with "!".\n',
  })
  for (const [sdl, code] of [
    [
      Array.from({ length: 400 }, (_, n) => `type T${n}{a:Int}`).join(' '),
      /something follows the type/,
    ],
    ['type Query { a: Int }', /the name Query is taken/],
    ['type A { __proto__: Int }', /the name __proto__ has a meaning of its own/],
    [transfers, /two Views are named Transfers/],
  ] as const) {
    write('balances.graphql', sdl)
    assert.match((await run([...both, '--out', 'views.ts'])).stderr, code)
  }
  assert.equal(read('views.ts'), before)
})

test('an SDL may be as long as that of a View that is registered, and no longer', async (t) => {
  const { run, write } = await open(t)
  const withBytes = (count: number): string => `type A { a: Int } # ${'x'.repeat(count - 20)}`
  write('a.graphql', withBytes(8_192))
  assert.equal((await run(['types', '--file', 'a.graphql'])).exitCode, 0)
  write('a.graphql', withBytes(8_193))
  const { exitCode, stderr } = await run(['types', '--file', 'a.graphql'])
  assert.equal(exitCode, 1)
  assert.match(stderr, /^error: a\.graphql: the SDL has 8193 bytes, and 8192 are accepted\n/)
})

test('what cannot be read where the types are to go is said to be that', async (t) => {
  const { run } = await open(t)
  const { exitCode, stderr } = await run([...both, '--out', `${'a'.repeat(300)}.ts`])
  assert.equal(exitCode, 1)
  assert.match(stderr, /^error: .*\/a{300}\.ts cannot be read\n/)
})

test('a file of somebody else is not written over without --force, and a link never', async (t) => {
  const { run, read, path, write } = await open(t)
  write('mine.ts', 'export const mine = 1\n')
  const refused = await run([...both, '--out', 'mine.ts'])
  assert.deepEqual(refused, {
    exitCode: 1,
    stdout: '',
    stderr:
      `error: ${path('mine.ts')} was not written by viewmesh types\n  path: ${path('mine.ts')}\n` +
      'What to do: Choose another file with --out, or replace this one with --force.\n',
  })
  assert.equal(read('mine.ts'), 'export const mine = 1\n')
  symlinkSync('mine.ts', path('link.ts'))
  assert.match((await run([...both, '--out', 'link.ts', '--force'])).stderr, /link\.ts is a link\n/)
  assert.match((await run([...both, '--out', '.', '--force'])).stderr, /is no file\n/)
  assert.match((await run([...both, '--out', 'no/v.ts'])).stderr, /v\.ts cannot be written\n/)
  assert.equal(read('mine.ts'), 'export const mine = 1\n')
  assert.equal((await run([...both, '--out', 'mine.ts', '--force'])).exitCode, 0)
  assert.match(read('mine.ts'), /TransfersQuery/)
})

const url = 'http://127.0.0.1:9'
const wrongUsage: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
  [
    ['types', 'Transfers', '--file', 'transfers.graphql'],
    /names of Views and --file are both given/,
  ],
  [['types', '--host', url, '--file', 'transfers.graphql'], /--host and --file are both given/],
  [['types', '--file', 'transfers.graphql', '--force'], /--force is given without --out/],
  [['types', '--fil', 'transfers.graphql'], /unknown option '--fil'\n\(Did you mean --file\?\)/],
]

test('flags that cannot be meant end with 2 and the usage', async (t) => {
  const { run } = await open(t)
  for (const [argv, message] of wrongUsage) {
    const { exitCode, stderr } = await run(argv)
    assert.equal(exitCode, 2)
    assert.match(stderr, message)
    assert.match(stderr, /Usage: viewmesh types \[options\] \[name\.\.\.\]\n$/)
  }
})

test('a module is whole after each of several kills while it is written, and drafts go', async (t) => {
  const { path, read, run, cwd } = await open(t)
  const random = createSeededRandom('kills of types')
  for (let round = 0; round < 8; round += 1) {
    const child = startChild('test/toolkit/support/write-modules.ts', { args: [path('views.ts')] })
    await child.says('writing')
    // At a random moment of a loop that does nothing but write: an event would always hit the same.
    await new Promise((resolve) => setTimeout(resolve, 5 + random.int(30)))
    child.process.kill('SIGKILL')
    await once(child.process, 'close')
    const found = readdirSync(cwd).includes('views.ts') ? read('views.ts') : modulesToWrite[0]
    assert.ok(
      modulesToWrite.some((text) => text === found),
      `round ${round}`,
    )
  }
  await run([...both, '--out', 'views.ts'])
  const files = ['balances.graphql', 'transfers.graphql', 'views.ts']
  assert.deepEqual(readdirSync(cwd).toSorted(), files)
})
