/** Where the module of types is written, and what is beside it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { moduleHeader } from '../../../src/toolkit/typescript/shared-declarations.ts'
import { maxModuleBytes } from '../../../src/toolkit/typescript/view-module.ts'
import { checkModulePath, writeModule } from '../../../src/toolkit/typescript/write-module.ts'
import { testDirectory } from '../../support/test-store.ts'

const text = `${moduleHeader}\nexport {}\n`
const [mine, forced] = [{ force: false }, { force: true }]

test('drafts of processes that ended go, and nothing else beside the module does', async (t) => {
  const folder = testDirectory(t)
  const { pid: ended } = spawnSync(process.execPath, ['-e', ''])
  const stays = [
    `.views.ts.draft-${process.ppid}`,
    '.views.ts.draft-first',
    '.views.ts.draft-',
    `.other.ts.draft-${ended}`,
    `views.ts.draft-${ended}`,
  ]
  const goes = [ended, process.pid].map((pid) => `.views.ts.draft-${pid}`)
  for (const file of [...stays, ...goes]) writeFileSync(join(folder, file), '')
  assert.equal(await writeModule(join(folder, 'views.ts'), text, mine), 'written')
  assert.deepEqual(readdirSync(folder).toSorted(), [...stays, 'views.ts'].toSorted())
})

test('a file that is larger than any module of types is that of somebody else', async (t) => {
  const path = join(testDirectory(t), 'views.ts')
  const refused = { message: `${path} was not written by viewmesh types` }
  writeFileSync(path, text.padEnd(maxModuleBytes + 1))
  await assert.rejects(writeModule(path, text, mine), refused)
  await assert.rejects(checkModulePath(path, mine), refused)
  await checkModulePath(path, forced)
  writeFileSync(path, text.padEnd(maxModuleBytes))
  await checkModulePath(path, mine)
  assert.equal(await writeModule(path, text, mine), 'written')
  assert.equal(readFileSync(path, 'utf8'), text)
})
