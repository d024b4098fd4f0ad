/** docs/views/testing.md: what is asked of a Host prints what the page shows. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testDirectory } from '../support/test-store.ts'
import { openExampleHost } from './support/example-host.ts'
import { blocksOf } from './support/page.ts'
import { runShell, startShell } from './support/run-shell.ts'

const page = 'docs/views/testing.md'
const named = 'http://127.0.0.1:9181'
const adminToken = 'the token of this Host'

/** IDs follow from the bytes of a lens, times from the machine. */
function settled(text: string): string {
  return text
    .replaceAll(/\b0x(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})\b/g, 'HEX')
    .replaceAll(/\d+(?:\.\d)? ms/g, 'N ms')
    .replaceAll(/\d+\.\d MiB/g, 'N MiB')
}

/** The commands of the block with this text, for this Host, and what the page shows below it. */
function blockWith(text: string, url: string): { commands: string; shown: string } {
  const blocks = blocksOf(page).filter(({ marker }) => marker === 'run: test/docs/testing.test.ts')
  const [commands, shown] = blocks.slice(blocks.findIndex((block) => block.text.includes(text)))
  return {
    commands: (commands?.text ?? '').replaceAll(named, url).replace('...', `'${adminToken}'`),
    shown: shown?.text ?? '',
  }
}

/** A Host, and a project with the View of the page for its chain. */
async function open(
  t: TestContext,
): Promise<{ url: string; cwd: string; tested: string; shown: string }> {
  const host = await openExampleHost({ HOST_ADMIN_TOKEN: adminToken })
  t.after(() => host.close())
  const cwd = testDirectory(t)
  const url = host.apiOrigin
  const { commands, shown } = blockWith('--blocks', url)
  const tested = await runShell(`viewmesh view init > created.txt\n${commands}`, { cwd })
  return { url, cwd, tested, shown }
}

test('a View is tested on the blocks of a Host as the page shows', async (t) => {
  const { tested, shown } = await open(t)
  assert.equal(settled(tested), settled(shown))
})

test('view dev prints what the page shows, and Ctrl-C ends it with 130', async (t) => {
  const { url, cwd } = await open(t)
  const { commands, shown } = blockWith('view dev', url)
  const dev = startShell(t, `exec 2>&1\n${commands}`, { cwd })
  let text = ''
  const waiting = (rounds: number): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (text.split('waiting for changes (Ctrl-C ends this)\n').length > rounds) resolve()
      }
      dev.stdout.on('data', check)
      check()
    })
  dev.stdout.on('data', (bytes) => {
    text += bytes
  })
  await waiting(1)
  const schema = join(cwd, 'views/Transfers/schema.graphql')
  await writeFile(schema, 'type Transfers { from: String amount: BigInt }')
  await waiting(2)
  dev.interrupt('SIGINT')
  const [code, signal] = await once(dev, 'exit')
  assert.deepEqual([code, signal], [130, null])
  assert.equal(settled(text), settled(shown))
  const { views } = (await (await fetch(`${url}/api/v0/views`)).json()) as { views: Listed[] }
  assert.deepEqual(
    views.filter(({ name }) => name.startsWith('Transfers')).map(({ fields }) => fields),
    [2],
  )
})

interface Listed {
  readonly name: string
  readonly fields: number
}
