/** docs/app.md: what it tells to run prints what it shows, against Generators and a Host; its types compile. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPrinting } from '../support/application/printing-program.ts'
import { linkSources } from '../support/application/source-package.ts'
import { openTransferMesh } from '../support/application/transfer-mesh.ts'
import { repository } from '../support/repository.ts'
import { testDirectory } from '../support/test-store.ts'
import { openAppPage } from './support/app-page.ts'
import { runShell } from './support/run-shell.ts'

/** As strictly as an application may. */
const compile = `tsc --noEmit --strict --exactOptionalPropertyTypes --target es2024 --module nodenext \
  --allowImportingTsExtensions --verbatimModuleSyntax --skipLibCheck --types node \
  --typeRoots ${repository}/node_modules/@types`

test('an application prints attested transfers, is killed, answers offline and goes on', async (t) => {
  const mesh = await openTransferMesh(t)
  const page = openAppPage(mesh)
  await mesh.transfer(3)
  const cwd = testDirectory(t)
  linkSources(cwd)

  await t.test('what to follow is told by the Host', async () => {
    for (const name of ['/api/v0/views', '/health | jq']) {
      const [command] = page.blocks('sh').filter((text) => text.includes(name))
      const answer = JSON.parse(page.shown(await runShell(command ?? '', { cwd })))
      assert.deepEqual(answer, JSON.parse(page.below(name)))
    }
  })

  await t.test('the example is killed while it follows', async (t) => {
    writeFileSync(join(cwd, 'transfers.js'), page.blocks('js')[0] ?? '')
    const first = startPrinting(t, 'transfers.js', { cwd })
    await first.lines(4)
    await mesh.transfer(1)
    assert.equal(await first.lines(5), page.below('node transfers.js'))
    await first.kill()
  })

  await t.test('it answers without a Host, and goes on when that is back', async (t) => {
    await mesh.stopHost()
    const second = startPrinting(t, 'transfers.js', { cwd })
    await second.lines(3)
    await mesh.startHost()
    await mesh.transfer(1)
    assert.equal(await second.lines(4), page.below('node transfers.js', 1))
  })

  await t.test('the typed program of the page compiles with the types of the View', async () => {
    const [types] = page.blocks('sh').filter((text) => text.startsWith('viewmesh types'))
    await runShell(types ?? '', { cwd })
    writeFileSync(join(cwd, 'amounts.ts'), page.blocks('ts')[0] ?? '')
    await runShell(`tsc -p ${repository}/src/app --outDir node_modules/viewmesh/types`, { cwd })
    assert.equal(await runShell(`${compile} amounts.ts`, { cwd }), '')
  })
})
