import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  listFolder,
  pathInProject,
  readProjectFile,
} from '../../../src/toolkit/project/project-files.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

test('a path is named from the project on, and one outside of it has no such name', () => {
  const places = { folder: '/a/project', history: '/a/project/.viewmesh', settingsFile: null }
  const named = (path: string) => pathInProject(places, path)
  assert.deepEqual(
    ['/a/project/b/c', '/a/project/..b', '/a/project/...', '/a/project/b/../c'].map(named),
    ['b/c', '..b', '...', 'c'],
  )
  for (const path of [
    '/a/project',
    '/a/project/',
    '/a',
    '/',
    '/a/b',
    '/a/project2',
    '/a/project/../b',
  ])
    assert.equal(named(path), null, path)
})

test('a folder whose name begins as that of the project does is outside of it', async (context) => {
  const { cwd: folder } = await openTestTerminal(context)
  const places = { folder, history: join(folder, '.viewmesh'), settingsFile: null }
  await mkdir(`${folder}2`)
  await writeFile(`${folder}2/file`, 'x')
  const refused = {
    code: 'TOOLKIT_FILE_REFUSED',
    message: `${folder}2/file leads out of the project`,
  }
  await assert.rejects(readProjectFile(places, `${folder}2/file`, 1), refused)
  await assert.rejects(listFolder(places, `${folder}2`), { code: 'TOOLKIT_FILE_REFUSED' })
})

test('a file is read up to its bound, and one in the place of a folder has no names', async (context) => {
  const { cwd: folder } = await openTestTerminal(context)
  const places = { folder, history: join(folder, '.viewmesh'), settingsFile: null }
  const path = join(folder, 'file')
  await writeFile(path, 'ab')
  assert.deepEqual(await readProjectFile(places, path, 2), new Uint8Array(Buffer.from('ab')))
  await assert.rejects(readProjectFile(places, path, 1), {
    message: 'file has 2 bytes, and may have 1',
    remedy: 'Put a readable file of the right size there, inside the project.',
  })
  assert.equal(await readProjectFile(places, join(path, 'below'), 1), null)
  assert.deepEqual(await listFolder(places, path), [])
  assert.deepEqual(await listFolder(places, join(folder, 'none')), [])
})
