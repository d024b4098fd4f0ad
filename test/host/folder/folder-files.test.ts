import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { listViewFiles, readFolderFile } from '../../../src/host/folder/folder-files.ts'
import { openFilesIn } from '../../support/leaks/files.ts'
import { testDirectory } from '../../support/test-store.ts'

test('no file stays open once it was read, or could not be', async (t) => {
  const path = testDirectory(t)
  await writeFile(join(path, 'a.view'), 'read')
  await mkdir(join(path, 'b.view'))
  assert.equal(String(Buffer.from(await readFolderFile(path, 'a.view'))), 'read')
  await assert.rejects(readFolderFile(path, 'b.view'), { code: 'HOST_VIEW_FILE_UNREADABLE' })
  assert.deepEqual(await openFilesIn(path), [])
})

test('a folder that goes while it is listed is unreadable, and never empty', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'viewmesh-folder-'))
  const away = `${path}-away`
  t.after(() => Promise.all([path, away].map((each) => rm(each, { recursive: true, force: true }))))
  for (const name of ['a.view', 'b.view']) await writeFile(join(path, name), '')
  const outcomes = new Set<string>()
  for (let round = 0; round < 500; round += 1) {
    const listing = listViewFiles(path).then(
      (files) => files.length,
      (error: { code: string }) => error.code,
    )
    await rename(path, away)
    outcomes.add(String(await listing))
    await rename(away, path)
  }
  assert.ok(outcomes.has('HOST_VIEWS_DIR_UNREADABLE'))
  assert.deepEqual(
    [...outcomes].filter((each) => each !== 'HOST_VIEWS_DIR_UNREADABLE' && each !== '2'),
    [],
  )
})
