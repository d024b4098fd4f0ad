import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startChild } from '../../support/child-program.ts'
import { repository } from '../../support/repository.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const cases: readonly (readonly [words: readonly string[], found: readonly string[]])[] = [
  [['comp'], ['completion']],
  [
    ['view', 'in'],
    ['init', 'inspect'],
  ],
  [
    ['view', 'add', ''],
    ['query', 'sdl', 'lens'],
  ],
  [['view', 'add', 'lens'], ['lens']],
  [['view', 'add', 'lens', '--name'], ['--name']],
  [['view', 'add', 'lens', '--s'], ['--sha256']],
  [
    ['view', 'add', 'lens', '--name', ''],
    ['Other', 'Things'],
  ],
  [['view', 'add', 'lens', '--path', ''], []],
  [['view', 'inspect', 'T'], ['Things']],
  [['view', 'deploy', 'T'], ['Things']],
  [['view', 'inspect', '--verbose', 'T'], ['Things']],
  [['view', 'test', '--fixture', 'T', 'O'], ['Other']],
  [['view', 'add', 'lens', '--label', 'lens', '--sh'], ['--sha256']],
  [['view', 'add', 'lens', '--label', '--name', '--sh'], ['--sha256']],
  [['view', 'inspect', '--h'], ['--help']],
  [['view', 'add', 'query', ''], []],
  [['nothing', 'comp'], ['completion']],
  [['view', 'init', 'T'], []],
  [['lens', 'new', 'T'], []],
  [['wallet', 'import', '--name', ''], []],
  [
    ['lens', 'new', 'x', '--language', ''],
    ['assemblyscript', 'rust'],
  ],
  [
    ['view', 'deploy', 'Things', '--target', ''],
    ['local', 'devnet', 'mainnet'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
]

test('commands, flags and names of Views are completed', async (context) => {
  const { run, json } = await openTestTerminal(context)
  await json('view', 'init', 'Things')
  await json('view', 'init', 'Other')
  for (const [words, found] of cases) {
    const { stdout } = await run(['__complete', '--', ...words])
    assert.deepEqual([words, stdout.split('\n').filter(Boolean)], [words, found])
  }
})

test('a project that cannot be read has no names to complete, and no failure to show', async (context) => {
  const { run, json, cwd } = await openTestTerminal(context)
  await json('view', 'init')
  await json('view', 'init', 'Things')
  await writeFile(join(cwd, 'viewmesh.yaml'), 'version: 2\n')
  for (const words of [
    ['view', 'inspect', ''],
    ['view', 'add', 'lens', '--name', ''],
  ]) {
    const { exitCode, stdout, stderr } = await run(['__complete', '--', ...words])
    assert.deepEqual([exitCode, stdout.trim(), stderr], [0, '', ''])
  }
})

test('completion offers every command that help lists', async (context) => {
  const { run } = await openTestTerminal(context)
  const offered = (await run(['__complete', '--', ''])).stdout.split('\n').filter(Boolean)
  const { stdout } = await startChild('src/main.ts', { args: ['--help'] }).ended()
  const listed = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)
  assert.deepEqual(offered.toSorted(), listed.toSorted())
})

test('the script of bash completes through the program', async (context) => {
  const { run, cwd } = await openTestTerminal(context)
  const { stdout: script } = await run(['completion', 'bash'])
  const program = join(cwd, 'viewmesh')
  const main = join(repository, 'src/main.ts')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  await chmod(program, 0o755)
  const typed = `${script}
COMP_WORDS=(viewmesh view add que)
COMP_CWORD=3
_viewmesh
echo "\${COMPREPLY[@]}"`
  const env = { PATH: `${cwd}:/usr/bin:/bin`, HOME: cwd }
  const { stdout } = await promisify(execFile)('bash', ['-c', typed], { env, cwd })
  assert.equal(stdout, 'query\n')
})

test('another shell than bash, zsh and fish is wrong usage', async (context) => {
  const { run } = await openTestTerminal(context)
  const { exitCode, stderr } = await run(['completion', 'tcsh'])
  assert.equal(exitCode, 2)
  assert.match(stderr, /Allowed choices are bash, zsh, fish/)
})
