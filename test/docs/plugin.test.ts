/** Commands of the plugin on the pages: each is one that the plugin takes, with its flags. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { runCommandLine } from '../../operator/plugin/command-line.ts'
import { createOutput } from '../../operator/plugin/text/output.ts'
import { blocksOf } from './support/page.ts'
import { shellCommands } from './support/shell-commands.ts'

const pages = ['docs/kubernetes/plugin.md', 'docs/kubernetes/identities.md']

/** The arguments of each command, and the page it is on. */
const commands = pages.flatMap((page) =>
  blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text: block }) => shellCommands(block))
    .filter(([program, verb]) => program === 'kubectl' && verb === 'viewmesh')
    .map(([, , ...args]) => ({ page, args })),
)

/** What is said against a command before it asks for a cluster; empty where nothing is. */
async function complaintsAbout(args: readonly string[]): Promise<string> {
  const stderr = new PassThrough()
  let isTaken = false
  await runCommandLine(args, {
    open: () => {
      isTaken = true
      return Promise.reject(new Error('there is no cluster here'))
    },
    output: createOutput({ stdout: new PassThrough(), stderr }),
    stdin: new PassThrough(),
    signal: new AbortController().signal,
  })
  stderr.end()
  const said = await text(stderr)
  return isTaken || args.includes('--help') ? '' : said
}

test('the pages show every command of the plugin', () => {
  const shown = new Set(commands.map(({ args: [name] }) => name))
  const all = ['--help', 'status', 'logs', 'backup', 'restore', 'claims', 'report']
  assert.deepEqual([...shown].toSorted(), all.toSorted())
})

for (const { page, args } of commands) {
  test(`${page}: viewmesh ${args.join(' ').slice(0, 40)} is taken as it is shown`, async () => {
    assert.equal(await complaintsAbout(args), '')
  })
}

test('a flag that the plugin does not have is found', async () => {
  assert.match(await complaintsAbout(['status', '--everything']), /unknown option '--everything'/)
})
