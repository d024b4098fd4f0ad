/** docs/views/types.md: its commands print what the page shows, and what it shows in TypeScript compiles. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { repository } from '../support/repository.ts'
import { testDirectory } from '../support/test-store.ts'
import { openExampleHost } from './support/example-host.ts'
import { blocksOf } from './support/page.ts'
import { runShell } from './support/run-shell.ts'

const named = 'http://127.0.0.1:9181'
const blocks = blocksOf('docs/views/types.md')

/** A folder with the module that the first command writes, and the first application of the page. */
async function open(t: TestContext) {
  const host = await openExampleHost()
  t.after(() => host.close())
  const cwd = testDirectory(t)
  const here = (text = ''): string => text.replaceAll(named, host.apiOrigin)
  const [application, own] = blocks.filter(({ language }) => language === 'ts')
  writeFileSync(join(cwd, 'transfers.ts'), here(application?.text))
  writeFileSync(join(cwd, 'own.ts'), here(own?.text))
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
  return { cwd, here }
}

/** As strictly as an application may. */
const compile = `tsc --noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext \
  --allowImportingTsExtensions --verbatimModuleSyntax --skipLibCheck --types node \
  --typeRoots ${repository}/node_modules/@types`

test('the commands of the page print what it shows, and its TypeScript compiles', async (t) => {
  const { cwd, here } = await open(t)
  const run = blocks.filter(({ marker }) => marker === 'run: test/docs/types.test.ts')
  let compared = 0
  for (const [index, { language, text }] of run.entries()) {
    if (language !== 'sh') continue
    const shown = run.slice(index).find((block) => block.language === 'text')
    assert.equal(await runShell(here(text), { cwd }), shown?.text)
    compared += 1
  }
  assert.equal(compared, 2)
  assert.equal(await runShell(`${compile} transfers.ts own.ts`, { cwd }), '')

  const application = readFileSync(join(cwd, 'transfers.ts'), 'utf8')
  writeFileSync(join(cwd, 'wrong.ts'), application.replace('amount: {', 'amuont: {'))
  const wrong = await runShell(`${compile} wrong.ts || true`, { cwd })
  assert.match(wrong, /'amuont' does not exist in type 'TokenTransferFilter'/)
})
