/** A real browser that reaches this machine and nothing else. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'

export interface Visit {
  readonly page: Page
  /** What the page complained about: console errors, exceptions, failed or refused requests. */
  readonly problems: readonly string[]
}

/** Starts the first Chromium on the PATH; the test closes it. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  })
}

function findChromium(): string {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      try {
        accessSync(join(folder, name), constants.X_OK)
        return join(folder, name)
      } catch {}
    }
  }
  throw new Error('Chromium is not on the PATH; on Debian: apt-get install chromium')
}

const isLoopback = (url: string): boolean =>
  ['127.0.0.1', 'localhost'].includes(new URL(url).hostname) || url.startsWith('data:')

/** A first visit: nothing is remembered, and nothing but this machine can be reached. */
export async function visit(t: TestContext, browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  t.after(() => context.close())
  const problems: string[] = []
  await context.route('**/*', (route) => {
    if (isLoopback(route.request().url())) return route.continue()
    problems.push(`wanted ${route.request().url()}`)
    return route.abort()
  })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(url)
  return { page, problems }
}
