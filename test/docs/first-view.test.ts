/** docs/views: the commands that build, deploy and restore Views print what the pages show. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { repository } from '../support/repository.ts'
import { testDirectory } from '../support/test-store.ts'
import { openExampleHost } from './support/example-host.ts'
import { blocksOf } from './support/page.ts'
import { runShell } from './support/run-shell.ts'

const token = 'the token of this Host'
const named = 'http://127.0.0.1:9181'

/** IDs and hashes follow from the bytes of a lens; ports and states from the moment. */
function settled(text: string): string {
  return text
    .replaceAll(/\b(?:0x)?[0-9a-fA-F]{32,}/g, 'HEX')
    .replaceAll(/Payments_[0-9a-f]{8}/g, 'Payments_HEX')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replaceAll(/waiting|backfilling|live/g, 'STATE')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d+ bytes/g, 'N bytes')
    .replaceAll(/Node\.js: \d+\.\d+\.\d+/g, 'Node.js: VERSION')
    .replaceAll(/\/\S+(?=\/\.viewmesh)/g, 'HOME')
}

/** The commands for this Host in the place of the one that `npm start` starts. */
function here(text: string, hostUrl: string): string {
  return text
    .replaceAll(named, hostUrl)
    .replace(/HOST_ADMIN_TOKEN=\.\.\. .*/, `HOST_ADMIN_TOKEN='${token}'`)
    .replace('viewmesh doctor', `viewmesh doctor --host ${hostUrl}`)
}

/** Runs the blocks of a page in one folder, and compares what each prints with the text below it. */
async function checkPage(page: string, folder: string, hostUrl: string): Promise<number> {
  const blocks = blocksOf(page).filter(
    ({ marker }) => marker === 'run: test/docs/first-view.test.ts',
  )
  let compared = 0
  for (const [index, { language, text, line }] of blocks.entries()) {
    if (language !== 'sh') continue
    const stdout = await runShell(here(text, hostUrl), {
      // The first block stands in a clone, the others in a project.
      cwd: text.includes('VIEWMESH=$PWD') ? repository : folder,
      env: { HOST_ADMIN_TOKEN: token, HOME: folder },
    })
    const shown = blocks[index + 1]
    if (shown?.language !== 'text') continue
    compared += 1
    assert.equal(settled(stdout), settled(shown.text), `${page}, line ${line}`)
  }
  return compared
}

async function openHost(context: TestContext): Promise<string> {
  const host = await openExampleHost({ HOST_ADMIN_TOKEN: token })
  context.after(() => host.close())
  return host.apiOrigin
}

test('the walk of docs/views/first-view.md prints what the page shows', async (context) => {
  const url = await openHost(context)
  assert.equal(await checkPage('docs/views/first-view.md', testDirectory(context), url), 7)
})

for (const page of ['docs/views/versions.md', 'docs/views/limits.md'])
  test(`the commands of ${page} print what the page shows`, async (context) => {
    const folder = testDirectory(context)
    assert.equal(await checkPage(page, folder, named), 1)
  })
