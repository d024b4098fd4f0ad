/** docs/views/deploying.md: wallets, and a deployment in two steps, print what the page shows. */
import assert from 'node:assert/strict'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openDevelopmentRegistry } from '../../src/devnet/registry/development-registry.ts'
import { toViewFile } from '../../src/views/view-file.ts'
import { noSender } from '../../src/views/view-id.ts'
import { encodeView } from '../../src/views/wire.ts'
import { testDirectory } from '../support/test-store.ts'
import { openExampleHost } from './support/example-host.ts'
import { blocksOf } from './support/page.ts'
import { runShell } from './support/run-shell.ts'

const page = 'docs/views/deploying.md'
const blocks = blocksOf(page).filter(({ marker }) => marker === 'run: test/docs/deploying.test.ts')
/** The JSON-RPC of the stand-in, as the page calls it. */
const named = 'http://127.0.0.1:8645'
const adminToken = 'the token of this Host'

/** IDs follow from the bytes of a lens, gas from its size; a wallet is a new one each time. */
function settled(text: string): string {
  return text
    .replaceAll(/\b0x[0-9a-fA-F]{32,}/g, 'HEX')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replaceAll(/(height|gas used:) +\d+/g, '$1 N')
    .replaceAll(/"height":\d+/g, '"height":N')
    .replaceAll(/"gasUsed":"\d+"/g, '"gasUsed":"N"')
    .replaceAll(/\/\S+(?=\/\.viewmesh)/g, 'HOME')
}

/** Runs the block with this text, with others in the place of some texts, and compares what it prints with the one below it. */
async function check(
  text: string,
  shell: Parameters<typeof runShell>[1],
  here: Readonly<Record<string, string>> = {},
): Promise<void> {
  const at = blocks.findIndex((block) => block.text.includes(text))
  const [commands, shown] = blocks.slice(at)
  let own = commands?.text ?? ''
  for (const [from, to] of Object.entries(here)) own = own.replaceAll(from, to)
  const printed = await runShell(own, shell)
  assert.equal(settled(printed), settled(shown?.text ?? ''), `${page}, line ${commands?.line}`)
}

test('wallets are made, imported and shown as the page has it', async (t) => {
  const folder = testDirectory(t)
  const env = { VIEWMESH_WALLET_PASSWORD: 'a password of tests' }
  await runShell('viewmesh wallet generate --name mine', { cwd: folder, env })
  const home = join(folder, 'home')
  await mkdir(join(home, '.foundry/keystores'), { recursive: true })
  await copyFile(join(folder, '.viewmesh/wallets/mine.json'), join(home, '.foundry/keystores/mine'))
  await writeFile(join(home, 'words.txt'), `${'test '.repeat(11)}junk\n`)
  await check('wallet generate', { cwd: home, env })
})

test('what is prepared and sent is registered as the page has it', async (t) => {
  const { registry, folder, env } = await openProject(t)
  await check('--prepare incoming.json', { cwd: folder, env }, { [named]: registry.rpcUrl })
})

test('a View in a file is registered in two steps as the page has it', async (t) => {
  const { registry, folder } = await openProject(t)
  const wire = encodeView({ query: 'Log { data }', sdl: 'type V { data: String }', lenses: [] })
  const { bytes } = toViewFile({ sender: noSender, wire })
  await writeFile(join(folder, 'payments.view'), bytes)
  await writeFile(join(folder, 'key'), registry.accounts[0] ?? '')
  await check('--view-file payments.view', { cwd: folder }, { [named]: registry.rpcUrl })
})

test('a View is tried again and taken back from a Host as the page has it', async (t) => {
  const { folder } = await openProject(t)
  const host = await openExampleHost({ HOST_ADMIN_TOKEN: adminToken })
  t.after(() => host.close())
  const here = { 'http://127.0.0.1:9181': host.apiOrigin, '=...': `='${adminToken}'` }
  await check('-X DELETE', { cwd: folder }, here)
})

/** A registry, and a project in which the page was followed up to the View that it registers first. */
async function openProject(t: TestContext) {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: 100 })
  t.after(() => registry.close())
  const folder = testDirectory(t)
  const [key = ''] = registry.accounts
  const [project, deployment] = blocksOf(page).filter(
    ({ language, marker }) =>
      language === 'sh' && marker === 'run: test/toolkit/deploy/walk.test.ts',
  )
  const commands = `${project?.text}${deployment?.text}`
  await runShell(commands.replaceAll(named, registry.rpcUrl), { cwd: folder })
  return { registry, folder, env: { VIEWMESH_PRIVATE_KEY: key } }
}
