/** The web server of docs/app.md, followed in a real browser. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { openAppPage } from '../../docs/support/app-page.ts'
import { startPrinting } from '../../support/application/printing-program.ts'
import { linkSources } from '../../support/application/source-package.ts'
import { openTransferMesh, type TransferMesh } from '../../support/application/transfer-mesh.ts'
import { freePorts } from '../../support/free-port.ts'
import { testDirectory } from '../../support/test-store.ts'
import { launchBrowser, visit } from './browser.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser.close())

/** Starts the server of the page; resolves to its address once it answers. */
async function startServer(t: TestContext, mesh: TransferMesh): Promise<string> {
  const page = openAppPage(mesh)
  const cwd = testDirectory(t)
  linkSources(cwd)
  const [port] = await freePorts(1)
  const [server = ''] = page.blocks('js').filter((text) => text.includes('createServer'))
  writeFileSync(join(cwd, 'server.js'), server.replace('8000', String(port)))
  writeFileSync(join(cwd, 'index.html'), page.blocks('html')[0] ?? '')
  startPrinting(t, 'server.js', { cwd })
  const url = `http://127.0.0.1:${port}/`
  while (
    !(await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await delay(50)
  return url
}

/** Texts of the cells of all rows, once there are so many. */
async function rowsOf(page: Page, count: number): Promise<readonly string[][]> {
  await page
    .locator('tr')
    .nth(count - 1)
    .waitFor()
  const rows = await page.locator('tr').all()
  return await Promise.all(rows.map((row) => row.locator('td').allTextContents()))
}

test('a page shows transfers as they come, and each once', { timeout: 180_000 }, async (t) => {
  const mesh = await openTransferMesh(t)
  await mesh.transfer(2)
  const { page, problems } = await visit(t, browser, await startServer(t, mesh))
  const blocks = (rows: readonly string[][]) => rows.map(([block]) => block)
  assert.deepEqual(blocks(await rowsOf(page, 3)), ['3', '2', '1'])
  await mesh.transfer(2)
  const rows = await rowsOf(page, 5)
  assert.deepEqual(blocks(rows), ['5', '4', '3', '2', '1'])
  assert.deepEqual(rows[0], ['5', '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '4000'])
  assert.deepEqual(problems, [])
})
