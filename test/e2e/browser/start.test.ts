/** The playground of `npm start`, opened as its output says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { otherPorts } from '../../support/devnet-ports.ts'
import { testDirectory } from '../../support/test-store.ts'
import { startCommand, until } from '../start/start-command.ts'
import { launchBrowser, visit } from './browser.ts'
import { answer, run } from './graphiql.ts'

test('the View of npm start has a tab of the playground with its newest rows', async (t) => {
  const path = testDirectory(t)
  const program = startCommand({ ...process.env, ...(await otherPorts()), DEVNET_PATH: path })
  t.after(() => program.kill())
  const browser = await launchBrowser()
  t.after(() => browser.close())
  await program.line(/^curl .*$/m)
  const output = stripVTControlCharacters(program.output())
  const [, url = ''] = /Playground +(\S+)/.exec(output) ?? []
  // A page has the tabs of the Views that there are when it is opened.
  const { page, problems } = await until(async () => {
    const opened = await visit(t, browser, url)
    return (await tabOf(opened.page).count()) > 0 ? opened : null
  })
  await tabOf(page).click()
  const rows = await until(async () => {
    await run(page)
    const { TokenTransfer } = (await answer(page, () => true)) as { TokenTransfer: readonly Row[] }
    return TokenTransfer.length > 1 ? TokenTransfer : null
  })
  const heights = rows.map(({ _blockNumber }) => _blockNumber)
  assert.deepEqual(
    heights,
    heights.toSorted((one, other) => other - one),
  )
  for (const { from, to, amount } of rows) {
    for (const address of [from, to]) assert.match(address, /^0x[0-9a-f]{40}$/)
    assert.match(amount, /^[1-9][0-9]*$/)
  }
  assert.deepEqual(problems, [])
})

interface Row {
  readonly _blockNumber: number
  readonly from: string
  readonly to: string
  readonly amount: string
}

const tabOf = (page: Page): Locator => page.getByRole('tab', { name: 'NewestTokenTransfer' })
