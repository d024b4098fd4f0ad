import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openTestApi, type TestApi } from '../../graphql/support/graphql-server.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { launchBrowser, type Visit, visit } from './browser.ts'
import { answer, run } from './graphiql.ts'

const screenshots = process.env['SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'viewmesh-screens-'))

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser.close())

const screenshot = (page: Page, name: string): Promise<Buffer> =>
  page.screenshot({ path: join(screenshots, `${name}.png`) })

async function openPlayground(t: TestContext): Promise<Visit & { readonly api: TestApi }> {
  const [...blocks] = createChain({ count: 9 })
  const api = await openTestApi(t, { blocks, playground: true })
  return { api, ...(await visit(t, browser, `${api.origin}/`)) }
}

/** For a machine with much else to do. */
const patience = { timeout: 60_000 }

test(
  'the first visit shows data after one click, without any network and without complaints',
  patience,
  async (t) => {
    const { page, problems } = await openPlayground(t)
    assert.equal(await page.title(), 'Viewmesh')
    await run(page)
    const data = (await answer(page, () => true)) as { Block: { number: number }[] }
    assert.deepEqual(
      data.Block.map(({ number }) => number),
      [9, 8, 7, 6, 5],
    )
    await screenshot(page, 'rows')
    assert.deepEqual(problems, [])
  },
)

test('typing is completed from the schema', patience, async (t) => {
  const { page, problems } = await openPlayground(t)
  await page.getByLabel('Add tab').click()
  await page.locator('.graphiql-query-editor .CodeMirror').click()
  await page.keyboard.type('{ Tran', { delay: 30 })
  const hints = page.locator('.CodeMirror-hints li')
  await hints.filter({ hasText: 'Transaction' }).first().waitFor()
  await screenshot(page, 'completion')
  assert.deepEqual(problems, [])
})

test(
  'the documentation explains collections, their fields and their filters',
  patience,
  async (t) => {
    const { page, problems } = await openPlayground(t)
    await page.getByLabel('Show Documentation Explorer').click()
    const docs = page.locator('.graphiql-doc-explorer')
    await docs.getByRole('link', { name: 'Query' }).click()
    await docs.getByRole('link', { name: 'Ethereum__Mainnet__Log', exact: true }).last().click()
    await docs.getByRole('link', { name: 'topics', exact: true }).scrollIntoViewIfNeeded()
    await screenshot(page, 'docs')
    assert.deepEqual(problems, [])
  },
)

test('a subscription shows each block as it arrives, until it is stopped', patience, async (t) => {
  const { api, page, problems } = await openPlayground(t)
  const [, ...next] = createChain({ count: 12 }).slice(8)
  await page.getByRole('tab', { name: 'FollowBlocks' }).click()
  await run(page)
  await subscribers(api, page, 1)
  for (const block of next) {
    await api.add(block)
    const shown = await answer(page, (data) => numberOf(data) === block.number)
    assert.deepEqual(shown, { Block: [{ number: block.number, hash: block.hash, COUNT: 2 }] })
  }
  await screenshot(page, 'subscription')
  await page.getByLabel(/^Stop query/).click()
  await subscribers(api, page, 0)
  assert.deepEqual(problems, [])
})

const numberOf = (data: unknown): unknown =>
  (data as { Block?: { number: number }[] }).Block?.[0]?.number

/** Waits until so many streams are open. */
async function subscribers(api: TestApi, page: Page, count: number): Promise<void> {
  for (;;) {
    const metric = await api.registry.getSingleMetric('viewmesh_graphql_subscribers')?.get()
    if (metric?.values[0]?.value === count) return
    await page.waitForTimeout(20)
  }
}
