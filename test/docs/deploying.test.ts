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
import { blocksOf } from './support/page.ts'
import { runShell } from './support/run-shell.ts'

const page = 'docs/views/deploying.md'
const blocks = blocksOf(page).filter(({ marker }) => marker === 'run: test/docs/deploying.test.ts')

/** IDs follow from the bytes of a lens, gas from its size; a wallet is a new one each time. */
function settled(text: string): string {
  return text
    .replaceAll(/\b0x[0-9a-fA-F]{32,}/g, 'HEX')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replaceAll(/(height|gas used:) +\d+/g, '$1 N')
    .replaceAll(/"gasUsed":"\d+"/g, '"gasUsed":"N"')
    .replaceAll(/\/\S+(?=\/\.viewmesh)/g, 'HOME')
}

/** Runs the block with this text, and compares what it prints with the one below it. */
async function check(
  text: string,
  shell: Parameters<typeof runShell>[1],
  rpcUrl = '',
): Promise<void> {
  const at = blocks.findIndex((block) => block.text.includes(text))
  const [commands, shown] = blocks.slice(at)
  const printed = await runShell(
    (commands?.text ?? '').replaceAll('http://127.0.0.1:8645', rpcUrl),
    shell,
  )
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
  await check('--prepare payments.json', { cwd: folder, env }, registry.rpcUrl)
})

test('a View in a file is registered in two steps as the page has it', async (t) => {
  const { registry, folder } = await openProject(t)
  const wire = encodeView({ query: 'Log { data }', sdl: 'type V { data: String }', lenses: [] })
  const { bytes } = toViewFile({ sender: noSender, wire })
  await writeFile(join(folder, 'payments.view'), bytes)
  await writeFile(join(folder, 'key'), registry.accounts[0] ?? '')
  await check('--view-file payments.view', { cwd: folder }, registry.rpcUrl)
})

/** A registry, and a project with the View of the pages. */
async function openProject(t: TestContext) {
  const registry = await openDevelopmentRegistry({ acknowledgeMs: 100 })
  t.after(() => registry.close())
  const folder = testDirectory(t)
  const [key = ''] = registry.accounts
  const project = blocksOf('docs/views/first-view.md').find(({ text }) =>
    text.includes('cat > Token'),
  )
  await runShell(
    `${project?.text}viewmesh view create Payments --from-abi Token.json --event Transfer`,
    { cwd: folder },
  )
  return { registry, folder, env: { VIEWMESH_PRIVATE_KEY: key } }
}
