import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestTerminal } from './support/test-terminal.ts'

test('a mistyped command is refused with the nearest one, the usage line and exit code 2', async (context) => {
  const { run } = await openTestTerminal(context)
  assert.deepEqual(await run(['view', 'lst']), {
    exitCode: 2,
    stdout: '',
    stderr:
      "error: unknown command 'lst'\n(Did you mean list?)\nUsage: viewmesh view [options] [command]\n",
  })
})

test('a mistyped flag is refused with the usage line of its command', async (context) => {
  const { run } = await openTestTerminal(context)
  assert.deepEqual(await run(['view', 'list', '--jsno']), {
    exitCode: 2,
    stdout: '',
    stderr:
      "error: unknown option '--jsno'\n(Did you mean --json?)\nUsage: viewmesh view list [options]\n",
  })
})

test('help ends with 0 on standard output', async (context) => {
  const { run } = await openTestTerminal(context)
  const { exitCode, stdout, stderr } = await run(['view', '--help'])
  assert.deepEqual([exitCode, stderr], [0, ''])
  assert.match(stdout, /^ {2}init \[options\] \[name\] /m)
})

test('where a command is missing the help is on standard error, alone, with exit code 2', async (context) => {
  const { run } = await openTestTerminal(context)
  const { stdout: help } = await run(['view', '--help'])
  assert.deepEqual(await run(['view']), { exitCode: 2, stdout: '', stderr: help })
})

test('help is as wide as the terminal, and 100 characters where there is none', async (context) => {
  const { run } = await openTestTerminal(context)
  for (const argv of [['view', '--help'], ['view']])
    assert.deepEqual(await run(argv), await run(argv, { isTTY: true }))
})

test('a refusal ends with 1, names what to do and prints no usage line', async (context) => {
  const { run } = await openTestTerminal(context)
  await run(['view', 'init', 'Things'])
  assert.deepEqual(await run(['view', 'init', 'things']), {
    exitCode: 1,
    stdout: '',
    stderr:
      "error: view 'Things' already exists\nWhat to do: Choose another name, or change that one; names differ by more than case.\n",
  })
})

test('an interrupted command ends with 130', async (context) => {
  const { run } = await openTestTerminal(context)
  assert.equal((await run(['view', 'list'], { signal: AbortSignal.abort() })).exitCode, 130)
})

test('colours are for terminals that have them, and NO_COLOR is heeded', async (context) => {
  const { run } = await openTestTerminal(context)
  const coloured = await run(['view', 'init', 'One'], { isTTY: true })
  assert.ok(coloured.stdout.includes('\u001b['))
  const unsaid = await run(['view', 'init', 'Two'], { isTTY: true, env: { NO_COLOR: '' } })
  assert.ok(unsaid.stdout.includes('\u001b['))
  for (const [name, env] of [
    ['Three', { NO_COLOR: '1' }],
    ['Four', { TERM: 'dumb' }],
  ] as const) {
    const plain = await run(['view', 'init', name], { isTTY: true, env })
    assert.ok(!plain.stdout.includes('\u001b['))
  }
  assert.ok(!(await run(['view', 'init', 'Five'])).stdout.includes('\u001b['))
})

test('without a project Views are in the home folder, within one in it', async (context) => {
  const terminal = await openTestTerminal(context)
  const { stdout, stderr } = await terminal.run(['view', 'init', 'AtHome', '--json'])
  const atHome = { name: 'AtHome', revision: 1, query: null, sdl: null, lenses: [] }
  assert.deepEqual(JSON.parse(stdout), atHome)
  const remark = /is in no project, so the View is kept in .*\.viewmesh/
  assert.match(stderr, remark)
  assert.match((await terminal.run(['view', 'create', 'Other'])).stderr, remark)
  const isMade = await terminal.json('view', 'init')
  assert.deepEqual(isMade, { folder: terminal.cwd, isNew: true })
  await terminal.json('view', 'init', 'InProject')
  const listed = await terminal.json('view', 'list')
  const view = { name: 'InProject', revision: 1, lenses: [], error: null }
  assert.deepEqual(listed, { folder: terminal.cwd, views: [view] })
})
