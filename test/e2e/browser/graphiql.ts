/** What a visitor does in the playground, and sees. */
import type { Page } from 'playwright-core'

export const run = (page: Page): Promise<void> => page.getByLabel(/^Execute query/).click()

/** The JSON in the answer pane, once it is whole and `isReady` likes it. */
export async function answer(page: Page, isReady: (data: unknown) => boolean): Promise<unknown> {
  const read = page.locator('.result-window .CodeMirror')
  for (;;) {
    const text = await read.evaluate((element: unknown) =>
      (element as { CodeMirror: { getValue(): string } }).CodeMirror.getValue(),
    )
    const data = text === '' ? null : JSON.parse(text).data
    if (data !== null && isReady(data)) return data
    await page.waitForTimeout(50)
  }
}
