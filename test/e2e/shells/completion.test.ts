/** The scripts of `viewmesh completion`, read by the shells that they are for. bash has its test beside the others. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { repository } from '../../support/repository.ts'
import { openTestTerminal } from '../../toolkit/support/test-terminal.ts'
import { type FoundShell, findShell, type ShellName } from './debian-shell.ts'

/** What is typed, and what stands there after the key that completes. */
const cases: readonly (readonly [typed: string, completed: string])[] = [
  ['viewmesh view add que', 'viewmesh view add query'],
  ['viewmesh view add lens --s', 'viewmesh view add lens --sha256'],
  ['viewmesh view inspect T', 'viewmesh view inspect Things'],
  ['viewmesh view deploy Things --target l', 'viewmesh view deploy Things --target local'],
  ['viewmesh view add lens --path filt', 'viewmesh view add lens --path filter.wasm'],
]

/** A folder with a View, a file, the program, and its script for this shell. */
async function openFolder(t: TestContext, name: ShellName): Promise<string> {
  const { run, json, cwd } = await openTestTerminal(t)
  await json('view', 'init')
  await json('view', 'init', 'Things')
  await writeFile(join(cwd, 'filter.wasm'), '')
  const { stdout } = await run(['completion', name])
  await writeFile(join(cwd, 'script'), stdout)
  const main = join(repository, 'src/main.ts')
  await writeFile(join(cwd, 'viewmesh'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  await chmod(join(cwd, 'viewmesh'), 0o755)
  return cwd
}

/** The test with the shell; where it cannot be had this says so aloud. */
function shellTest(
  name: ShellName,
  body: (shell: FoundShell, cwd: string, t: TestContext) => Promise<void>,
): void {
  test(`the script of ${name} completes through the program`, async (t) => {
    const shell = await findShell(name)
    if (!('missing' in shell)) return await body(shell, await openFolder(t, name), t)
    process.stderr.write(`\n!! ${shell.missing}\n`)
    t.skip(shell.missing)
  })
}

shellTest('fish', async ({ path, root }, cwd) => {
  const libraries = root === '' ? {} : { LD_LIBRARY_PATH: `${root}/usr/lib/x86_64-linux-gnu` }
  const env = { PATH: `${cwd}:/usr/bin:/bin`, HOME: cwd, ...libraries }
  for (const [typed, completed] of cases) {
    const asked = `source script; complete -C ${JSON.stringify(typed)}`
    const options = { cwd, env, timeout: 30_000 }
    const { stdout } = await promisify(execFile)(path, ['--no-config', '-c', asked], options)
    assert.equal(stdout, `${completed.split(' ').at(-1)}\n`)
  }
})

/** Where an unpacked zsh finds its modules and functions. */
const zshPlaces = (root: string): string[] =>
  root === ''
    ? []
    : [
        `module_path=(${root}/usr/lib/*/zsh/5*(/N))`,
        `fpath=(${root}/usr/share/zsh/functions/**/*(/N))`,
      ]

shellTest('zsh', async ({ path, root }, cwd, t) => {
  const settings = [
    ...zshPlaces(root),
    ...['autoload -Uz compinit', 'compinit -D -u', 'source script', 'unsetopt beep'],
    "PS1='> '",
  ]
  await writeFile(join(cwd, '.zshrc'), `${settings.join('\n')}\n`)
  const env = { PATH: `${cwd}:/usr/bin:/bin`, HOME: cwd, ZDOTDIR: cwd, TERM: 'vt100' }
  // Keys are read from a terminal alone, which `script` makes.
  const shell = spawn('script', ['-qec', `${path} -d -i`, '/dev/null'], { cwd, env })
  t.after(() => shell.kill('SIGKILL'))
  let shown = ''
  let onShown = (): void => undefined
  shell.stdout.on('data', (data: Buffer) => {
    shown += data
    onShown()
  })
  const shows = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${text} is not in ${shown}`)), 30_000)
      onShown = () => {
        if (!shown.includes(text)) return
        clearTimeout(timer)
        resolve()
      }
      onShown()
    })
  await shows('> ')
  for (const [index, [typed, completed]] of cases.entries()) {
    // Tab completes; then the line is made one that prints itself, behind a word that nobody typed so.
    shell.stdin.write(`${typed}\t\u0001echo "ended"${index} \n`)
    await shows(`\nended${index} ${completed}\r`)
  }
})
