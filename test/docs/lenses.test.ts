/** docs/views: the commands for testing Views and for lenses print what the pages show. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDirectory } from '../support/test-store.ts'
import { blocksOf } from './support/page.ts'
import { runShell } from './support/run-shell.ts'

/** What differs from run to run. */
function settled(text: string): string {
  return text.replaceAll(/\d+(?:\.\d)? ms/g, 'N ms').replaceAll(/\d+\.\d MiB/g, 'N MiB')
}

/** Runs the shell blocks of a page as one who reads it, each where the one before ended, and compares what each prints with the text below it. */
async function checkPage(page: string, folder: string): Promise<number> {
  const own = `run: test/docs/lenses.test.ts`
  const blocks = blocksOf(page).filter(({ marker }) => marker === own)
  let [compared, cwd] = [0, folder]
  for (const [index, { language, text, line }] of blocks.entries()) {
    if (language !== 'sh') continue
    const shown = blocks[index + 1]
    const [, stdout = '', left = ''] =
      /^(.*?)([^\n]+)\n$/s.exec(await runShell(`${text}pwd`, { cwd, env: { HOME: folder } })) ?? []
    cwd = left
    if (shown?.language !== 'text') continue
    compared += 1
    assert.equal(settled(stdout), settled(shown.text), `${page}, line ${line}`)
  }
  return compared
}

test('what docs/views/lens-doctor.md shows of a lens is what is found of it', async (t) => {
  assert.equal(await checkPage('docs/views/lens-doctor.md', testDirectory(t)), 1)
})

test('the tests of docs/views/testing.md print what the page shows', async (t) => {
  assert.equal(await checkPage('docs/views/testing.md', testDirectory(t)), 3)
})

test('the lens of docs/views/writing-lenses.md builds and makes rows as the page shows', async (t) => {
  assert.equal(await checkPage('docs/views/writing-lenses.md', testDirectory(t)), 3)
})
