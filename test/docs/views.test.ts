/** docs/views.md: its commands print what the page shows. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { repository } from '../support/repository.ts'
import { type ExampleHost, openExampleHost } from './support/example-host.ts'
import { blocksOf } from './support/page.ts'

const token = 'the token of this Host'
const [post, posted, list, listed] = blocksOf('docs/views.md')
let host: ExampleHost

before(async () => {
  host = await openExampleHost({ HOST_ADMIN_TOKEN: token })
})
after(() => host.close())

/** What a block of commands prints, as JSON. */
async function run(text = ''): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-ec', text.replaceAll('http://127.0.0.1:9181', host.apiOrigin)],
    { cwd: repository, env: { PATH: process.env['PATH'], HOST_ADMIN_TOKEN: token } },
  )
  return JSON.parse(stdout)
}

test('the View of the page is accepted as the page shows', async () => {
  assert.deepEqual(await run(post?.text), JSON.parse(posted?.text ?? ''))
})

test('its rows are there as the page shows', async () => {
  let found: unknown
  do found = await run(list?.text)
  while (['waiting', 'backfilling'].includes((found as { state: string }).state))
  assert.deepEqual(found, JSON.parse(listed?.text ?? ''))
})
