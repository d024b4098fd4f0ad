/** docs/views: the commands for testing Views and for lenses print what the pages show. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repository } from '../support/repository.ts'
import { testDirectory } from '../support/test-store.ts'
import { blocksOf } from './support/page.ts'
import { runShell } from './support/run-shell.ts'

/** What differs from run to run. */
function settled(text: string): string {
  return text.replaceAll(/\d+(?:\.\d)? ms/g, 'N ms').replaceAll(/\d+\.\d MiB/g, 'N MiB')
}

/** Runs the shell blocks of a page one after the other in one folder, and compares what each prints with the text below it. */
async function checkPage(page: string, folder: string): Promise<number> {
  const own = `run: test/docs/lenses.test.ts`
  const blocks = blocksOf(page).filter(({ marker }) => marker === own)
  let compared = 0
  for (const [index, { language, text, line }] of blocks.entries()) {
    if (language !== 'sh') continue
    const shown = blocks[index + 1]
    const stdout = await runShell(text, { cwd: folder })
    if (shown?.language !== 'text') continue
    compared += 1
    assert.equal(settled(stdout), settled(shown.text), `${page}, line ${line}`)
  }
  return compared
}

test('what docs/views/lens-doctor.md shows of a lens is what is found of it', async () => {
  assert.equal(await checkPage('docs/views/lens-doctor.md', repository), 1)
})

test('the tests of docs/views/testing.md print what the page shows', async (t) => {
  assert.equal(await checkPage('docs/views/testing.md', testDirectory(t)), 3)
})

test('the lens of docs/views/writing-lenses.md builds and makes rows as the page shows', async (t) => {
  assert.equal(await checkPage('docs/views/writing-lenses.md', testDirectory(t)), 2)
})
