/**
 * The package as strangers install it, by the commands of docs/app.md: the example runs with the newest Node and with the
 * oldest that the package takes, and types hold. Packages come from the registry that npm is configured with.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { type AppPage, openAppPage } from '../../docs/support/app-page.ts'
import { blocksOf, commandsOf } from '../../docs/support/page.ts'
import { startPrinting } from '../../support/application/printing-program.ts'
import { openTransferMesh, type TransferMesh } from '../../support/application/transfer-mesh.ts'
import { repository } from '../../support/repository.ts'
import { testDirectory } from '../../support/test-store.ts'
import { packRepository } from './packed-repository.ts'

const cleanUp: (() => void)[] = []
const suite = { after: (end: () => void) => void cleanUp.push(end) }
/** The application's folder. */
const cwd = testDirectory(suite as Pick<TestContext, 'after'>)
const patience = { timeout: 300_000 }
const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
/** As npm calls it on this machine. */
const oldest = `node-${process.platform}-${process.arch}@${manifest.engines.node.slice(2)}.0`

const run = async (commands: string, folder = cwd): Promise<string> => {
  const path = `${join(process.execPath, '..')}:${process.env['PATH']}`
  const env = { ...process.env, PATH: path }
  return (await promisify(execFile)('bash', ['-ec', commands], { cwd: folder, env })).stdout
}

before(async () => {
  packRepository(join(cwd, 'viewmesh'))
  // The first command makes the archive in a clone, as was done just now.
  const [, ...commands] = commandsOf('docs/app.md', 'npm pack')
  assert.equal(commands.length, 2)
  await run(commands.join('\n'))
}, patience)
after(() => {
  for (const end of cleanUp) end()
})

test('archive and packages weigh what the page shows, within a tenth', async () => {
  const [weighing = ''] = commandsOf('docs/app.md', 'du -')
  const blocks = blocksOf('docs/app.md')
  const at = blocks.findIndex(({ text }) => text.includes('du -'))
  const sizes = (text: string): number[] =>
    Array.from(text.matchAll(/^([\d.]+)[KM]\t/gm), ([, size]) => Number(size))
  const shown = sizes(blocks[at + 1]?.text ?? '')
  assert.equal(shown.length, 2)
  for (const [index, size] of sizes(await run(weighing)).entries())
    assert.ok(Math.abs(size / (shown[index] ?? 0) - 1) < 0.1, `${size}, the page: ${shown[index]}`)
})

test('what the import takes is printed as a number', async () => {
  const [command = ''] = commandsOf('docs/app.md', 'await import("viewmesh/app")')
  assert.match(await run(command), /^\d+\n$/)
})

test('the example follows a Host with both, and its types hold', patience, async (t) => {
  const mesh = await openTransferMesh(t)
  const page = openAppPage(mesh)
  await mesh.transfer(4)

  await t.test(`it prints what the page shows with Node ${process.version}`, async (t) => {
    await printsTransfers(t, page, process.execPath)
  })

  await t.test(`it prints what the page shows with ${oldest}`, async (t) => {
    const home = testDirectory(t)
    // Where the registry lacks it this fails, since nothing else would show that the package takes it.
    await run(`npm install --no-audit --no-fund --prefix . ${oldest}`, home)
    const node = join(home, 'node_modules', oldest.slice(0, oldest.lastIndexOf('@')), 'bin/node')
    assert.equal(await run(`${node} --version`), `v${oldest.slice(oldest.lastIndexOf('@') + 1)}\n`)
    await printsTransfers(t, page, node)
  })

  await t.test('a typed program compiles strictly, with every declaration checked', async () => {
    await compiles(mesh, page)
  })
})

/** Runs the example in a folder below, where it finds the package. */
async function printsTransfers(t: TestContext, page: AppPage, node: string): Promise<void> {
  writeFileSync(join(cwd, 'transfers.js'), page.blocks('js')[0] ?? '')
  await run('rm -rf store')
  const example = startPrinting(t, 'transfers.js', { cwd, node })
  assert.equal(await example.lines(5), page.below('node transfers.js'))
  await example.kill()
}

async function compiles({ apiUrl }: TransferMesh, page: AppPage): Promise<void> {
  await run(`npx viewmesh types TokenTransfer --host ${apiUrl} --out views.ts`)
  const program = page.blocks('ts')[0] ?? ''
  writeFileSync(join(cwd, 'amounts.ts'), program)
  writeFileSync(join(cwd, 'wrong.ts'), program.replace('{ to, _blockNumber }', '{ two }'))
  const tsc = `${repository}/node_modules/.bin/tsc --noEmit --strict --exactOptionalPropertyTypes \
    --module nodenext --target es2024 --allowImportingTsExtensions --verbatimModuleSyntax \
    --types node --typeRoots ${repository}/node_modules/@types`
  assert.equal(await run(`${tsc} amounts.ts`), '')
  const refused = await run(`${tsc} wrong.ts || true`)
  assert.match(refused, /Property 'two' does not exist on type 'TokenTransferRow'/)
}
