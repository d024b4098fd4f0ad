import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { devNotePath, readDevNote, writeDevNote } from '../../../src/toolkit/trial/dev-note.ts'
import { testDirectory } from '../../support/test-store.ts'

const module = new URL('../../../src/toolkit/trial/dev-note.ts', import.meta.url).href
const id = `0x${'1'.repeat(64)}`

test('a note that two runs write at once is that of one of them, and none of them fails', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'viewmesh-note-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'dev', 'note')
  const write = (byte: number): Promise<unknown> => {
    const program = `import { writeDevNote } from ${JSON.stringify(module)}
for (let n = 0; n < 1000; n++)
  writeDevNote(${JSON.stringify(path)}, '${id}', new Uint8Array(20_000).fill(${byte}))`
    return promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  }
  await Promise.all([write(1), write(2)])
  const wire = readDevNote(path)?.wire
  assert.equal(wire?.length, 20_000)
  assert.equal(new Set(wire).size, 1)
  assert.deepEqual(await readdir(join(folder, 'dev')), ['note'])
})

test('a note is for its owner; one of an earlier version has the ID, and no other text is one', async (t) => {
  const path = join(testDirectory(t), 'dev', 'note')
  assert.equal(readDevNote(path), null)
  writeDevNote(path, id, Uint8Array.of(1, 2))
  assert.deepEqual(readDevNote(path), { id, wire: Uint8Array.of(1, 2) })
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  await writeFile(path, `${id}\n`)
  assert.deepEqual(readDevNote(path), { id, wire: null })
  for (const text of ['', `${id}0`, `x${id}`, `${id}\nAQI= AQI=`]) {
    await writeFile(path, text)
    assert.equal(readDevNote(path), null, text)
  }
})

test('each View of a project has a note for each Host, wherever a link to the project is', async (t) => {
  const homeFolder = testDirectory(t)
  const [folder, other, link] = ['one', 'two', 'link'].map((name) => join(homeFolder, name))
  assert.ok(folder !== undefined && other !== undefined && link !== undefined)
  for (const each of [folder, other]) await mkdir(each)
  await symlink(folder, link)
  const posted = { folder, name: 'Things', endpoint: 'http://127.0.0.1:9181' }
  const pathOf = (change: Partial<typeof posted> = {}): string =>
    devNotePath({ homeFolder }, { ...posted, ...change })
  const changes = [{}, { folder: other }, { name: 'Others' }, { endpoint: 'http://127.0.0.1:1' }]
  assert.equal(new Set(changes.map(pathOf)).size, 4)
  assert.equal(pathOf({ folder: link }), pathOf())
})
